import SyncEngine
import SyncWire

/// How far devices have come that exchange a part of the database. Their vector, which stands for all of it, does not say;
/// they tell it when they greet the next time.
extension HubStore {
    /// What is remembered of that until the server ends, by device.
    struct Parts {
        /// What a device will have when it has taken what it asked for.
        var offered: [Int64: VersionVector] = [:]
        /// What it has.
        var taken: [Int64: VersionVector] = [:]
    }

    /// How far the store has come, which is how far a device will have come that gets what it asks for now.
    ///
    /// - returns: nil for a device that says so itself.
    func offeredReach(_ request: TransferRequest) throws -> VersionVector? {
        guard request.tables != nil || !request.rows.isEmpty || !request.leftOut.isEmpty else { return nil }
        return try synchronizer.foldedReach()
    }

    /// Remembers what a device gets: not more than there was when it was begun, maybe for another device.
    func noteOffer(of making: Making, to device: Device) {
        guard let reach = making.reach else { return }
        state.withLock { $0.parts.offered[device.id] = reach }
    }

    /// Remembers that a device took what it had asked for.
    func noteTaken(by device: Device) {
        state.withLock { state in
            guard let offer = state.parts.offered.removeValue(forKey: device.id) else { return }
            state.parts.taken[device.id, default: VersionVector()].join(offer)
        }
    }

    /// What devices have of the parts that they exchange.
    var takenParts: [Int64: VersionVector] { state.withLock { $0.parts.taken } }
}
