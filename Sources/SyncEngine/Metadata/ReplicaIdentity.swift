import CipherStore
import SyncWire

/// Gives a store a new replica id.
///
/// Two files with one replica id lose changes: each hides the other's behind
/// its own numbers. A new id costs nothing, so it is made whenever there is doubt.
enum ReplicaIdentity {
    /// Makes a clone, that is a copy of another replica's file, a replica of its own.
    ///
    /// What the original had written stays the original's; log entries that it
    /// had not folded become the clone's, and merge as equal values.
    static func mintForClone(_ db: Database, _ environment: SyncEnvironment) throws {
        let folded = try StoreMetadata.require(db).folded
        try addReplica(db, environment)
        // The history is the original's. Its last entry stays as a mark, because
        // it numbers the next one.
        try db.execute(sql: "DELETE FROM _sync_peer")
        try db.execute(sql: "DELETE FROM _sync_log WHERE seq < ?", arguments: [folded])
        try db.execute(
            sql: "UPDATE _sync_log SET tbl = 0, op = 0, pk = x'', mask = 0 WHERE seq = ?", arguments: [folded]
        )
    }

    /// Makes a file that was restored from an older copy a replica of its own.
    ///
    /// A peer knows changes of this replica's id that the file does not hold.
    /// Changes that were made after the restore carry numbers that the peer
    /// already counts as known, and nobody can tell which they are: so all
    /// changes move to the new id, with their times, and the old id starts
    /// again at zero, which brings the lost changes back from the peer.
    static func mintAfterRestore(_ db: Database, _ environment: SyncEnvironment) throws {
        let metadata = try StoreMetadata.require(db)
        let old = metadata.selfNumber
        let new = try addReplica(db, environment)
        try db.execute(sql: "UPDATE _sync_row SET sid = ? WHERE sid = ?", arguments: [new, old])
        try db.execute(sql: "UPDATE _sync_cell SET sid = ? WHERE sid = ?", arguments: [new, old])
        try db.execute(
            sql: "UPDATE _sync_replica SET oseq = ? WHERE sid = ?", arguments: [metadata.folded, new])
        try db.execute(sql: "UPDATE _sync_replica SET oseq = 0 WHERE sid = ?", arguments: [old])
    }

    @discardableResult
    private static func addReplica(_ db: Database, _ environment: SyncEnvironment) throws -> Int64 {
        let id = environment.identifier()
        try db.execute(sql: "INSERT INTO _sync_replica (rid) VALUES (?)", arguments: [id.data])
        let number = db.lastInsertedRowID
        try db.execute(sql: "UPDATE _sync_state SET self = ?", arguments: [number])
        return number
    }
}
