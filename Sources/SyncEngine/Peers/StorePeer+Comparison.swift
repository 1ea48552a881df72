import CipherStore
import SyncWire

/// What a replica says of what it holds, each from one snapshot.
extension StorePeer {
    /// The same as ``state(_:)`` for a device.
    ///
    /// - parameter bounds: Says in the snapshot that is told of what the device may hear; nil for everything. It may
    ///   throw.
    func state(
        _ kind: StateKind, within bounds: (Database) throws -> AccessBounds?
    ) throws -> ReplicaState? {
        func restricted(_ state: ReplicaState?, _ db: Database) throws -> ReplicaState? {
            guard let bounds = try bounds(db) else { return state }
            return try state.map(DeviceAccess(db, bounds).restricted)
        }
        // After an exchange the sums are up to date, as a rule, and nobody has to wait for a reader.
        if kind == .kept,
            let state = try database.read({ try restricted(reader($0)?.currentState(), $0) })
        {
            return state
        }
        return try database.write { db in
            guard kind == .recomputed else {
                return try restricted(reader(db)?.state(isComplete: false), db)
            }
            let store = try FoldedStore.refresh(db, environment)
            try DigestLedger.invalidate(db)
            return try restricted(StateReader(store: store).state(isComplete: true), db)
        }
    }

    /// The same as ``answer(_:)`` for a device.
    ///
    /// - parameter bounds: As above.
    func answer(
        _ question: StateQuestion, within bounds: (Database) throws -> AccessBounds?
    ) throws -> StateAnswer {
        try database.read { db in
            let number = try Self.resolver(db, within: bounds)(question.table)
            guard let reader = try reader(db) else { throw SyncError.changedMeanwhile }
            return try reader.answer(question, ofTable: number)
        }
    }

    /// What finds the number of a table of which all rows are asked for, by its names; nil of one that is not known here.
    /// Whether a device may have it, and which table is read, is one decision.
    static func resolver(
        _ db: Database, within bounds: (Database) throws -> AccessBounds?
    ) throws -> ([String]) throws -> Int64? {
        if let bounds = try bounds(db) { return try DeviceAccess(db, bounds).requireAllRows }
        return try TableNames(db).number
    }

    /// What answers for a store in which nothing waits to be folded; nil when something does.
    private func reader(_ db: Database) throws -> StateReader? {
        try FoldedStore.ifFolded(db, environment).map(StateReader.init)
    }
}
