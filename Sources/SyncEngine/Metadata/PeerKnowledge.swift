import CipherStore
import SyncWire

/// What other replicas were last known to know. It only grows: a replica may know more by now,
/// and less only when its file was restored from an older copy.
enum PeerKnowledge {
    /// What it is kept in.
    static let sql = """
        CREATE TABLE _sync_peer_vector (
            rid BLOB NOT NULL,
            origin BLOB NOT NULL,
            oseq INTEGER NOT NULL,
            PRIMARY KEY (rid, origin)
        ) WITHOUT ROWID;

        """

    /// Reads what a replica knows; nil when it was never heard of.
    static func load(_ db: Database, of replica: ReplicaID) throws -> VersionVector? {
        let rows = try Row.fetchAll(
            db, sql: "SELECT origin, oseq FROM _sync_peer_vector WHERE rid = ?", arguments: [replica.data])
        guard !rows.isEmpty else { return nil }
        var vector = VersionVector()
        for row in rows {
            vector[try StoreMetadata.identifier(row.decode(atIndex: 0))] = try row.decode(atIndex: 1)
        }
        return vector
    }

    /// Notes what a replica knows now.
    static func note(_ db: Database, of replica: ReplicaID, _ vector: VersionVector) throws {
        let known = try load(db, of: replica) ?? VersionVector()
        for (origin, sequence) in vector.sequences where sequence > known[origin] {
            try db.execute(
                sql: "INSERT OR REPLACE INTO _sync_peer_vector (rid, origin, oseq) VALUES (?, ?, ?)",
                arguments: [replica.data, origin.data, sequence])
        }
    }
}
