/// A column of a table that is created or altered.
///
/// You get one from ``TableDefinition/column(_:_:)`` or
/// ``TableAlteration/add(column:_:)``, and give it constraints:
///
/// ```swift
/// try db.create(table: "player") { t in
///     t.column("name", .text).notNull()
///     t.column("email", .text).unique()
///     t.column("score", .integer).notNull().defaults(to: 0)
/// }
/// ```
public final class ColumnDefinition {
    /// SQL that may need the connection to be written.
    typealias Fragment = (Database) throws -> String

    enum Index {
        case none
        case plain
        case unique(Database.ConflictResolution)
    }

    struct Reference {
        let table: String
        let column: String?
        let options: ForeignKeyOptions
    }

    let name: String
    let type: Database.ColumnType?
    var primaryKey: (conflict: Database.ConflictResolution, isAutoIncremented: Bool)?
    var index: Index = .none
    private(set) var notNullConflict: Database.ConflictResolution?
    private(set) var references: [Reference] = []
    private(set) var isGenerated = false
    private var checks: [Fragment] = []
    private var defaultValue: Fragment?
    private var collation: String?
    private var generated: (Fragment, Database.GeneratedColumnQualification)?

    init(name: String, type: Database.ColumnType?) {
        self.name = name
        self.type = type
    }

    // MARK: Constraints

    /// Makes the column the primary key.
    ///
    /// ``TableDefinition/primaryKey(_:_:onConflict:)`` is the better way, as it
    /// also refuses NULL.
    ///
    /// - parameters:
    ///     - conflict: What happens when a key is there already; the statement fails when nil.
    ///     - autoincrement: Whether a rowid is never given twice.
    @discardableResult
    public func primaryKey(
        onConflict conflict: Database.ConflictResolution? = nil, autoincrement: Bool = false
    ) -> Self {
        primaryKey = (conflict ?? .abort, autoincrement)
        return self
    }

    /// Refuses NULL.
    ///
    /// - parameter conflict: What happens when a value is NULL; the statement fails when nil.
    @discardableResult
    public func notNull(onConflict conflict: Database.ConflictResolution? = nil) -> Self {
        notNullConflict = conflict ?? .abort
        return self
    }

    /// Refuses a value that another row has.
    ///
    /// - parameter conflict: What happens when another row has the value; the statement fails when nil.
    @discardableResult
    public func unique(onConflict conflict: Database.ConflictResolution? = nil) -> Self {
        index = .unique(conflict ?? .abort)
        return self
    }

    /// Adds an index on the column, named `<table>_on_<column>`.
    @discardableResult
    public func indexed() -> Self {
        if case .none = index { index = .plain }
        return self
    }

    /// Refuses values for which a condition is false.
    ///
    /// - parameter sql: The SQL of the condition.
    @discardableResult
    public func check(sql: String) -> Self {
        checks.append { _ in sql }
        return self
    }

    /// Sets the default value.
    ///
    /// - parameter sql: The SQL of a literal, or an expression in parentheses.
    @discardableResult
    public func defaults(sql: String) -> Self {
        defaultValue = { _ in sql }
        return self
    }

    /// Sets the default value.
    @discardableResult
    public func defaults(to value: some DatabaseValueConvertible) -> Self {
        let value = value.databaseValue
        defaultValue = { _ in try value.sqlLiteral }
        return self
    }

    /// Sets the collation that compares values.
    @discardableResult
    public func collate(_ collation: Database.CollationName) -> Self {
        self.collation = collation.rawValue
        return self
    }

    /// Sets the collation that compares values.
    @discardableResult
    public func collate(_ collation: DatabaseCollation) -> Self {
        self.collation = collation.name
        return self
    }

    /// Makes the column a generated one.
    ///
    /// - parameters:
    ///     - sql: The SQL of its value.
    ///     - qualification: When the value is computed.
    @discardableResult
    public func generatedAs(
        sql: String, _ qualification: Database.GeneratedColumnQualification = .virtual
    ) -> Self {
        generate(qualification) { _ in sql }
    }

    /// Makes the column refer to a row of another table.
    ///
    /// - parameters:
    ///     - table: The other table.
    ///     - column: A column of it; its primary key when nil.
    ///     - deleteAction: What happens when the other row is deleted.
    ///     - updateAction: What happens when the other row gets another key.
    ///     - isDeferred: Whether the other row must be there at the end of the
    ///       transaction only.
    @discardableResult
    public func references(
        _ table: String, column: String? = nil, onDelete deleteAction: Database.ForeignKeyAction? = nil,
        onUpdate updateAction: Database.ForeignKeyAction? = nil, deferred isDeferred: Bool = false
    ) -> Self {
        references.append(
            Reference(
                table: table, column: column,
                options: ForeignKeyOptions(
                    deleteAction: deleteAction, updateAction: updateAction, isDeferred: isDeferred)))
        return self
    }

    // MARK: SQL

    func refer(to table: String, column: String, _ options: ForeignKeyOptions) {
        references.append(Reference(table: table, column: column, options: options))
    }

    func addCheck(_ fragment: @escaping Fragment) { checks.append(fragment) }

    func generate(
        _ qualification: Database.GeneratedColumnQualification, _ fragment: @escaping Fragment
    ) -> Self {
        generated = (fragment, qualification)
        isGenerated = true
        return self
    }

    /// The definition of the column.
    ///
    /// - parameters:
    ///     - db: The connection.
    ///     - context: What is known of the table that the column is in.
    ///     - isInPrimaryKey: Whether the table names it in its `PRIMARY KEY` clause.
    func sql(_ db: Database, in context: TableContext, isInPrimaryKey: Bool = false) throws -> String {
        var parts = [name.quotedDatabaseIdentifier]
        if let type { parts.append(type.rawValue) }
        if let primaryKey {
            parts.append("PRIMARY KEY")
            parts += primaryKey.conflict.constraintClauses
            if primaryKey.isAutoIncremented { parts.append("AUTOINCREMENT") }
        }
        if let conflict = notNullConflict ?? (isInPrimaryKey ? .abort : nil) {
            parts.append("NOT NULL")
            parts += conflict.constraintClauses
        }
        if case .unique(let conflict) = index {
            parts.append("UNIQUE")
            parts += conflict.constraintClauses
        }
        for check in checks { parts.append("CHECK (\(try check(db).withCommentEnded))") }
        if let defaultValue { parts.append("DEFAULT \(try defaultValue(db))") }
        if let collation { parts.append("COLLATE \(collation)") }
        for reference in references {
            let columns = try reference.column.map { [$0] } ?? context.primaryKey(db, of: reference.table)
            guard columns.count == 1 else {
                throw DatabaseError(
                    resultCode: .SQLITE_ERROR,
                    message:
                        "column \(name) can't refer to the \(columns.count) columns of the primary key of \(reference.table)"
                )
            }
            parts.append("REFERENCES \(reference.table.quotedDatabaseIdentifier)(\(columns.quotedList))")
            parts += reference.options.clauses
        }
        if let (fragment, qualification) = generated {
            try db.requireGeneratedColumns()
            parts.append(
                "GENERATED ALWAYS AS (\(try fragment(db).withCommentEnded)) \(qualification.rawValue)")
        }
        // A default may end in a comment.
        return (parts.dropLast().map(\.withCommentEnded) + parts.suffix(1)).joined(separator: " ")
    }
}

@available(*, unavailable)
extension ColumnDefinition: Sendable {}

/// The clauses at the end of a foreign key.
struct ForeignKeyOptions {
    let deleteAction: Database.ForeignKeyAction?
    let updateAction: Database.ForeignKeyAction?
    let isDeferred: Bool

    var clauses: [String] {
        var clauses: [String] = []
        if let deleteAction { clauses.append("ON DELETE \(deleteAction.rawValue)") }
        if let updateAction { clauses.append("ON UPDATE \(updateAction.rawValue)") }
        if isDeferred { clauses.append("DEFERRABLE INITIALLY DEFERRED") }
        return clauses
    }
}

extension Database.ConflictResolution {
    /// The clauses of a constraint: none for abort, which is the default.
    var constraintClauses: [String] { self == .abort ? [] : ["ON CONFLICT \(rawValue)"] }
}

extension [String] {
    /// The names, quoted and separated by commas.
    var quotedList: String { map(\.quotedDatabaseIdentifier).joined(separator: ", ") }
}

extension Database {
    func requireGeneratedColumns() throws {
        guard EngineFeatures.current.supportsGeneratedColumns else {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR,
                message:
                    "generated columns need SQLite 3.31; this library is \(EngineFeatures.current.sqliteVersion)"
            )
        }
    }

    func requireStrictTables() throws {
        guard EngineFeatures.current.supportsStrictTables else {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR,
                message:
                    "strict tables need SQLite 3.37; this library is \(EngineFeatures.current.sqliteVersion)")
        }
    }
}

extension EngineFeatures {
    /// The version of SQLite, such as `3.15.2`.
    var sqliteVersion: String {
        "\(sqliteVersionNumber / 1_000_000).\(sqliteVersionNumber / 1000 % 1000).\(sqliteVersionNumber % 1000)"
    }
}
