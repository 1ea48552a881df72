import Dispatch
import Foundation

/// The reading connections of a pool, and the queue of those who wait for one.
///
/// Waiters are served in order. A barrier waits until no reader is in use, and
/// those who ask later wait until it ends, so that neither readers nor barriers
/// starve.
final class ReaderPool: Sendable {
    /// A permission to read, with a connection if one was open already.
    struct Slot: Sendable {
        var reader: SerializedDatabase?
        /// Connections of older generations are closed when they come back.
        let generation: Int
    }

    private struct Waiter {
        let id: Int
        let isBarrier: Bool
        /// Whether it is one of ``ReaderRounds``, whose reads any other round can do.
        let isRound: Bool
        let start: @Sendable (Slot?) -> Void
    }

    private struct State {
        var idle: [SerializedDatabase] = []
        var inUse: [ObjectIdentifier: SerializedDatabase] = [:]
        var grantedCount = 0
        var isBarrierRunning = false
        /// How many threads wait for the writer while they hold a reader.
        var blockedReaderCount = 0
        var waiters: [Waiter] = []
        var generation = 0
        var nextID = 0
        var isSuspended = false
    }

    private let state: Lock<State>
    private let capacity: Int

    /// Makes a pool whose connections open when they are needed.
    init(capacity: Int) {
        self.capacity = max(1, capacity)
        state = Lock(State())
    }

    /// Makes a pool of connections that are open already.
    init(readers: [SerializedDatabase]) {
        capacity = readers.count
        state = Lock(State(idle: readers))
    }

    // MARK: Asking

    /// Calls a function with a slot, now or when one is free.
    ///
    /// - parameters:
    ///     - isRound: Whether it is for a round of ``ReaderRounds``.
    ///     - start: Called with the slot, or without when the wait was given up.
    /// - returns: A number by which the wait can be given up.
    @discardableResult
    func acquire(isRound: Bool = false, _ start: @escaping @Sendable (Slot?) -> Void) -> Int {
        enqueue(isBarrier: false, isRound: isRound, start)
    }

    /// Waits for a slot.
    func acquire() -> Slot {
        // Who asked before is served before.
        let free = state.withLock { $0.waiters.isEmpty ? grantSlot(&$0) : nil }
        if let free { return free }
        let semaphore = DispatchSemaphore(value: 0)
        let result = Lock<Slot?>(nil)
        acquire { slot in
            result.withLock { $0 = slot }
            semaphore.signal()
        }
        semaphore.wait()
        guard let slot = result.withLock({ $0 }) else {
            fatalError("a wait that nobody gave up ended without a slot")
        }
        return slot
    }

    /// Waits until no reader is in use, and keeps readers away until the barrier ends.
    ///
    /// - returns: Whether there is a barrier now. There is none when a reader is in
    ///   use that waits for the writer itself, which is whom the barrier is for:
    ///   both would wait for ever.
    func beginBarrier() -> Bool {
        let semaphore = DispatchSemaphore(value: 0)
        let result = Lock(false)
        enqueue(isBarrier: true) { slot in
            result.withLock { $0 = slot != nil }
            semaphore.signal()
        }
        semaphore.wait()
        return result.withLock { $0 }
    }

    /// Notes that a thread that holds a reader is about to wait for the writer.
    func beginWaitForWriter() { serve { $0.blockedReaderCount += 1 } }

    /// Notes that the thread waits no longer.
    func endWaitForWriter() { state.withLock { $0.blockedReaderCount -= 1 } }

    /// How many threads wait for the writer while they hold a reader.
    var blockedReaderCount: Int { state.withLock { $0.blockedReaderCount } }

    /// Whether somebody waits for the end of all reads.
    var isBarrierWaiting: Bool { state.withLock { $0.waiters.contains(where: \.isBarrier) } }

    /// Whether readers are being kept away.
    var isBarrierRunning: Bool { state.withLock { $0.isBarrierRunning } }

    func endBarrier() {
        serve { $0.isBarrierRunning = false }
    }

    @discardableResult
    private func enqueue(
        isBarrier: Bool, isRound: Bool = false, _ start: @escaping @Sendable (Slot?) -> Void
    ) -> Int {
        var id = 0
        serve { state in
            id = state.nextID
            state.nextID += 1
            state.waiters.append(Waiter(id: id, isBarrier: isBarrier, isRound: isRound, start: start))
        }
        return id
    }

    /// Ends a wait: if it has not ended yet, its function is called without a slot.
    func giveUp(_ id: Int) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
        }
        waiter?.start(nil)
    }

    /// Changes the state, then starts those whose turn has come.
    private func serve(_ change: (inout State) -> Void) {
        let starts = state.withLock { state in
            change(&state)
            var starts: [@Sendable () -> Void] = []
            if state.blockedReaderCount > 0 {
                for waiter in state.waiters where waiter.isBarrier { starts.append { waiter.start(nil) } }
                state.waiters.removeAll(where: \.isBarrier)
            }
            while let waiter = state.waiters.first, let slot = grant(waiter, &state) {
                state.waiters.removeFirst()
                starts.append { waiter.start(slot) }
            }
            return starts
        }
        for start in starts { start() }
    }

    private func grant(_ waiter: Waiter, _ state: inout State) -> Slot? {
        guard !state.isBarrierRunning else { return nil }
        if waiter.isBarrier {
            guard state.grantedCount == 0 else { return nil }
            state.isBarrierRunning = true
            return Slot(reader: nil, generation: state.generation)
        }
        return grantSlot(&state)
    }

    private func grantSlot(_ state: inout State) -> Slot? {
        guard !state.isBarrierRunning, state.grantedCount < capacity else { return nil }
        state.grantedCount += 1
        let reader = state.idle.popLast()
        if let reader { state.inUse[ObjectIdentifier(reader)] = reader }
        return Slot(reader: reader, generation: state.generation)
    }

    // MARK: Giving back

    /// Notes the connection that was opened for a slot.
    func opened(_ reader: SerializedDatabase) {
        state.withLock { state in
            state.inUse[ObjectIdentifier(reader)] = reader
            if state.isSuspended { reader.suspend() }
        }
    }

    /// Gives a slot back, with its connection when it can be used again.
    func release(_ slot: Slot) {
        serve { state in
            state.grantedCount -= 1
            guard let reader = slot.reader else { return }
            state.inUse[ObjectIdentifier(reader)] = nil
            // A connection that is not kept closes when its last reference goes.
            if slot.generation == state.generation { state.idle.append(reader) }
        }
    }

    /// Whether the round that holds a slot may go on with another read: nobody waits for a reader but other rounds, and
    /// reads that start now may use the connection.
    func mayKeep(_ slot: Slot) -> Bool {
        state.withLock { state in
            state.generation == slot.generation && state.waiters.allSatisfy(\.isRound)
        }
    }

    // MARK: All readers

    /// Forgets all connections, so that reads that start from now on open new ones.
    func invalidate() {
        let old = state.withLock { state in
            state.generation += 1
            defer { state.idle = [] }
            return state.idle
        }
        withExtendedLifetime(old) {}
    }

    /// Closes the connections that nobody uses. Within a barrier, that is all of them.
    ///
    /// The block that has used a connection last may still be letting go of it.
    func closeReaders() {
        final class WeakReader {
            weak var reader: SerializedDatabase?
            init(_ reader: SerializedDatabase) { self.reader = reader }
        }
        let closing = state.withLock { state in
            state.generation += 1
            defer { state.idle = [] }
            return state.idle.map(WeakReader.init)
        }
        for _ in 0..<1000 where closing.contains(where: { $0.reader != nil }) { usleep(1000) }
    }

    /// The open connections.
    var readers: [SerializedDatabase] {
        state.withLock { $0.idle + $0.inUse.values }
    }

    /// The connection of the pool that the current thread holds.
    var heldReader: SerializedDatabase? {
        SerializedDatabase.isInAccess ? readers.first { $0.isHeld } : nil
    }

    func setSuspended(_ isSuspended: Bool) {
        // Under the lock: a reader that opens meanwhile must not miss it.
        state.withLock { state in
            state.isSuspended = isSuspended
            for reader in state.idle + state.inUse.values {
                isSuspended ? reader.suspend() : reader.resume()
            }
        }
    }
}
