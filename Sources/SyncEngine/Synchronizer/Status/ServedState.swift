import CipherStore
import Foundation
import SyncWire

/// What a server shows people of a store, as far as the metadata say it.
package enum ServedState {
    /// A synchronization with a remote, see ``SyncAttempts``.
    package struct Attempt {
        /// What the remote is called.
        package let name: String
        /// When it was last tried, and when it last succeeded, in milliseconds of Unix time.
        package let triedMilliseconds: Int64, succeededMilliseconds: Int64?
        /// How often it failed since.
        package let failureCount: Int64
        /// What it failed with.
        package let error: String?
    }

    /// The names of the tracked tables.
    package static func tableNames(_ db: Database) throws -> [String] {
        try String.fetchAll(db, sql: "SELECT name FROM _sync_table WHERE tracked = 1 ORDER BY name")
    }

    /// The replicas that the store was synchronized with: how each was reached, and when, in milliseconds of Unix time.
    package static func contacts(_ db: Database) throws -> [ReplicaID: (name: String, at: Int64)] {
        var contacts: [ReplicaID: (name: String, at: Int64)] = [:]
        for row in try Row.fetchAll(db, sql: "SELECT rid, name, at FROM _sync_peer") {
            let bytes: Data = try row.decode(atIndex: 0)
            guard let replica = bytes.withUnsafeBytes({ ReplicaID(bytes: $0) }) else { continue }
            contacts[replica] = (try row.decode(atIndex: 1), try row.decode(atIndex: 2))
        }
        return contacts
    }

    /// The synchronizations with remotes, the last one first.
    package static func attempts(_ db: Database, limit: Int) throws -> [Attempt] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT name, at, done, failures, error FROM _sync_attempt WHERE name <> ?
                ORDER BY at DESC LIMIT ?
                """, arguments: [UnnamedRemote.name, limit]
        ).map {
            Attempt(
                name: try $0.decode(atIndex: 0), triedMilliseconds: try $0.decode(atIndex: 1),
                succeededMilliseconds: try $0.decodeIfPresent(atIndex: 2),
                failureCount: try $0.decode(atIndex: 3), error: try $0.decodeIfPresent(atIndex: 4))
        }
    }

    /// How many rows wait.
    package static func parkedRowCount(_ db: Database) throws -> Int64 {
        try Synchronizer.parkedRowCount(db)
    }

    /// The newest time that a change here has, in milliseconds of Unix time; nil when the database is not synchronized.
    package static func clockMilliseconds(_ db: Database) throws -> Int64? {
        guard try db.tableExists("_sync_state") else { return nil }
        return try Int64.fetchOne(db, sql: "SELECT clock >> 16 FROM _sync_state")
    }
}
