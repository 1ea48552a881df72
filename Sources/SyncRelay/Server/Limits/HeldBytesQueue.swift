/// Those who wait until there is room for their bytes.
///
/// Addresses have their turns one after the other, and of one address whoever came first: an address for which many wait, or which
/// has as much as it may, keeps no other one waiting.
struct HeldBytesQueue {
    /// Somebody who waits.
    struct Waiter {
        let id: ObjectIdentifier
        let count: Int
        let turn: CheckedContinuation<Void, any Error>
    }

    /// Whether there is room for bytes.
    enum Room {
        case free
        /// The address has as many as it may.
        case addressIsFull
        /// All together have as many as they may.
        case allIsFull
    }

    private var waiters: [String: [Waiter]] = [:]
    /// The addresses for which somebody waits, in the order of their turns.
    private var addresses: [String] = []

    /// How many wait.
    var count: Int { waiters.values.reduce(0) { $0 + $1.count } }

    /// Whether nobody of an address waits.
    func isEmpty(for address: String) -> Bool { waiters[address] == nil }

    mutating func append(_ waiter: Waiter, of address: String) {
        if waiters[address] == nil { addresses.append(address) }
        waiters[address, default: []].append(waiter)
    }

    /// Takes out whose turn it is; nil when there is no room for anybody.
    ///
    /// - parameter room: Whether there is room for so many bytes of an address.
    mutating func next(_ room: (Int, String) -> Room) -> (waiter: Waiter, address: String)? {
        for (index, address) in addresses.enumerated() {
            guard let waiter = waiters[address]?.first else { continue }
            switch room(waiter.count, address) {
            case .free:
                addresses.remove(at: index)
                waiters[address]?.removeFirst()
                forgetIfEmpty(address)
                if waiters[address] != nil { addresses.append(address) }
                return (waiter, address)
            case .addressIsFull: continue
            // Nobody passes who needs less: others would wait for ever.
            case .allIsFull: return nil
            }
        }
        return nil
    }

    /// Takes out one who doesn't wait any more; nil when it has had its turn.
    mutating func remove(_ id: ObjectIdentifier, of address: String) -> Waiter? {
        guard let index = waiters[address]?.firstIndex(where: { $0.id == id }) else { return nil }
        let waiter = waiters[address]?.remove(at: index)
        forgetIfEmpty(address)
        if waiters[address] == nil { addresses.removeAll { $0 == address } }
        return waiter
    }

    private mutating func forgetIfEmpty(_ address: String) {
        if waiters[address]?.isEmpty == true { waiters[address] = nil }
    }
}
