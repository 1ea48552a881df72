import Synchronization

/// Bounds the bytes of requests that are being read or worked on, of one device and of all: until a body is there as a
/// whole, nobody knows whether its device signed it.
final class BodyBudget: Sendable {
    /// Two of the longest requests, and some short ones.
    static let deviceByteCountMax = 40 << 20
    static let byteCountMax = 512 << 20

    private let state = Mutex<(total: Int, devices: [[UInt8]: Int])>((0, [:]))

    /// How many bytes are being held.
    var byteCount: Int { state.withLock { $0.total } }

    /// Counts bytes that came in.
    ///
    /// - throws: ``RemoteError`` of code `busy`; nothing is counted then.
    func take(_ count: Int, of device: [UInt8]) throws {
        try state.withLock { state in
            let held = state.devices[device] ?? 0
            guard held + count <= Self.deviceByteCountMax else {
                throw RemoteError(.busy, "this device sends too many large requests at a time")
            }
            guard state.total + count <= Self.byteCountMax else {
                throw RemoteError(
                    .busy, "too many large requests are being sent at a time; try again in a moment")
            }
            state.devices[device] = held + count
            state.total += count
        }
    }

    /// Gives back what was counted.
    func release(_ count: Int, of device: [UInt8]) {
        guard count > 0 else { return }
        state.withLock { state in
            state.total -= count
            let held = (state.devices[device] ?? 0) - count
            state.devices[device] = held > 0 ? held : nil
        }
    }
}

/// The bytes of one request's body that a budget counts, until the request is answered: what is made of a body takes
/// memory as well.
final class HeldBody: Sendable {
    private let budget: BodyBudget
    private let parts = Mutex<[(count: Int, device: [UInt8])]>([])

    init(_ budget: BodyBudget) { self.budget = budget }

    /// Counts bytes that came in.
    ///
    /// - throws: As the budget.
    func take(_ count: Int, of device: [UInt8]) throws {
        try budget.take(count, of: device)
        parts.withLock { $0.append((count, device)) }
    }

    /// Gives back all of them.
    func release() {
        let held = parts.withLock { parts in
            defer { parts = [] }
            return parts
        }
        for part in held { budget.release(part.count, of: part.device) }
    }
}
