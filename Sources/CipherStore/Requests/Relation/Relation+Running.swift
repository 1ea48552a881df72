// Running changes, and fetching the rows that they change.

extension Relation {
    /// Changes the rows, and returns how many there were.
    func run(_ change: Change, _ db: Database) throws -> Int {
        let writer = SQLWriter(db)
        try writeChange(change, to: writer)
        // The text may be one of many, with a list of values in it.
        let total = try db.withStatement(sql: writer.sql) { statement in
            let total = db.beginCountingChanges()
            try statement.execute(arguments: writer.arguments)
            return total
        }
        let counts = db.changeCounts
        // SQLite counts no rows of a view, but those that its triggers changed.
        if counts.changes == 0, counts.totalChanges != total, try db.viewExists(requireTable()) {
            return counts.totalChanges - total
        }
        return counts.changes
    }

    /// Returns the statement that changes rows and returns them.
    ///
    /// - throws: A ``DatabaseError``, also when the engine has no RETURNING clause.
    func statement(
        _ change: Change, _ db: Database, returning selection: [SQLSelection]
    ) throws -> Statement {
        guard EngineFeatures.current.supportsReturning else {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR,
                message: """
                    statements that change rows and return them need the RETURNING clause of SQLite 3.35; \
                    fetch an array, a set or a cursor instead
                    """)
        }
        let writer = SQLWriter(db)
        try writeChange(change, returning: selection, to: writer)
        return try db.makeStatement(sql: writer.sql, arguments: writer.arguments)
    }

    /// Returns a statement that gives the rows that are changed.
    ///
    /// Without RETURNING, all rows are changed before it is returned, and wait in a temporary table.
    func cursorStatement(
        _ change: Change, _ db: Database, returning selection: [SQLSelection]
    ) throws -> Statement {
        if try returnsRows(change, db) { return try statement(change, db, returning: selection) }
        let table = db.changedRowsTables.newName()
        try run(change, db, returning: selection) { rows in
            try db.execute(sql: "CREATE TEMP TABLE \(table) AS \(rows.sql)", arguments: rows.arguments)
        }
        let statement = try db.makeStatement(sql: "SELECT * FROM temp.\(table)")
        db.keepChangedRows(table, for: statement)
        return statement
    }

    /// Changes rows and fetches them, as they were before a deletion or as they
    /// are after an update.
    ///
    /// - parameter fetch: Reads all the rows of a statement.
    func run<Result>(
        _ change: Change, _ db: Database, returning selection: [SQLSelection],
        _ fetch: (Statement) throws -> Result
    ) throws -> Result {
        if try returnsRows(change, db) { return try fetch(statement(change, db, returning: selection)) }
        try db.dropChangedRows()
        var result: Result?
        try db.inSavepoint {
            switch change {
            case .delete:
                result = try fetchAndDelete(db, returning: selection, fetch)
            case .update(let assignments, _):
                try requireUnchangedKey(assignments, db)
                result = try withChangedKeys(db) { changed, _ in
                    try fetch(changed.update(change, db).selecting(selection).selectStatement(db))
                }
            }
            return .commit
        }
        guard let result else { throw DatabaseError(resultCode: .SQLITE_ABORT) }
        return result
    }

    /// Whether a change can itself return the rows as they are afterwards.
    ///
    /// Of a view, RETURNING gives the new values that its triggers get, whatever these write.
    private func returnsRows(_ change: Change, _ db: Database) throws -> Bool {
        guard EngineFeatures.current.supportsReturning else { return false }
        guard case .update(let assignments, _) = change, let view = source.tableName,
            try db.viewExists(view), let key = try db.existingPrimaryKey(of: view)
        else { return true }
        // Rows whose key changes can't be found again.
        return assignments.contains { assignment in
            key.columns.contains { $0.isSameName(as: assignment.column) }
        }
    }

    /// Runs a block with the rows of the relation as they are now, whatever the
    /// block does to the columns by which they are filtered.
    ///
    /// - parameter body: Gets the rows, and the name of the table that has their keys.
    private func withChangedKeys<Result>(
        _ db: Database, _ body: (_ rows: Relation, _ keys: String) throws -> Result
    ) throws -> Result {
        let table = try requireTable()
        let keys = db.changedRowsTables.newName()
        let writer = SQLWriter(db)
        writer.append("CREATE TEMP TABLE \(keys) AS ")
        try changedRows(selecting: [.fastPrimaryKey(of: table)], db).writeSelect(to: writer)
        try db.execute(sql: writer.sql, arguments: writer.arguments)
        var changed = Relation(source: source)
        changed.filters = [SQLExpression(.isIn(.fastPrimaryKey, .table(keys), isNegated: false))]
        let result = try body(changed, keys)
        // After an error, the savepoint takes the table away.
        db.keepChangedRows(keys, for: nil)
        try db.dropChangedRows()
        return result
    }

    private func requireUnchangedKey(_ assignments: [ColumnAssignment], _ db: Database) throws {
        let key = try db.fastPrimaryKeyColumns(of: requireTable())
        let isChanged = assignments.contains { assignment in
            key.contains { $0.isSameName(as: assignment.column) }
        }
        guard !isChanged else {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR,
                message: "to fetch rows whose primary key is updated needs SQLite 3.35")
        }
    }

    private func selecting(_ selection: [SQLSelection]) -> Relation {
        var relation = self
        relation.selection = selection
        return relation
    }

    private func selectStatement(_ db: Database) throws -> Statement {
        let writer = SQLWriter(db)
        try writeSelect(to: writer)
        return try db.makeStatement(sql: writer.sql, arguments: writer.arguments)
    }
}

// Rows that a change leaves as they are, although it is about them.
extension Relation {
    /// Whether a conflict or a trigger can tell SQLite to leave rows alone.
    private func canIgnoreRows(_ change: Change, _ db: Database) throws -> Bool {
        let table = try requireTable()
        // No trigger of ours can tell what becomes of their rows.
        if try !db.tableExists(table) || db.isVirtualTable(table) { return false }
        if case .update(_, .ignore) = change { return true }
        return try ([.temp] + db.schemaIDs()).contains { schemaID in
            try Bool.fetchOne(
                db,
                sql: """
                    SELECT EXISTS(SELECT 1 FROM \(schemaID.masterTable) WHERE tbl_name = ? COLLATE NOCASE
                        AND instr(lower(sql), 'ignore') AND NOT (\(SyncNames.condition())))
                    """, arguments: [table]) ?? false
        }
    }

    /// Updates the rows.
    ///
    /// - returns: Those that were updated.
    private func update(_ change: Change, _ db: Database) throws -> Relation {
        guard try canIgnoreRows(change, db) else {
            _ = try run(change, db)
            return self
        }
        let table = try requireTable()
        let columns = try db.fastPrimaryKeyColumns(of: table).map { "NEW.\($0.quotedDatabaseIdentifier)" }
            .joined(separator: ", ")
        var updated = self
        let keys = try updated.filterByNewKeys(isNegated: false, db)
        let trigger = db.changedRowsTables.newName()
        try db.execute(
            sql: """
                CREATE TEMP TRIGGER \(trigger) AFTER UPDATE ON \(table.quotedDatabaseIdentifier)
                WHEN (\(columns)) NOT IN \(keys) BEGIN INSERT INTO \(keys) VALUES (\(columns)); END
                """)
        _ = try run(change, db)
        try db.execute(sql: "DROP TRIGGER temp.\(trigger)")
        db.keepChangedRows(keys, for: nil)
        return updated
    }

    /// Fetches the rows that are deleted then.
    private func fetchAndDelete<Result>(
        _ db: Database, returning selection: [SQLSelection], _ fetch: (Statement) throws -> Result
    ) throws -> Result {
        let canIgnore = try canIgnoreRows(.delete, db)
        guard limit != nil || canIgnore else {
            let result = try fetch(changedRows(selecting: selection, db).selectStatement(db))
            _ = try run(.delete, db)
            return result
        }
        // Run twice, a limited query may give other rows the second time.
        return try withChangedKeys(db) { changed, keys in
            var result: Result?
            var ignored: [Row] = []
            try db.inSavepoint {
                result = try fetch(changed.selecting(selection).selectStatement(db))
                let count = try changed.run(.delete, db)
                guard try canIgnore && Int.fetchOne(db, sql: "SELECT COUNT(*) FROM temp.\(keys)") != count
                else {
                    return .commit
                }
                let key = SQLSelection.fastPrimaryKey(of: try requireTable())
                ignored = try Row.fetchAll(changed.selecting([key]).selectStatement(db))
                // What was deleted has to be fetched before.
                return ignored.isEmpty ? .commit : .rollback
            }
            if let result, ignored.isEmpty { return result }
            var deleted = changed
            let table = try deleted.filterByNewKeys(isNegated: true, db)
            for key in ignored {
                let marks = repeatElement("?", count: key.count).joined(separator: ", ")
                try db.execute(
                    sql: "INSERT INTO temp.\(table) VALUES (\(marks))",
                    arguments: StatementArguments(Array(key.databaseValues)))
            }
            let fetched = try fetch(deleted.selecting(selection).selectStatement(db))
            _ = try changed.run(.delete, db)
            db.keepChangedRows(table, for: nil)
            return fetched
        }
    }

    /// Makes a table for keys, which the rows must have, or must not have.
    ///
    /// - returns: Its name.
    private mutating func filterByNewKeys(isNegated: Bool, _ db: Database) throws -> String {
        let name = db.changedRowsTables.newName()
        let columns = try db.fastPrimaryKeyColumns(of: requireTable()).indices.map { "k\($0)" }
            .joined(separator: ", ")
        // SQLite tells observers nothing of tables without rowids.
        try db.execute(
            sql: "CREATE TEMP TABLE \(name) (\(columns), PRIMARY KEY (\(columns))) WITHOUT ROWID")
        filters.append(SQLExpression(.isIn(.fastPrimaryKey, .table(name), isNegated: isNegated)))
        return name
    }
}

extension Database {
    /// Prepares a statement with its arguments.
    func makeStatement(sql: String, arguments: StatementArguments) throws -> Statement {
        let statement = try makeStatement(sql: sql)
        try statement.setArguments(arguments)
        return statement
    }
}
