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
    enum Item {
        case column(ColumnDefinition)
        case foreignKey(ForeignKeyDefinition)
        case literal(ColumnDefinition.Fragment)
    }

    let name: String
    let options: TableOptions
    var items: [(item: Item, isInPrimaryKey: Bool)] = []
    var primaryKeyColumns: [String]?
    var primaryKeyConflict = Database.ConflictResolution.abort
    var hasPrimaryKeyClause = false
    var isInPrimaryKeyClause = false
    var uniqueKeys: [TableConstraint.UniqueKey] = []
    var foreignKeys: [TableConstraint.ForeignKey] = []
    var checks: [ColumnDefinition.Fragment] = []
    var literals: [ColumnDefinition.Fragment] = []

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
    ///     - conflict: What happens when a key is there already; the statement fails when nil.
    @discardableResult
    public func autoIncrementedPrimaryKey(
        _ name: String, onConflict conflict: Database.ConflictResolution? = nil
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
    ///     - conflict: What happens when a key is there already; the statement fails when nil.
    @discardableResult
    public func primaryKey(
        _ name: String, _ type: Database.ColumnType,
        onConflict conflict: Database.ConflictResolution? = nil
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
    ///     - conflict: What happens when a key is there already; the statement fails when nil.
    ///     - body: A closure that adds columns to the table.
    public func primaryKey(
        onConflict conflict: Database.ConflictResolution? = nil, body: () throws -> Void
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
    ///     - conflict: What happens when a key is there already; the statement fails when nil.
    public func primaryKey(_ columns: [String], onConflict conflict: Database.ConflictResolution? = nil) {
        claimPrimaryKeyClause(conflict)
        primaryKeyColumns = columns
    }

    private func claimPrimaryKeyClause(_ conflict: Database.ConflictResolution?) {
        precondition(!hasPrimaryKeyClause, "a table can't have two primary keys")
        hasPrimaryKeyClause = true
        primaryKeyConflict = conflict ?? .abort
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
    ///     - conflict: What happens when another row has the values; the statement fails when nil.
    public func uniqueKey(_ columns: [String], onConflict conflict: Database.ConflictResolution? = nil) {
        uniqueKeys.append(TableConstraint.UniqueKey(columns: columns, conflict: conflict ?? .abort))
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
}

@available(*, unavailable)
extension TableDefinition: Sendable {}
