import CipherStore
import SyncWire

/// A new id for a replica whose changes another file made too.
extension ReplicaIdentity {
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
    /// old one knew.
    ///
    /// - parameters:
    ///     - store: The replica, in the open transaction.
    ///     - forks: The ids and their last common changes.
    static func renew(_ store: FoldedStore, _ forks: [Fork]) throws {
        let (db, environment) = (store.db, store.environment)
        assert(db.isInsideTransaction, "an identity that is half renewed is two")
        let metadata = try store.currentMetadata()
        let register = ReplicaRegister(db: db)
        let old = try metadata.replicaID()
        let now = environment.milliseconds()
        guard !forks.isEmpty else {
            try mintForCopy(db, environment)
            return try register.retire(old, at: now, .renewed)
        }
        try PartialTable.beginIdentity(db, after: metadata)
        // What moves gets other versions, and by those nobody could tell any more that an original has been replaced.
        try OriginalValues.removeStale(db)
        let new = try addReplica(db, environment)
        assert(new != metadata.selfNumber)
        // One number for all that moves: a mark in the log takes it.
        let number = try ChangeLog(db).appendMark(at: now)
        try StoreMetadata.advance(db, folded: number)
        let coverage = try Coverage.load(db, metadata)
        let floors = [coverage.whole.floor] + coverage.parts.values.map(\.floor)
        let hasForgotten = forks.contains { fork in floors.contains { $0[fork.replica] > fork.common } }
        let shares = ShareRenewal(
            db: db, replica: try store.currentMetadata().replicaID(), sid: new, sequence: number)
        for fork in forks {
            let sid = try register.number(of: fork.replica, at: now)
            try shares.move(fork, number: sid)
            try move(db, fork, of: sid, to: new, as: number)
        }
        try VersionTable.raiseCells(db, aboveRowsOf: new, as: number)
        // What is written next is newer than what moved.
        try StoreMetadata.raiseClock(
            db, to: VersionTable.newestTimestamp(db, of: new, after: 0, upTo: environment.adoptionBound))
        try OriginalValues.followVersions(db)
        try register.setSequence(number, of: new)
        try keepBack(db, rowsOf: new, as: number)
        try Coverage.normalize(db)
        var hash = ChainHash(after: try store.currentMetadata().replicaID())
        hash.add(number)
        try ReplicaChain(db: db).insert(
            ChainPoint(sequence: number, previous: 0, hash: hash.value), of: new)
        // Deletions moved too that were forgotten: whoever does not know the new id has to get all rows.
        if hasForgotten {
            let renewed = try store.currentMetadata()
            let floor = VersionVector([try renewed.replicaID(): number])
            try Tombstones(db: db).raiseFloor(to: floor, renewed)
        }
        try ChangeLog(db).beginAnew(after: number)
        // An id that another file may use as well is still waited for.
        if !forks.contains(where: { $0.replica == old }) { try register.retire(old, at: now, .renewed) }
    }

    /// Keeps rows back that moved without values which they have lost: others may still have these under the old id.
    private static func keepBack(_ db: Database, rowsOf new: Int64, as number: Int64) throws {
        let metadata = try StoreMetadata.require(db)
        let replica = try metadata.replicaID()
        for partial in try PartialTable.loadAll(db, metadata).values {
            let columns = try LostColumns.numbers(db, of: partial.number).sorted()
            guard !columns.isEmpty else { continue }
            let lost = try LostColumns.lastWrites(
                db, of: columns, in: partial.number, own: new, upTo: number)
            guard lost.contains(where: { $0.sid == new }) else { continue }
            try partial.raise(db, dropped: VersionVector([replica: number]))
        }
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
        try TableTracking.setBackKnownChanges(db, of: sid, to: fork.common)
        try ReplicaChain(db: db).cut(sid, after: fork.common)
    }
}
