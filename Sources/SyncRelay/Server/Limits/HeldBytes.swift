import Synchronization

/// Bounds the bytes of requests that are in memory, of one address and of all.
final class HeldBytes: Sendable {
    private let countMax: Int
    private let addressCountMax: Int
    private let state = Mutex<(total: Int, addresses: [String: Int])>((0, [:]))

    init(countMax: Int, addressCountMax: Int) {
        self.countMax = countMax
        self.addressCountMax = addressCountMax
    }

    /// How many there are.
    var count: Int { state.withLock { $0.total } }

    /// Counts bytes while something is done with them.
    ///
    /// - throws: ``RelayProblem`` of code `busy`; what the body throws.
    func hold<Value: Sendable>(
        _ count: Int, of address: String, _ body: () async throws -> Value
    ) async throws -> Value {
        try take(count, of: address)
        defer { release(count, of: address) }
        return try await body()
    }

    private func take(_ count: Int, of address: String) throws {
        try state.withLock { state in
            let held = state.addresses[address] ?? 0
            // Somebody who is alone gets through, whatever the bounds are.
            let isInBounds = held + count <= addressCountMax && state.total + count <= countMax
            guard isInBounds || state.total == 0 else {
                throw RelayProblem(
                    .busy, "too much is being sent at a time; try again in a moment", status: 503)
            }
            state.addresses[address] = held + count
            state.total += count
        }
    }

    private func release(_ count: Int, of address: String) {
        state.withLock { state in
            state.total -= count
            let held = (state.addresses[address] ?? 0) - count
            state.addresses[address] = held > 0 ? held : nil
        }
    }
}
