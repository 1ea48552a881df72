import Synchronization

/// Bounds the bytes of requests, or of answers, that are in memory, of one address and of all.
final class HeldBytes: Sendable {
    private struct Counts {
        let countMax: Int
        let addressCountMax: Int
        var total = 0
        var addresses: [String: Int] = [:]

        /// - parameter own: How many the same request holds already.
        func room(for count: Int, of address: String, besides own: Int = 0) -> HeldBytesQueue.Room {
            // Somebody who is alone gets through, whatever the bounds are.
            if total == own { return .free }
            if (addresses[address] ?? 0) + count > addressCountMax { return .addressIsFull }
            return total + count > countMax ? .allIsFull : .free
        }

        mutating func add(_ count: Int, of address: String) {
            total += count
            let held = (addresses[address] ?? 0) + count
            addresses[address] = held > 0 ? held : nil
        }
    }

    private struct State {
        var counts: Counts
        var queue = HeldBytesQueue()

        /// Counts the bytes of those whose turn it is.
        mutating func takeTurns() -> [CheckedContinuation<Void, any Error>] {
            var turns: [CheckedContinuation<Void, any Error>] = []
            while let next = nextInTurn() {
                counts.add(next.waiter.count, of: next.address)
                turns.append(next.waiter.turn)
            }
            return turns
        }

        private mutating func nextInTurn() -> (waiter: HeldBytesQueue.Waiter, address: String)? {
            let counts = counts
            return queue.next { counts.room(for: $0, of: $1) }
        }
    }

    private let message: String
    private let state: Mutex<State>

    /// - parameters:
    ///     - countMax: The most bytes of all addresses.
    ///     - addressCountMax: The most bytes of one.
    ///     - message: What is said when there is no room.
    init(
        countMax: Int, addressCountMax: Int,
        _ message: String = "too much is being sent at a time; try again in a moment"
    ) {
        let counts = Counts(countMax: countMax, addressCountMax: addressCountMax)
        state = Mutex(State(counts: counts))
        self.message = message
    }

    /// How many there are.
    var count: Int { state.withLock { $0.counts.total } }

    /// How many wait for room.
    var waitingCount: Int { state.withLock { $0.queue.count } }

    /// Counts the bytes of a request while something is done with them. It holds none at first.
    ///
    /// - throws: What the body throws.
    func hold<Value: Sendable>(
        of address: String, _ body: (HeldRequest) async throws -> Value
    ) async throws -> Value {
        let request = begin(of: address)
        defer { request.lower(to: 0) }
        return try await body(request)
    }

    /// Counts bytes until they are lowered to none, or what counts them is gone. It holds none at first.
    func begin(of address: String) -> HeldRequest { HeldRequest(self, address) }

    /// - parameter own: How many the same request holds already.
    fileprivate func take(_ count: Int, of address: String, besides own: Int) throws {
        try state.withLock { state in
            guard state.counts.room(for: count, of: address, besides: own) == .free else { throw noRoom }
            state.counts.add(count, of: address)
        }
    }

    /// Counts the bytes of one who holds none, when it is its turn.
    fileprivate func takeTurn(_ id: ObjectIdentifier, for count: Int, of address: String) async throws {
        try await withCheckedThrowingContinuation { (turn: CheckedContinuation<Void, any Error>) in
            let isFree = state.withLock { state in
                // Those of the address who came before go first.
                guard state.queue.isEmpty(for: address),
                    state.counts.room(for: count, of: address) == .free
                else {
                    state.queue.append(.init(id: id, count: count, turn: turn), of: address)
                    return false
                }
                state.counts.add(count, of: address)
                return true
            }
            if isFree { turn.resume() }
        }
    }

    /// Ends the wait of one whose turn it was not yet. There may be room already for those who came after it.
    fileprivate func giveUp(_ id: ObjectIdentifier, of address: String) {
        let (waiter, turns) = state.withLock { state in
            (state.queue.remove(id, of: address), state.takeTurns())
        }
        waiter?.turn.resume(throwing: noRoom)
        for turn in turns { turn.resume() }
    }

    fileprivate func release(_ count: Int, of address: String) {
        let turns = state.withLock { state in
            state.counts.add(-count, of: address)
            return state.takeTurns()
        }
        for turn in turns { turn.resume() }
    }

    private var noRoom: RelayProblem { RelayProblem(.busy, message, status: 503) }
}

/// The bytes of one request, or of its answer, that are in memory.
///
/// They are counted as they come, and not when they are announced: who announces much and sends nothing is in nobody's way.
final class HeldRequest: Sendable {
    private let all: HeldBytes
    private let address: String
    private let count = Mutex(0)

    fileprivate init(_ all: HeldBytes, _ address: String) {
        self.all = all
        self.address = address
    }

    /// An answer whose client is gone before its body began is dropped without a word.
    deinit { lower(to: 0) }

    /// Counts that there are at least so many.
    ///
    /// - throws: ``RelayProblem`` of code `busy`; as many are counted as before.
    func raise(to limit: Int) throws {
        try count.withLock { count in
            guard limit > count else { return }
            try all.take(limit - count, of: address, besides: count)
            count = limit
        }
    }

    /// Counts so many as soon as there is room for them. Until then none are counted, so that nobody waits for one who waits.
    ///
    /// - throws: ``RelayProblem`` of code `busy` after ``giveUp()``; none are counted then.
    func takeTurn(for limit: Int) async throws {
        lower(to: 0)
        guard limit > 0 else { return }
        try await all.takeTurn(ObjectIdentifier(self), for: limit, of: address)
        count.withLock { $0 = limit }
    }

    /// Ends ``takeTurn(for:)`` when it waits.
    func giveUp() { all.giveUp(ObjectIdentifier(self), of: address) }

    /// Counts that there are at most so many.
    func lower(to limit: Int) {
        count.withLock { count in
            guard limit < count else { return }
            all.release(count - limit, of: address)
            count = limit
        }
    }
}
