/// The columns and constraints of a table that is created.
///
/// You get one in ``Database/create(table:options:body:)``:
///
/// ```swift
/// try db.create(table: "player") { t in
///     t.autoIncrementedPrimaryKey("id")
///     t.column("name", .text).notNull()
///     t.belongsTo("team", onDelete: .cascade).notNull()
/// }
/// ```
public final class TableDefinition {
    private enum Item {
        case column(ColumnDefinition)
        case foreignKey(ForeignKeyDefinition)
        case literal(ColumnDefinition.Fragment)
    }

    private let name: String
    private let options: TableOptions
    private var items: [(item: Item, isInPrimaryKey: Bool)] = []
    private var primaryKeyColumns: [String]?
    private var primaryKeyConflict = Database.ConflictResolution.abort
    private var hasPrimaryKeyClause = false
    private var isInPrimaryKeyClause = false
    private var uniqueKeys: [TableConstraint.UniqueKey] = []
    private var foreignKeys: [TableConstraint.ForeignKey] = []
    private var checks: [ColumnDefinition.Fragment] = []
    private var literals: [ColumnDefinition.Fragment] = []

    init(name: String, options: TableOptions) {
        self.name = name
        self.options = options
    }

    // MARK: Primary keys

    /// Adds a primary key whose values SQLite chooses, and never gives twice.
    ///
    /// ```swift
    /// // CREATE TABLE player (id INTEGER PRIMARY KEY AUTOINCREMENT)
    /// try db.create(table: "player") { t in t.autoIncrementedPrimaryKey("id") }
    /// ```
    ///
    /// A table that is synchronized can't have one, because two devices would
    /// give the same number to different rows: see ``uuidPrimaryKey(_:)``.
    ///
    /// - parameters:
    ///     - name: The name of the column.
    ///     - conflict: What happens when a key is there already.
    @discardableResult
    public func autoIncrementedPrimaryKey(
        _ name: String, onConflict conflict: Database.ConflictResolution = .abort
    ) -> ColumnDefinition {
        column(name, .integer).primaryKey(onConflict: conflict, autoincrement: true)
    }

    /// Adds a primary key of one column.
    ///
    /// Its values can't be NULL. A column of type `.integer` is an alias of the
    /// rowid, and gets a number when none is given.
    ///
    /// - parameters:
    ///     - name: The name of the column.
    ///     - type: Its type.
    ///     - conflict: What happens when a key is there already.
    @discardableResult
    public func primaryKey(
        _ name: String, _ type: Database.ColumnType,
        onConflict conflict: Database.ConflictResolution = .abort
    ) -> ColumnDefinition {
        let column = column(name, type).primaryKey(onConflict: conflict)
        // SQLite lets other keys than rowids be NULL.
        return type == .integer ? column : column.notNull()
    }

    /// Adds a primary key that holds a UUID in 16 bytes, as tables that are
    /// synchronized need it.
    ///
    /// ```swift
    /// // CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT)
    /// try db.create(table: "note") { t in
    ///     t.uuidPrimaryKey("id")
    ///     t.column("title", .text)
    /// }
    /// ```
    ///
    /// `UUID` values are stored in this way. `UUID.v7()` makes ones that grow
    /// with time, which keeps the table's pages in order.
    ///
    /// - parameter name: The name of the column.
    @discardableResult
    public func uuidPrimaryKey(_ name: String) -> ColumnDefinition { primaryKey(name, .blob) }

    /// Adds a primary key of the columns that the closure adds. They can't be NULL.
    ///
    /// ```swift
    /// try db.create(table: "citizenship") { t in
    ///     t.primaryKey {
    ///         t.belongsTo("citizen")
    ///         t.belongsTo("country")
    ///     }
    /// }
    /// ```
    ///
    /// - parameters:
    ///     - conflict: What happens when a key is there already.
    ///     - body: A closure that adds columns to the table.
    public func primaryKey(
        onConflict conflict: Database.ConflictResolution = .abort, body: () throws -> Void
    ) rethrows {
        claimPrimaryKeyClause(conflict)
        isInPrimaryKeyClause = true
        defer { isInPrimaryKeyClause = false }
        try body()
    }

    /// Makes columns the primary key. They can be NULL, unless they are declared otherwise.
    ///
    /// - parameters:
    ///     - columns: The names of columns of the table.
    ///     - conflict: What happens when a key is there already.
    public func primaryKey(_ columns: [String], onConflict conflict: Database.ConflictResolution = .abort) {
        claimPrimaryKeyClause(conflict)
        primaryKeyColumns = columns
    }

    private func claimPrimaryKeyClause(_ conflict: Database.ConflictResolution) {
        precondition(!hasPrimaryKeyClause, "a table can't have two primary keys")
        hasPrimaryKeyClause = true
        primaryKeyConflict = conflict
    }

    // MARK: Columns

    /// Adds a column.
    ///
    /// - parameters:
    ///     - name: The name of the column.
    ///     - type: Its type, if any.
    /// - returns: The column, which takes constraints.
    @discardableResult
    public func column(_ name: String, _ type: Database.ColumnType? = nil) -> ColumnDefinition {
        let column = ColumnDefinition(name: name, type: type)
        items.append((.column(column), isInPrimaryKeyClause))
        return column
    }

    /// Adds a column.
    ///
    /// - parameter sql: The SQL of its whole definition.
    public func column(sql: String) {
        addColumn { _ in sql }
    }

    func addColumn(_ fragment: @escaping ColumnDefinition.Fragment) {
        items.append((.literal(fragment), isInPrimaryKeyClause))
    }

    /// Adds columns that refer to the primary key of another table, and an index on them.
    ///
    /// ```swift
    /// // teamId INTEGER REFERENCES team(id)
    /// t.belongsTo("team")
    /// ```
    ///
    /// A column has the name and the key's column: `team` and `id` make `teamId`.
    ///
    /// - parameters:
    ///     - name: The name of the relation. Without `table`, it is the name of the
    ///       other table, or its singular.
    ///     - table: The other table.
    ///     - deleteAction: What happens when the other row is deleted.
    ///     - updateAction: What happens when the other row gets another key.
    ///     - isDeferred: Whether the other row must be there at the end of the
    ///       transaction only.
    ///     - indexed: Whether there is an index on the columns.
    /// - returns: The foreign key, which takes constraints.
    @discardableResult
    public func belongsTo(
        _ name: String, inTable table: String? = nil,
        onDelete deleteAction: Database.ForeignKeyAction? = nil,
        onUpdate updateAction: Database.ForeignKeyAction? = nil, deferred isDeferred: Bool = false,
        indexed: Bool = true
    ) -> ForeignKeyDefinition {
        let key = ForeignKeyDefinition(
            name: name, table: table,
            options: ForeignKeyOptions(
                deleteAction: deleteAction, updateAction: updateAction, isDeferred: isDeferred),
            isIndexed: indexed)
        items.append((.foreignKey(key), isInPrimaryKeyClause))
        return key
    }

    // MARK: Constraints

    /// Refuses rows whose values in some columns another row has.
    ///
    /// - parameters:
    ///     - columns: The names of columns of the table.
    ///     - conflict: What happens when another row has the values.
    public func uniqueKey(_ columns: [String], onConflict conflict: Database.ConflictResolution = .abort) {
        uniqueKeys.append(TableConstraint.UniqueKey(columns: columns, conflict: conflict))
    }

    /// Makes columns refer to a row of another table.
    ///
    /// - parameters:
    ///     - columns: The names of columns of the table.
    ///     - table: The other table.
    ///     - destination: Columns of the other table; its primary key when nil.
    ///     - deleteAction: What happens when the other row is deleted.
    ///     - updateAction: What happens when the other row gets another key.
    ///     - isDeferred: Whether the other row must be there at the end of the
    ///       transaction only.
    public func foreignKey(
        _ columns: [String], references table: String, columns destination: [String]? = nil,
        onDelete deleteAction: Database.ForeignKeyAction? = nil,
        onUpdate updateAction: Database.ForeignKeyAction? = nil, deferred isDeferred: Bool = false
    ) {
        foreignKeys.append(
            TableConstraint.ForeignKey(
                columns: columns, table: table, destination: destination,
                options: ForeignKeyOptions(
                    deleteAction: deleteAction, updateAction: updateAction, isDeferred: isDeferred)))
    }

    /// Refuses rows for which a condition is false.
    ///
    /// - parameter sql: The SQL of the condition.
    public func check(sql: String) {
        addCheck { _ in sql }
    }

    func addCheck(_ fragment: @escaping ColumnDefinition.Fragment) { checks.append(fragment) }

    /// Adds a constraint.
    ///
    /// - parameter sql: The SQL of the constraint.
    public func constraint(sql: String) {
        addConstraint { _ in sql }
    }

    func addConstraint(_ fragment: @escaping ColumnDefinition.Fragment) { literals.append(fragment) }

    // MARK: SQL

    /// The statement that creates the table, and those that create its indexes.
    func statements(_ db: Database) throws -> [String] {
        if options.contains(.strict) { try db.requireStrictTables() }
        var context = TableContext(table: name, key: [], isIncomplete: true)
        // The key's own columns first: others may refer to them.
        let keyed = try items.map { try $0.isInPrimaryKey ? parts($0.item, db, context, true) : nil }
        let key = primaryKey(keyed.compactMap { $0 })
        context = TableContext(table: name, key: key)
        let all = try zip(items, keyed).map { try $1 ?? parts($0.item, db, context, false) }
        var lines: [String] = []
        for (item, part) in zip(items, all) {
            lines +=
                try part.literal.map { [$0] }
                ?? part.columns.map { try $0.sql(db, in: context, isInPrimaryKey: item.isInPrimaryKey) }
        }
        if hasPrimaryKeyClause {
            let clause =
                ["PRIMARY KEY (\(key.map(\.name).quotedList))"] + primaryKeyConflict.constraintClauses
            lines.append(clause.joined(separator: " "))
        }
        lines += uniqueKeys.map(\.sql)
        lines += try (foreignKeys + all.compactMap(\.constraint)).map { try $0.sql(db, in: context) }
        lines += try checks.map { "CHECK (\(try $0(db)))" }
        lines += try literals.map { try $0(db) }
        return [createStatement(lines)] + all.flatMap { indexStatements($0) }
    }

    /// What an item of the table's body stands for.
    private struct Part {
        var literal: String?
        var columns: [ColumnDefinition] = []
        var constraint: TableConstraint.ForeignKey?
        var index: (columns: [String], isUnique: Bool)?
    }

    private func parts(
        _ item: Item, _ db: Database, _ context: TableContext, _ isInPrimaryKey: Bool
    ) throws -> Part {
        switch item {
        case .column(let column): return Part(columns: [column])
        case .literal(let fragment): return Part(literal: try fragment(db))
        case .foreignKey(let key):
            let parts = try key.parts(db, in: context, isInPrimaryKey: isInPrimaryKey)
            return Part(columns: parts.columns, constraint: parts.constraint, index: parts.index)
        }
    }

    /// The columns of the primary key; none for a hidden rowid.
    private func primaryKey(_ keyed: [Part]) -> TableContext.Key {
        let columns = items.compactMap { item in
            if case .column(let column) = item.item { column } else { nil }
        }
        if let primaryKeyColumns {
            return primaryKeyColumns.map { name in
                (name, columns.first { $0.name.isSameIdentifier(as: name) }?.type)
            }
        }
        if hasPrimaryKeyClause { return keyed.flatMap(\.columns).map { ($0.name, $0.type) } }
        return columns.filter { $0.primaryKey != nil }.map { ($0.name, $0.type) }
    }

    private func createStatement(_ lines: [String]) -> String {
        var sql = "CREATE"
        if options.contains(.temporary) { sql += " TEMPORARY" }
        sql += " TABLE"
        if options.contains(.ifNotExists) { sql += " IF NOT EXISTS" }
        sql += " \(name.quotedDatabaseIdentifier) (\(lines.joined(separator: ", ")))"
        let suffixes = [(TableOptions.strict, "STRICT"), (.withoutRowID, "WITHOUT ROWID")]
        let clauses = suffixes.filter { options.contains($0.0) }.map(\.1)
        return clauses.isEmpty ? sql : sql + " " + clauses.joined(separator: ", ")
    }

    private func indexStatements(_ part: Part) -> [String] {
        var options: IndexOptions = self.options.contains(.ifNotExists) ? [.ifNotExists] : []
        if let index = part.index {
            if index.isUnique { options.insert(.unique) }
            return [IndexDefinition(on: name, columns: index.columns, options: options).sql]
        }
        return part.columns.compactMap { column in
            guard case .plain = column.index else { return nil }
            return IndexDefinition(
                name: "\(name)_on_\(column.name)", on: name, columns: [column.name], options: options
            ).sql
        }
    }
}

@available(*, unavailable)
extension TableDefinition: Sendable {}
