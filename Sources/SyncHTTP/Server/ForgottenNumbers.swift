import Synchronization

/// The numbers of devices that a server forgot, none of which another device gets while it runs: what it remembers by number,
/// and what is still being done for the former one, is not the next one's.
final class ForgottenNumbers: Sendable {
    private let greatest = Mutex<Int64>(0)

    /// The greatest number that was given to a device which is forgotten.
    var last: Int64 { greatest.withLock { $0 } }

    /// Notes that a device is forgotten.
    func note(_ number: Int64) { greatest.withLock { $0 = max($0, number) } }
}
