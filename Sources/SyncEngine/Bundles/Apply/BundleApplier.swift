import CipherStore
import SyncWire

/// Applies a bundle to a store, in the transaction of its caller: all of it,
/// with the vector, the conflicts and the parked rows, or nothing.
///
/// Foreign keys are off while it runs: a peer's cascades come as deletes of
/// their own, and rows may come before their parents. What the tables show of all
/// that came is found out at the end, by ``Settlement``.
final class BundleApplier {
    private enum State {
        /// The header has not come.
        case waiting
        /// The header came, and rows are applied as they come.
        case applying(AppliedRecords)
        /// The header asks for a new identity that the bundle does not fit. Only its end shows whether it is what the
        /// sender wrote, so it is read that far.
        case refused
    }

    private let stores: ApplyingStores
    private let policies: MergePolicies?
    private let muting: Muting
    private var reader: BundleReader
    private var state = State.waiting
    /// The header, once it was read.
    private(set) var header: BundleHeader?

    /// Prepares the application.
    ///
    /// - parameters:
    ///     - store: The store, in which local edits have versions to be merged with.
    ///     - terms: What the sender may bring.
    init(
        _ store: FoldedStore, on terms: UploadTerms = .unbounded, policies: MergePolicies? = nil
    ) throws {
        self.policies = policies
        assert(store.db.isInsideTransaction, "a bundle is applied as a whole or not at all")
        try debugAssert(
            Bool.fetchOne(store.db, sql: "PRAGMA foreign_keys") == false,
            "a row would take its children along")
        stores = try ApplyingStores(store, terms)
        reader = BundleReader(limits: terms.limits)
        muting = try Muting(store.db)
    }

    /// Takes the next frame of the bundle.
    func consume(_ frame: UnsafeRawBufferPointer) throws {
        try reader.consume(
            frame,
            onHeader: { header in
                assert(isWaiting, "a bundle has one header")
                do {
                    let opening = BundleOpening(stores: self.stores, policies: self.policies)
                    self.state = .applying(try opening.open(header) { self.header = $0 })
                } catch is RenewalRequired {
                    self.state = .refused
                }
            },
            onRow: {
                assert(!isWaiting, "a row comes after the header")
                if case .applying(let records) = self.state { try records.apply($0) }
            })
    }

    private var isWaiting: Bool {
        if case .waiting = state { return true }
        return false
    }

    /// Ends the application: everything was there, the vector moves on.
    func finish() throws -> ApplySummary {
        guard reader.isComplete else { throw WireError(.truncated, "the bundle has no end") }
        assert(header != nil, "a bundle ended that was not admitted")
        switch state {
        case .waiting: throw WireError(.truncated, "the bundle has no header")
        case .refused: throw RenewalRequired()
        case .applying(let records): return try records.finish(muting)
        }
    }
}
