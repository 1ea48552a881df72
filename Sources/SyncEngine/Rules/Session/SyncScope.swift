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
