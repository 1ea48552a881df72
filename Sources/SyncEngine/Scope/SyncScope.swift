import SyncWire

/// What of a database is exchanged with a remote.
///
/// ```swift
/// try synchronizer.setScope(.tables(["note", "tag"]), ofRemote: "hub.db")
/// try await synchronizer.sync(with: StoreTransport(path: "hub.db", configuration: configuration))
/// ```
///
/// Of a table, it can be the rows that have one of some values in a column:
///
/// ```swift
/// let scope = SyncScope.tables(["note", "tag"]).rows(of: "note", where: "workspace", in: ["home", "garden"])
/// ```
public struct SyncScope: Hashable, Sendable {
    /// The rows of a table that are exchanged.
    public struct Rows: Hashable, Sendable {
        /// The table.
        public let table: String
        /// The scope column: a column that is not the key.
        public let column: String
        /// The values of the column whose rows are exchanged.
        public let values: [ScopeValue]
    }

    /// The tables, by name; nil when all are exchanged.
    public let tableNames: [String]?
    /// The tables of which some rows only are exchanged, and these rows.
    public var rows: [Rows] = []

    /// All tables.
    public static let everything = SyncScope(tableNames: nil)

    /// Some tables. What is written in others stays on its side.
    public static func tables(_ names: [String]) -> SyncScope { SyncScope(tableNames: names) }

    /// All tables, and of one the rows that have one of some values in a column.
    public static func rows(
        of table: String, where column: String, in values: [ScopeValue]
    ) -> SyncScope { everything.rows(of: table, where: column, in: values) }

    /// The same, and of one of the tables some rows only. Rows that leave the values are taken out
    /// of the table here, and deleted nowhere. Values are equal when their type and content are.
    public func rows(of table: String, where column: String, in values: [ScopeValue]) -> SyncScope {
        var scope = self
        scope.rows.removeAll { $0.table.isSameIdentifier(as: table) }
        scope.rows.append(Rows(table: table, column: column, values: Array(Set(values)).sorted()))
        return scope
    }
}

/// What a replica asks another one for.
public struct TransferRequest: Equatable, Sendable {
    /// What it knows of all tables.
    public var base: VersionVector
    /// The tables of which it knows something else.
    public var parts: [ReplicaFacts.Part]
    /// The tables that it wants, each by its name and its other names; nil for all.
    public var tables: [[String]]?
    /// The tables of which it wants some rows only.
    public var rows: [RowRequest] = []
    /// The tables of which it holds some rows only, each by its names, and wants nothing now.
    public var leftOut: [[String]] = []
    /// Rows that it does not take from this replica: what was changed in them waits (see ``HeldBackRows``).
    package var heldBack: [StateRows] = []
    /// Rows that it does not have, though what they began with counts as known there: it wants all of each.
    package var wholeRows: [StateRows] = []
    /// About how many of the sender's own changes it wants at once; nil for all (see ``BundlePortion``).
    package var changeCountMax: Int64?
    /// Whether it takes a row without values that were written to it later.
    package var dividesRows = false

    /// Makes a request.
    public init(base: VersionVector, parts: [ReplicaFacts.Part] = [], tables: [[String]]? = nil) {
        self.base = base
        self.parts = parts
        self.tables = tables
    }

    /// What the receiver knows of tables of which it knows something else than of all, by their numbers here.
    func knownOfTables(_ names: TableNames) -> [Int64: VersionVector] {
        var known: [Int64: VersionVector] = [:]
        for part in parts {
            for number in part.tables.compactMap(names.number) {
                known[number, default: base].join(part.target)
            }
        }
        return known
    }

    /// The last change of each replica of which anything is known.
    var reach: VersionVector {
        let reach = parts.reduce(into: base) { $0.join($1.target) }
        return rows.reduce(into: reach) { $0.join($1.partial.known) }
    }
}

extension SyncPeer {
    /// Writes what lies beyond a vector, of all tables.
    package func send(
        since vector: VersionVector, progress: SyncProgressHandler?,
        to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        try send(TransferRequest(base: vector), progress: progress, to: sink)
    }
}
