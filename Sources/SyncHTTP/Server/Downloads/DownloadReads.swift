import Synchronization

/// Bounds how many answers send a device its download at a time. Each holds a connection, also while it waits for what is not
/// made yet.
///
/// A device asks for one piece after the other. Where its connection broke it asks anew, maybe before the server has noticed: so
/// the newest answer is the one that counts, and the oldest makes room.
final class DownloadReads: Sendable {
    /// The most answers of one device at a time.
    static let deviceCountMax = 4

    private struct Read {
        let number: Int64
        let onRemoval: @Sendable () -> Void
    }

    private let state = Mutex<(reads: [Int64: [Read]], lastNumber: Int64)>(([:], 0))

    /// How many answers of a device are being sent.
    func count(of device: Int64) -> Int { state.withLock { $0.reads[device]?.count ?? 0 } }

    /// Begins an answer.
    ///
    /// - parameters:
    ///     - device: Who gets it.
    ///     - onRemoval: Ends the answer when newer ones of the device take its place. It is called at most once.
    /// - returns: What says that the answer is over. It may be called again.
    func begin(for device: Int64, onRemoval: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let (number, oldest) = state.withLock { state -> (Int64, Read?) in
            state.lastNumber += 1
            var reads = state.reads[device] ?? []
            let oldest = reads.count < Self.deviceCountMax ? nil : reads.removeFirst()
            reads.append(Read(number: state.lastNumber, onRemoval: onRemoval))
            state.reads[device] = reads
            return (state.lastNumber, oldest)
        }
        oldest?.onRemoval()
        return { [weak self] in self?.end(number, of: device) }
    }

    private func end(_ number: Int64, of device: Int64) {
        state.withLock { state in
            guard var reads = state.reads[device] else { return }
            reads.removeAll { $0.number == number }
            state.reads[device] = reads.isEmpty ? nil : reads
        }
    }
}
