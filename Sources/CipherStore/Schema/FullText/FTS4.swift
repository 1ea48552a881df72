/// The full-text module FTS4.
///
/// ```swift
/// try db.create(virtualTable: "bookText", using: FTS4()) { t in
///     t.synchronize(withTable: "book")
///     t.tokenizer = .unicode61()
///     t.column("title")
/// }
/// ```
///
/// Related SQLite documentation: <https://www.sqlite.org/fts3.html>
public struct FTS4: Sendable {
    /// Makes the module.
    public init() {}
}

extension FTS4: VirtualTableModule {
    /// `fts4`
    public var moduleName: String { "fts4" }

    /// Makes an empty definition.
    public func makeTableDefinition(configuration: VirtualTableConfiguration) -> FTS4TableDefinition {
        FTS4TableDefinition(configuration: configuration)
    }

    /// Returns the columns, the tokenizer and the options.
    public func moduleArguments(for definition: FTS4TableDefinition, in db: Database) throws -> [String] {
        var arguments: [String] = []
        for column in definition.columns {
            let name = column.name.fullTextArgument
            if column.isLanguageID {
                arguments.append("languageid=\(column.name.quotedDatabaseIdentifier)")
                continue
            }
            arguments.append(name)
            if !column.isIndexed { arguments.append("notindexed=\(name)") }
        }
        if let tokenizer = definition.tokenizer { arguments.append(tokenizer.argument) }
        let options = [
            ("content", definition.contentTable), ("compress", definition.compress),
            ("uncompress", definition.uncompress), ("matchinfo", definition.matchinfo),
            ("prefix", definition.prefixes.map { $0.sorted().map(String.init).joined(separator: ",") }),
        ]
        for (name, value) in options {
            if let value { arguments.append("\(name)=\(value.quotedDatabaseIdentifier)") }
        }
        return arguments
    }

    /// Adds the triggers that follow the changes of the content table, and reads its rows.
    public func database(
        _ db: Database, didCreate tableName: String, using definition: FTS4TableDefinition
    ) throws {
        guard definition.isSynchronized, let content = definition.contentTable else { return }
        let rowID = try db.primaryKey(content).rowIDColumn ?? "rowid"
        // The language among them: words are found, and taken out, in the language they were put in by.
        let triggers = FTS4Triggers(
            table: tableName, content: content, rowID: rowID, columns: definition.columns.map(\.name),
            ifNotExists: definition.configuration.ifNotExists)
        for statement in triggers.statements { try db.execute(sql: statement) }
        let table = tableName.quotedDatabaseIdentifier
        try db.execute(sql: "INSERT INTO \(table)(\(table)) VALUES ('rebuild')")
    }
}

extension Database {
    /// Drops the triggers by which an ``FTS4`` table followed another table.
    ///
    /// Call it when you drop the full-text table and keep the other one.
    ///
    /// - parameter tableName: The name of the full-text table.
    /// - throws: A ``DatabaseError``.
    public func dropFTS4SynchronizationTriggers(forTable tableName: String) throws {
        for name in FTS4Triggers.names(of: tableName) {
            try execute(sql: "DROP TRIGGER IF EXISTS \(name.quotedDatabaseIdentifier)")
        }
    }
}

/// The triggers that keep an FTS4 table as its content table is.
///
/// The order is the one that SQLite documents: words of a row are taken out
/// while the row still has them.
private struct FTS4Triggers {
    let table: String
    let content: String
    let rowID: String
    let columns: [String]
    let ifNotExists: Bool

    private static let suffixes = ["bu", "bd", "au", "ai"]

    static func names(of table: String) -> [String] { suffixes.map { "__\(table)_\($0)" } }

    var statements: [String] {
        let table = table.quotedDatabaseIdentifier
        let rowID = rowID.quotedDatabaseIdentifier
        let names = (["\"docid\""] + columns.map(\.quotedDatabaseIdentifier)).joined(separator: ", ")
        let values = ([rowID] + columns.map(\.quotedDatabaseIdentifier)).map { "new.\($0)" }
            .joined(separator: ", ")
        let delete = "DELETE FROM \(table) WHERE docid=old.\(rowID);"
        let insert = "INSERT INTO \(table)(\(names)) VALUES(\(values));"
        let events = [
            ("BEFORE UPDATE", delete), ("BEFORE DELETE", delete), ("AFTER UPDATE", insert),
            ("AFTER INSERT", insert),
        ]
        return zip(Self.names(of: self.table), events).map { name, event in
            """
            CREATE TRIGGER \(ifNotExists ? "IF NOT EXISTS " : "")\(name.quotedDatabaseIdentifier) \
            \(event.0) ON \(content.quotedDatabaseIdentifier) BEGIN
                \(event.1)
            END
            """
        }
    }
}

/// The columns and the options of an ``FTS4`` table.
public final class FTS4TableDefinition {
    fileprivate let configuration: VirtualTableConfiguration
    fileprivate private(set) var columns: [FTS4ColumnDefinition] = []
    fileprivate private(set) var isSynchronized = false
    fileprivate private(set) var contentTable: String?

    fileprivate init(configuration: VirtualTableConfiguration) { self.configuration = configuration }

    /// The tokenizer; `simple` when it is not set.
    public var tokenizer: FTS3TokenizerDescriptor?

    /// The table that has the texts; empty for a table that keeps no texts.
    public var content: String? {
        get { contentTable }
        set {
            contentTable = newValue
            isSynchronized = false
        }
    }

    /// The function that compresses texts.
    public var compress: String?

    /// The function that brings compressed texts back.
    public var uncompress: String?

    /// `fts3` for a smaller table that does not support all of `matchinfo()`.
    public var matchinfo: String?

    /// The lengths of the prefixes that are indexed.
    public var prefixes: Set<Int>?

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
    public func column(_ name: String) -> FTS4ColumnDefinition {
        let column = FTS4ColumnDefinition(name: name)
        columns.append(column)
        return column
    }
}

/// A column of an ``FTS4`` table.
public final class FTS4ColumnDefinition {
    fileprivate let name: String
    fileprivate private(set) var isIndexed = true
    fileprivate private(set) var isLanguageID = false

    fileprivate init(name: String) { self.name = name }

    /// Leaves the column out of searches.
    @discardableResult
    public func notIndexed() -> Self {
        isIndexed = false
        return self
    }

    /// Makes the column the number of the row's language.
    ///
    /// A search says in which language: `note MATCH 'tea' AND language = 1`. Without that it is 0.
    @discardableResult
    public func asLanguageId() -> Self {
        isLanguageID = true
        return self
    }
}

@available(*, unavailable)
extension FTS4TableDefinition: Sendable {}

@available(*, unavailable)
extension FTS4ColumnDefinition: Sendable {}
