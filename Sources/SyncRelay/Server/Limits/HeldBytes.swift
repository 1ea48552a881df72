import Synchronization

/// Bounds the bytes of requests, or of answers, that are in memory, of one address and of all.
final class HeldBytes: Sendable {
    private let countMax: Int
    private let addressCountMax: Int
    private let message: String
    private let state = Mutex<(total: Int, addresses: [String: Int])>((0, [:]))

    /// - parameters:
    ///     - countMax: The most bytes of all addresses.
    ///     - addressCountMax: The most bytes of one.
    ///     - message: What is said when there is no room.
    init(
        countMax: Int, addressCountMax: Int,
        _ message: String = "too much is being sent at a time; try again in a moment"
    ) {
        self.countMax = countMax
        self.addressCountMax = addressCountMax
        self.message = message
    }

    /// How many there are.
    var count: Int { state.withLock { $0.total } }

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
            let held = state.addresses[address] ?? 0
            // Somebody who is alone gets through, whatever the bounds are.
            let isInBounds = held + count <= addressCountMax && state.total + count <= countMax
            guard isInBounds || state.total == own else {
                throw RelayProblem(.busy, message, status: 503)
            }
            state.addresses[address] = held + count
            state.total += count
        }
    }

    fileprivate func release(_ count: Int, of address: String) {
        state.withLock { state in
            state.total -= count
            let held = (state.addresses[address] ?? 0) - count
            state.addresses[address] = held > 0 ? held : nil
        }
    }
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

    /// Counts that there are at most so many.
    func lower(to limit: Int) {
        count.withLock { count in
            guard limit < count else { return }
            all.release(count - limit, of: address)
            count = limit
        }
    }
}
