import HummingbirdCore
import Synchronization

/// Bounds the connections that are open at a time, and counts them. Others wait until one ends.
final class RelayConnections: AvailableConnectionsDelegate {
    let countMax: Int
    private let number = Atomic(0)

    init(countMax: Int) { self.countMax = countMax }

    /// How many there are.
    var count: Int { number.load(ordering: .relaxed) }

    func connectionOpened() { number.add(1, ordering: .relaxed) }

    func connectionClosed() { number.subtract(1, ordering: .relaxed) }

    func isAcceptingNewConnections() -> Bool { count < countMax }
}
