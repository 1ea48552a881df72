import Crypto
import SyncEngine
import SyncWire
import Synchronization

/// The bundles that were begun lately for devices that may have everything: a device that was shown the same, and asks for the
/// same, gets the same bundle, which is made once for all of them.
///
/// It is an answer that might as well have been long on its way. What the server shows in its greeting is in it, so that the device
/// learns no less than it was told there is. A bundle that no device holds any more is gone, and is made again.
final class SharedMakings: Sendable {
    /// How many bundles are remembered at a time.
    static let countMax = 8
    /// How long after its beginning a bundle is given to others. Devices that are woken by the same change ask within this time.
    static let milliseconds: Int64 = 10_000

    /// What devices have in common that can share a bundle.
    struct Question: Equatable {
        /// What the server showed that it knows, see ``SharedMakings/mark(of:)``.
        let shown: [UInt8]
        /// The request itself may take a hundred megabytes, and nobody counts them once it is answered: see ``SharedMakings/digest(of:)``.
        let request: [UInt8]
        let isCompressed: Bool
    }

    private struct Entry {
        let question: Question
        weak var spool: ByteSpool?
        let rows: HubStore.RowCounts
        let reach: VersionVector?
        let begun: Int64

        /// A clock that was put back makes no bundle younger.
        func isShared(at now: Int64) -> Bool {
            let (age, overflow) = now.subtractingReportingOverflow(begun)
            return spool != nil && !overflow && (0..<SharedMakings.milliseconds).contains(age)
        }
    }

    private let entries = Mutex<[Entry]>([])

    /// What stands for all changes that a greeting shows.
    ///
    /// - returns: nil where it knows more of some tables than of others, which is seldom and much to compare.
    static func mark(of greeting: Greeting) -> [UInt8]? {
        guard greeting.facts.parts.isEmpty, greeting.facts.partials.isEmpty else { return nil }
        var hash = SHA256()
        // After a renewal, the new identity knows what the former one knew.
        hash.update(data: greeting.replica.bytes)
        let entries = greeting.vector.sequences.map { ($0.key.bytes, $0.value) }
        for (replica, sequence) in entries.sorted(by: { $0.0.lexicographicallyPrecedes($1.0) }) {
            hash.update(data: replica)
            withUnsafeBytes(of: sequence.bigEndian) { hash.update(bufferPointer: $0) }
        }
        return Array(hash.finalize())
    }

    /// What stands for a request.
    ///
    /// - parameter body: The request as it came.
    static func digest(of body: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: body)) }

    /// The bundle that answers a question, for one more device.
    ///
    /// - parameters:
    ///     - share: What the device takes.
    ///     - now: The time, in milliseconds since 1970.
    /// - returns: nil when it has to be made.
    func join(_ question: Question, _ share: DownloadBudget.Share, now: Int64) -> HubStore.Making? {
        entries.withLock { entries in
            entries.removeAll { !$0.isShared(at: now) }
            for entry in entries where entry.question == question {
                guard let spool = entry.spool, spool.join(share) else { continue }
                return HubStore.Making(
                    spool: spool, rows: entry.rows, reach: entry.reach)
            }
            return nil
        }
    }

    /// Remembers a bundle that was begun.
    func remember(_ making: HubStore.Making, for question: Question, now: Int64) {
        entries.withLock { entries in
            entries.removeAll { !$0.isShared(at: now) || $0.question == question }
            if entries.count >= Self.countMax { entries.removeFirst() }
            entries.append(
                Entry(
                    question: question, spool: making.spool, rows: making.rows, reach: making.reach,
                    begun: now))
        }
    }
}
