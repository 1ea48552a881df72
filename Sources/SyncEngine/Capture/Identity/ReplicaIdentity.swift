import CipherStore
import SyncWire

/// Gives a store a new replica id.
///
/// Two files with one replica id lose changes: each hides the other's behind
/// its own numbers. A new id costs little, so it is made whenever there is doubt.
enum ReplicaIdentity {
    /// Makes a clone, that is a copy of another replica's file, a replica of its own.
    ///
    /// What the original had written stays the original's. Log entries that it
    /// had not folded, which only a foreign copy has, become the clone's, and merge as equal values.
    static func mintForClone(_ db: Database, _ environment: SyncEnvironment) throws {
        try MetadataSchema.upgrade(db)
        try mintForCopy(db, environment)
        try PeerRegister(db: db).removeAll()
        try RemoteSchema.forget(db)
        try StoreFence.forget(db)
    }

    /// Makes a file that turned out to be a copy a replica of its own. What it holds under
    /// versions is the original's; what the log holds beyond that may be the copy's.
    static func mintForCopy(_ db: Database, _ environment: SyncEnvironment) throws {
        let metadata = try StoreMetadata.require(db)
        // The original knew at least what its copy knows.
        try ReplicaRegister(db: db).note(
            metadata.vector, of: metadata.replicaID(), at: environment.milliseconds())
        try PartialTable.beginIdentity(db, after: metadata)
        try OriginalValues.removeStale(db)
        try addReplica(db, environment)
        try debugAssert(
            StoreMetadata.require(db).replicaID() != metadata.replicaID(), "two files have one identity")
        try ChangeLog(db).beginAnew(after: metadata.folded)
    }

    /// Gives a replica a new id, and makes changes its own that two files made under one id.
    ///
    /// Such changes carry numbers that others count as known, and nobody can tell whose they
    /// are: so those beyond the last common one move to the new id, and the old id goes back to
    /// the common one. That brings what the other file wrote.
    ///
    /// What moves counts as written just after it was, because the order of writes of one moment
    /// depends on the id: whatever it replaced it replaces everywhere.
    ///
    /// It takes a new id even when the fork is another replica's, because others know what the
    /// old one knew. The log must be folded.
    ///
    /// - parameter forks: The ids and their last common changes.
    static func renew(_ db: Database, _ environment: SyncEnvironment, _ forks: [Fork]) throws {
        assert(db.isInsideTransaction, "an identity that is half renewed is two")
        let metadata = try StoreMetadata.require(db)
        let register = ReplicaRegister(db: db)
        let old = try metadata.replicaID()
        let now = environment.milliseconds()
        guard !forks.isEmpty else {
            try mintForCopy(db, environment)
            return try register.retire(old, at: now, .renewed)
        }
        try PartialTable.beginIdentity(db, after: metadata)
        let new = try addReplica(db, environment)
        assert(new != metadata.selfNumber)
        // One number for all that moves: a mark in the log takes it.
        let number = try ChangeLog(db).appendMark(at: now)
        try StoreMetadata.advance(db, folded: number)
        let coverage = try Coverage.load(db, metadata)
        let floors = [coverage.whole.floor] + coverage.parts.values.map(\.floor)
        let hasForgotten = forks.contains { fork in floors.contains { $0[fork.replica] > fork.common } }
        let shares = ShareRenewal(
            db: db, replica: try StoreMetadata.require(db).replicaID(), sid: new, sequence: number)
        for fork in forks {
            let sid = try register.number(of: fork.replica, at: now)
            try shares.move(fork, number: sid)
            try move(db, fork, of: sid, to: new, as: number)
        }
        try VersionTable.raiseCells(db, aboveRowsOf: new, as: number)
        try OriginalValues.followVersions(db)
        try register.setSequence(number, of: new)
        try Coverage.normalize(db)
        var hash = ChainHash(after: try StoreMetadata.require(db).replicaID())
        hash.add(number)
        try ReplicaChain(db: db).insert(
            ChainPoint(sequence: number, previous: 0, hash: hash.value), of: new)
        // Deletions moved too that were forgotten: whoever does not know the new id has to get all rows.
        if hasForgotten {
            let renewed = try StoreMetadata.require(db)
            let floor = VersionVector([try renewed.replicaID(): number])
            try Tombstones(db: db).raiseFloor(to: floor, renewed)
        }
        try ChangeLog(db).beginAnew(after: number)
        // An id that another file may use as well is still waited for.
        if !forks.contains(where: { $0.replica == old }) { try register.retire(old, at: now, .renewed) }
    }

    /// Moves the changes of a replica beyond the last common one to a new id.
    private static func move(
        _ db: Database, _ fork: Fork, of sid: Int64, to new: Int64, as number: Int64
    ) throws {
        try VersionTable.move(db, from: sid, after: fork.common, to: new, as: number)
        try ReplicaRegister(db: db).setBack(sid, to: fork.common)
        try Tombstones(db: db).setBackFloor(of: sid, to: fork.common)
        try Coverage.setBack(db, sid, to: fork.common)
        try PartialTable.forget(db, changesOf: sid, after: fork.common)
        try ReplicaChain(db: db).cut(sid, after: fork.common)
    }

    @discardableResult
    private static func addReplica(_ db: Database, _ environment: SyncEnvironment) throws -> Int64 {
        let number = try ReplicaRegister(db: db).add(environment.identifier())
        try StoreMetadata.setSelf(db, number)
        return number
    }
}
