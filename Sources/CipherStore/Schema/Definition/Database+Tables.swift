extension Database {
    // MARK: Tables

    /// Creates a table.
    ///
    /// ```swift
    /// try db.create(table: "place", options: [.ifNotExists]) { t in
    ///     t.autoIncrementedPrimaryKey("id")
    ///     t.column("title", .text).notNull()
    ///     t.column("favorite", .boolean).notNull().defaults(to: false)
    /// }
    /// ```
    ///
    /// - parameters:
    ///     - name: The name of the table.
    ///     - options: Options.
    ///     - body: A closure that defines columns and constraints.
    /// - throws: A ``DatabaseError``, also for what the library that runs does not
    ///   have (strict tables, generated columns); what `body` throws.
    public func create(
        table name: String, options: TableOptions = [], body: (TableDefinition) throws -> Void
    ) throws {
        let definition = TableDefinition(name: name, options: options)
        try body(definition)
        for statement in try definition.statements(self) { try execute(sql: statement) }
    }

    /// Creates a table.
    ///
    /// ``create(table:options:body:)`` is the newer form.
    @_disfavoredOverload
    public func create(
        table name: String, temporary: Bool = false, ifNotExists: Bool = false,
        withoutRowID: Bool = false, body: (TableDefinition) throws -> Void
    ) throws {
        var options: TableOptions = []
        if temporary { options.insert(.temporary) }
        if ifNotExists { options.insert(.ifNotExists) }
        if withoutRowID { options.insert(.withoutRowID) }
        try create(table: name, options: options, body: body)
    }

    /// Gives a table another name.
    ///
    /// Triggers, views and the foreign keys of other tables follow, on old
    /// versions of SQLite too, and whether foreign keys are on or off.
    ///
    /// - throws: A ``DatabaseError``.
    public func rename(table name: String, to newName: String) throws {
        try reporting(.rename(to: newName), of: name) {
            try TableRenaming(db: self, name: name, newName: newName).run()
        }
    }

    /// Adds, renames and drops columns of a table.
    ///
    /// ```swift
    /// try db.alter(table: "player") { t in
    ///     t.add(column: "url", .text)
    ///     t.rename(column: "points", to: "score")
    ///     t.drop(column: "nickname")
    /// }
    /// ```
    ///
    /// Where SQLite can't rename or drop columns (before 3.25 and 3.35) the
    /// library does it, in one savepoint: rows, rowids, indexes, triggers, views
    /// and foreign keys stay. What SQLite refuses is refused there too.
    ///
    /// - parameters:
    ///     - name: The name of the table.
    ///     - body: A closure that defines the changes.
    /// - throws: A ``DatabaseError``; what `body` throws.
    public func alter(table name: String, body: (TableAlteration) throws -> Void) throws {
        let alteration = TableAlteration(name: name)
        try body(alteration)
        try alteration.run(self)
    }

    /// Drops a table.
    ///
    /// Related SQLite documentation: <https://www.sqlite.org/lang_droptable.html>
    ///
    /// - throws: A ``DatabaseError``.
    public func drop(table name: String) throws {
        try reporting(.drop, of: name) { try execute(sql: "DROP TABLE \(name.quotedDatabaseIdentifier)") }
    }

    // MARK: Indexes

    /// Drops an index.
    ///
    /// - throws: A ``DatabaseError``.
    public func drop(index name: String) throws {
        try execute(sql: "DROP INDEX \(name.quotedDatabaseIdentifier)")
    }

    /// Drops the index on some columns of a table, if there is one.
    ///
    /// Indexes that belong to a constraint stay. All others on exactly these columns count, also those of some rows
    /// only (`WHERE`) and those that keep values unique.
    ///
    /// - parameters:
    ///     - table: The name of the table.
    ///     - columns: The names of the indexed columns, in order.
    /// - throws: A ``DatabaseError``, also when there is no such table, or several such indexes: then none of them is
    ///   dropped, and ``drop(index:)`` drops one by its name.
    public func drop(indexOn table: String, columns: [String]) throws {
        let indexes = try indexes(on: table).filter { index in
            index.origin == .createIndex
                && index.columns.map(\.foldedIdentifier) == columns.map(\.foldedIdentifier)
        }
        guard indexes.count <= 1 else {
            // One of them may be a rule, such as UNIQUE for some rows, that could not be made again.
            let names = indexes.map(\.name).sorted().joined(separator: ", ")
            throw DatabaseError(
                message: "several indexes on \(table)(\(columns.joined(separator: ", "))): \(names); "
                    + "drop the one that is meant by its name")
        }
        if let index = indexes.first { try drop(index: index.name) }
    }

    // MARK: Views

    /// Drops a view.
    ///
    /// - throws: A ``DatabaseError``.
    public func drop(view name: String) throws {
        try execute(sql: "DROP VIEW \(name.quotedDatabaseIdentifier)")
    }
}
