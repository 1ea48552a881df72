import CipherStore
import SyncWire

/// The replicas that this one was synchronized with: how each was reached last, when, and up to which change of this
/// replica it has all. Nothing else writes `_sync_peer`.
struct PeerRegister {
    let db: Database

    /// Notes that a replica was reached.
    ///
    /// - parameters:
    ///     - name: What it is called here; what it was called before if that is empty.
    ///     - sequence: The last change of this replica that it knows.
    func note(_ peer: ReplicaID, name: String, at milliseconds: Int64, acknowledged sequence: Int64) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO _sync_peer (rid, name, at, acked)
                VALUES (?1, coalesce(nullif(?2, ''), (SELECT name FROM _sync_peer WHERE rid = ?1), ''),
                    max(?3, coalesce((SELECT at FROM _sync_peer WHERE rid = ?1), 0)), ?4)
                """,
            arguments: [peer.data, name, milliseconds, sequence])
    }

    /// Notes that a replica has more changes of this one, if it does.
    func raiseAcknowledged(to sequence: Int64, by peer: ReplicaID) throws {
        try db.execute(
            sql: "UPDATE _sync_peer SET acked = max(acked, ?) WHERE rid = ?",
            arguments: [sequence, peer.data])
    }

    /// Forgets how a replica was reached.
    func remove(_ peer: ReplicaID) throws {
        try db.execute(sql: "DELETE FROM _sync_peer WHERE rid = ?", arguments: [peer.data])
    }

    /// Forgets how all were reached, for it was another file that reached them.
    func removeAll() throws {
        // First, so that the names are overwritten, where what is removed might stay in the free space.
        try forgetNames()
        try db.execute(sql: "DELETE FROM _sync_peer")
    }

    /// Forgets what all are called, which tells of folders and servers, and overwrites the names.
    func forgetNames() throws {
        let former = try Int64.fetchOne(db, sql: "PRAGMA secure_delete") ?? 0
        try db.execute(sql: "PRAGMA secure_delete = 1")
        try db.execute(sql: "UPDATE main._sync_peer SET name = '' WHERE name <> ''")
        try db.execute(sql: "PRAGMA secure_delete = \(former)")
    }
}
