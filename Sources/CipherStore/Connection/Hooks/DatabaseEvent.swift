/// A change of one row: ``TransactionObserver/databaseDidChange(with:)``.
public struct DatabaseEvent: Sendable, Hashable {
    /// The kinds of change. The raw values are those of SQLite.
    public enum Kind: CInt, Sendable {
        /// A row was inserted.
        case insert = 18
        /// A row was deleted.
        case delete = 9
        /// A row was updated.
        case update = 23
    }

    /// What happened to the row.
    public let kind: Kind

    /// The name of the schema: `"main"`, `"temp"`, or that of an attached database.
    public let databaseName: String

    /// The name of the table, as it was spelled when the table was created.
    public let tableName: String

    /// The rowid of the row, after the change if it was updated.
    public let rowID: Int64

    package init(kind: Kind, rowID: Int64, databaseName: String, tableName: String) {
        self.kind = kind
        self.rowID = rowID
        self.databaseName = databaseName
        self.tableName = tableName
    }

    /// Returns the event. It can be kept as it is: other than in GRDB, no event
    /// refers to memory of SQLite.
    public func copy() -> DatabaseEvent { self }
}

/// The changes that a statement can make to one table.
///
/// Names are spelled as in the definition of the table, whatever the statement has.
public enum DatabaseEventKind: Sendable, Hashable {
    /// Rows are inserted.
    case insert(tableName: String)
    /// Rows are deleted.
    case delete(tableName: String)
    /// These columns of rows are updated. The rowid is the column `ROWID` when
    /// it has no other name, or when the statement does not use that name.
    case update(tableName: String, columnNames: Set<String>)

    /// The name of the table.
    public var tableName: String {
        switch self {
        case .insert(let name), .delete(let name), .update(let name, _): name
        }
    }
}
