import SyncRelay
import Synchronization

/// Removes the blocks of bodies that nobody sees any more, by small transactions between those of others.
///
/// Several relays may do it at once. Each removes more than it writes meanwhile, so that what clients give up doesn't fill
/// the disk. Where the database is too slow for that, they are told to come again.
final class BlockCleaner: Sendable {
    /// How many bytes this relay may write more than it removes while there is something to be removed: 1 GiB.
    static let aheadByteCountMax: Int64 = 1 << 30

    private let pool: PostgresPool
    private let state = Mutex(CleaningState())

    init(_ pool: PostgresPool) { self.pool = pool }

    /// Says that there may be something to do.
    func wake() {
        let starts = state.withLock { state in
            state.isAsked = true
            return state.begin()
        }
        if starts { next() }
    }

    /// Whether nothing is being done, and nothing is to be done that this relay knows of.
    var isIdle: Bool { state.withLock { !$0.isRunning } }

    /// Says that this relay has written bytes.
    func noteWritten(_ byteCount: Int64) {
        let starts = state.withLock { state in
            state.note(byteCount)
            // What failed, or was in the hands of others, is tried again when enough has come.
            return state.hasRest && state.newByteCount >= BlockRemoval.byteCounts.lowerBound && state.begin()
        }
        if starts { next() }
    }

    /// Refuses what is to be written while this relay has removed too little.
    ///
    /// - throws: ``RelayProblem`` of code `busy`.
    func requireRoom() throws {
        guard state.withLock({ $0.aheadByteCount > Self.aheadByteCountMax }) else { return }
        wake()
        throw RelayProblem(
            .busy, "the relay still removes what was given up or replaced; try again later", status: 503,
            retrySeconds: 5)
    }

    private func next() {
        let (body, byteCount) = state.withLock { $0.beginSlice() }
        // Behind all clients, it would come too late: each of them may write while it waits.
        pool.submit(until: pool.deadline, isUrgent: true) { [weak self] session in
            self?.end(try? BlockRemoval.run(session, after: body, byteCount: byteCount))
        } onFailure: { [weak self] _ in
            self?.end(nil)
        }
    }

    private func end(_ removal: BlockRemoval?) {
        if state.withLock({ $0.endSlice(removal) }) { next() }
    }
}
