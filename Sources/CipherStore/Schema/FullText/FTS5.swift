/// The full-text module FTS5.
///
/// ```swift
/// try db.create(virtualTable: "document", using: FTS5()) { t in
///     t.tokenizer = .porter()
///     t.column("title")
///     t.column("body")
/// }
/// let pattern = FTS5Pattern(matchingAllTokensIn: "encrypted database")
/// let documents = try Document.matching(pattern).order(Column.rank).fetchAll(db)
/// ```
///
/// Not every library has FTS5: SQLCipher 3.4.1, as Debian 12 has it, was built without,
/// and so was 4.6.1 of Debian 13. There each use throws a ``DatabaseError`` that says so;
/// ``EngineFeatures/supportsFTS5`` tells beforehand. ``FTS4`` is everywhere.
///
/// Related SQLite documentation: <https://www.sqlite.org/fts5.html>
public struct FTS5: Sendable {
    /// What the tokenizer `unicode61` does with diacritics.
    public enum Diacritics: Sendable {
        /// Leaves them: `é` is not `e`.
        case keep
        /// Removes them, as libraries before SQLite 3.27 do: not from all letters that have several.
        case removeLegacy
        /// Removes them. It needs SQLite 3.27.
        case remove
    }

    /// Makes the module.
    public init() {}

    /// Throws where the library has no FTS5.
    static func requireAvailable() throws {
        let features = EngineFeatures.current
        guard features.supportsFTS5 else {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR,
                message: """
                    FTS5 is not available: this library (SQLCipher \(features.cipherVersion ?? "unknown"), \
                    SQLite \(features.sqliteVersion)) was built without it; use FTS4, or a library with FTS5
                    """)
        }
    }
}

extension FTS5: VirtualTableModule {
    /// `fts5`
    public var moduleName: String { "fts5" }

    /// Makes an empty definition.
    public func makeTableDefinition(configuration: VirtualTableConfiguration) -> FTS5TableDefinition {
        FTS5TableDefinition(configuration: configuration)
    }

    /// Returns the columns, the tokenizer and the options.
    ///
    /// - throws: A ``DatabaseError`` where the library has no FTS5.
    public func moduleArguments(for definition: FTS5TableDefinition, in db: Database) throws -> [String] {
        try Self.requireAvailable()
        var arguments = definition.columns.map { column in
            column.name.fullTextArgument + (column.isIndexed ? "" : " UNINDEXED")
        }
        if let tokenizer = definition.tokenizer { arguments.append("tokenize=\(tokenizer.argument)") }
        if let content = definition.content { arguments.append("content=\(content.quotedSQLText)") }
        if let rowID = try definition.contentRowID(in: db) {
            arguments.append("content_rowid=\(rowID.quotedSQLText)")
        }
        if let prefixes = definition.prefixes {
            let lengths = prefixes.sorted().map(String.init).joined(separator: " ")
            arguments.append("prefix=\(lengths.quotedSQLText)")
        }
        if let columnSize = definition.columnSize { arguments.append("columnSize=\(columnSize)") }
        if let detail = definition.detail { arguments.append("detail=\(detail)") }
        return arguments
    }

    /// Adds the triggers that follow the changes of the content table, and reads its rows.
    public func database(
        _ db: Database, didCreate tableName: String, using definition: FTS5TableDefinition
    ) throws {
        guard definition.isSynchronized, let content = definition.content else { return }
        let triggers = FTS5Triggers(
            table: tableName, content: content,
            rowID: try definition.contentRowID(in: db) ?? Column.rowID.name,
            columns: definition.columns.map(\.name), ifNotExists: definition.configuration.ifNotExists)
        for statement in triggers.statements { try db.execute(sql: statement) }
        let table = tableName.quotedDatabaseIdentifier
        try db.execute(sql: "INSERT INTO \(table)(\(table)) VALUES ('rebuild')")
    }
}

extension Database {
    /// Drops the triggers by which an ``FTS5`` table followed another table.
    ///
    /// Call it when you drop the full-text table and keep the other one.
    ///
    /// - parameter tableName: The name of the full-text table.
    /// - throws: A ``DatabaseError``.
    public func dropFTS5SynchronizationTriggers(forTable tableName: String) throws {
        for name in FTS5Triggers.names(of: tableName) {
            try execute(sql: "DROP TRIGGER IF EXISTS \(name.quotedDatabaseIdentifier)")
        }
    }
}

/// The triggers that keep an FTS5 table as its content table is.
///
/// The table is told what words a row had, for it can't read them any more
/// when the row has changed: <https://www.sqlite.org/fts5.html#external_content_tables>
private struct FTS5Triggers {
    let table: String
    let content: String
    let rowID: String
    let columns: [String]
    let ifNotExists: Bool

    static func names(of table: String) -> [String] { ["ai", "ad", "au"].map { "__\(table)_\($0)" } }

    var statements: [String] {
        let table = table.quotedDatabaseIdentifier
        let names = (["rowid"] + columns).quotedList
        func values(_ row: String) -> String {
            ([rowID] + columns).map { "\(row).\($0.quotedDatabaseIdentifier)" }.joined(separator: ", ")
        }
        let insertion = "INSERT INTO \(table)(\(names)) VALUES (\(values("new")));"
        let deletion = "INSERT INTO \(table)(\(table), \(names)) VALUES('delete', \(values("old")));"
        let events = [
            ("INSERT", [insertion]), ("DELETE", [deletion]), ("UPDATE", [deletion, insertion]),
        ]
        return zip(Self.names(of: self.table), events).map { name, event in
            """
            CREATE TRIGGER \(ifNotExists ? "IF NOT EXISTS " : "")\(name.quotedDatabaseIdentifier) \
            AFTER \(event.0) ON \(content.quotedDatabaseIdentifier) BEGIN
                \(event.1.joined(separator: "\n    "))
            END
            """
        }
    }
}

/// The columns and the options of an ``FTS5`` table.
public final class FTS5TableDefinition {
    fileprivate let configuration: VirtualTableConfiguration
    fileprivate private(set) var columns: [FTS5ColumnDefinition] = []
    fileprivate private(set) var isSynchronized = false
    private var contentTable: String?

    fileprivate init(configuration: VirtualTableConfiguration) { self.configuration = configuration }

    /// The tokenizer; `unicode61` when it is not set.
    public var tokenizer: FTS5TokenizerDescriptor?

    /// The table that has the texts; empty for a table that keeps no texts.
    public var content: String? {
        get { contentTable }
        set {
            contentTable = newValue
            isSynchronized = false
        }
    }

    /// The column of the content table that numbers its rows.
    public var contentRowID: String?

    /// The lengths of the prefixes that are indexed.
    public var prefixes: Set<Int>?

    /// 0 for a table that does not keep the number of tokens of its texts.
    public var columnSize: Int?

    /// How much is kept of where tokens are: `full`, `column` or `none`.
    public var detail: String?

    /// Makes the texts those of another table, and follows its changes by triggers.
    ///
    /// - parameter tableName: The other table, which has columns of the same names.
    public func synchronize(withTable tableName: String) {
        contentTable = tableName
        isSynchronized = true
    }

    /// Adds a column.
    ///
    /// - returns: The column, which takes options.
    @discardableResult
    public func column(_ name: String) -> FTS5ColumnDefinition {
        let column = FTS5ColumnDefinition(name: name)
        columns.append(column)
        return column
    }

    /// The column that was given, or the one by which a synchronized table knows its rows.
    fileprivate func contentRowID(in db: Database) throws -> String? {
        guard contentRowID == nil, isSynchronized, let contentTable else { return contentRowID }
        return try db.primaryKey(contentTable).rowIDColumn
    }
}

/// A column of an ``FTS5`` table.
public final class FTS5ColumnDefinition {
    fileprivate let name: String
    fileprivate private(set) var isIndexed = true

    fileprivate init(name: String) { self.name = name }

    /// Leaves the column out of searches.
    @discardableResult
    public func notIndexed() -> Self {
        isIndexed = false
        return self
    }
}

@available(*, unavailable)
extension FTS5TableDefinition: Sendable {}

@available(*, unavailable)
extension FTS5ColumnDefinition: Sendable {}

extension Column {
    /// The hidden column of an ``FTS5`` table that tells how well a row matches:
    /// the smaller, the better.
    ///
    /// Related SQLite documentation: <https://www.sqlite.org/fts5.html#sorting_by_auxiliary_function_results>
    public static let rank = Column("rank")
}
