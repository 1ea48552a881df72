import CipherStore
import SyncWire

/// How a store stands.
public struct SyncStatus: Sendable {
    /// A tracked table.
    public struct Table: Sendable {
        /// Its name.
        public let name: String
        /// How many rows it has.
        public let rowCount: Int64
        /// How many of them have a key that is no UUID, and are not synchronized.
        public let unsuitableKeyCount: Int64
    }

    /// A replica that the store was synchronized with.
    public struct Peer: Sendable {
        /// The replica.
        public let replica: ReplicaID
        /// How it was reached; empty when it reached us.
        public let name: String
        /// When, in milliseconds of Unix time.
        public let lastContactMilliseconds: Int64
        /// How many local changes it does not have, of the tables that are exchanged with it.
        public let pendingCount: Int64
    }

    /// Rows that wait, by table and reason.
    public struct Parked: Sendable {
        /// The table.
        public let table: String
        /// Why: a missing table or column, or SQLite's name of the constraint.
        public let reason: String
        /// How many rows.
        public let rowCount: Int64
    }

    /// A difference between the schema and what is tracked, and what to do about it.
    public struct SchemaRemark: Sendable {
        /// The table.
        public let table: String
        /// What differs, and what to do.
        public let text: String
    }

    /// The database that the store is a replica of.
    public let store: StoreID
    /// This replica.
    public let replica: ReplicaID
    /// The tracked tables.
    public let tables: [Table]
    /// The replicas that the store was synchronized with, last one first.
    public let peers: [Peer]
    /// How the synchronizations with remotes went, the last one first.
    public let remotes: [Remote]
    /// The local changes in the log, all of which a new peer would get.
    public let logEntryCount: Int64
    /// The conflicts in the journal that are open.
    public let conflictCount: Int64
    /// The rows that wait for their table, column, parent or place.
    public let parkedCount: Int64
    /// The same, by table and reason.
    public let parked: [Parked]
    /// Where tables differ from what is tracked, or from those of peers.
    public let schemaRemarks: [SchemaRemark]
}

extension SyncStatus {
    /// How the synchronizations with a remote went, as this store asked for them.
    public struct Remote: Sendable, Equatable {
        /// Its name: that of the transport.
        public let name: String
        /// When it was last tried, in milliseconds of Unix time.
        public let lastAttemptMilliseconds: Int64
        /// When it last succeeded; nil when it never did.
        public let lastSuccessMilliseconds: Int64?
        /// How often it failed since then.
        public let failureCount: Int64
        /// Why it failed the last time, or why the remote did not take what was changed here, when nothing failed
        /// since then (``failureCount`` is 0); nil when all went well.
        public let lastError: String?
        /// How far the times of what came were ahead of the clock here, where it is more than some minutes; else zero.
        public let clockAheadMilliseconds: Int64
        /// What is exchanged with it.
        public let scope: SyncScope
    }
}
