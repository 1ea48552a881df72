import SyncWire

/// What a conversion of keys changes, or changed.
public struct UUIDKeyPlan: Equatable, Sendable {
    /// Where the new key of a table comes from.
    public enum Origin: String, Sendable {
        /// From the one column that was its key, which holds the new one.
        case column
        /// From the row that it belongs to, whose key it shares.
        case shared
        /// From several columns, which stay, and stay unique.
        case columns
        /// From the rowid: it had no key.
        case rowid
        /// It keeps the key it has, and only refers to others.
        case kept
    }

    /// A table that changes.
    public struct Table: Equatable, Sendable {
        /// Its name.
        public let name: String
        /// Where its new key comes from.
        public let origin: Origin
        /// The column that holds the new key; nil when the key is kept.
        public let keyColumn: String?
        /// The column that holds the old key, when it is kept.
        public let oldKeyColumn: String?
        /// The columns that refer to rows whose keys change.
        public let references: [String]
        /// How many rows it has.
        public let rowCount: Int64
        /// The greatest integer key so far. Other copies of the file give it as the last that they shared.
        public let lastOldKey: Int64?
    }

    /// Rows that refer to rows that are not there. They still do afterwards.
    public struct Dangling: Equatable, Sendable {
        /// The table with the rows.
        public let table: String
        /// The table that they refer to.
        public let parent: String
        /// How many rows.
        public let rowCount: Int64
    }

    /// Something that seems to depend on what the keys were.
    public struct Dependent: Equatable, Sendable {
        /// `trigger`, `view`, `index`, `check`, `default` or `generated column`.
        public let kind: String
        /// Its name; of a check, default or generated column, the name of the table.
        public let name: String
        /// What it does with the keys.
        public let reason: String
    }

    /// What the keys are derived from, beside table and old key.
    public let namespace: StoreID
    /// The tables that change.
    public let tables: [Table]
    /// The tables that were named, or all for all, and have UUIDs as keys already.
    public let unchangedTables: [String]
    /// Rows that refer to nothing.
    public internal(set) var dangling: [Dangling]
    /// What seems to depend on what the keys were.
    public let dependents: [Dependent]

    /// The tables that can be tracked once this is done.
    public var trackableTables: [String] {
        tables.filter { $0.origin != .kept }.map(\.name) + unchangedTables
    }
}
