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

    /// Remembers what a device asks for.
    func noteOffer(_ request: TransferRequest, to device: Device) throws {
        guard request.tables != nil || !request.rows.isEmpty || !request.leftOut.isEmpty else { return }
        let reach = try synchronizer.foldedReach()
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
