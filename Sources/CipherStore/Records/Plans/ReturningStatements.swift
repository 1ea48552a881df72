// Writing a record and reading what was written: by RETURNING where the engine
// has it, else by reading the row after it was written, in one savepoint.

/// What is read after a record was written.
struct Returning<Value> {
    /// What is selected.
    let selection: [any SQLSelectable]
    /// Reads the result of a statement that selects it.
    let fetch: (Statement) throws -> Value

    init(_ selection: [any SQLSelectable], _ fetch: @escaping (Statement) throws -> Value) {
        self.selection = selection
        self.fetch = fetch
    }
}

extension RecordPlan {
    /// The SQL of a selection of the table's columns, and its arguments.
    func selection(_ db: Database, _ selection: [any SQLSelectable]) throws -> WrittenSelection {
        let writer = SQLWriter(db)
        try withTable(writer) {
            try writer.appendJoined(selection) { try $0.sqlSelection.write(to: writer) }
        }
        return WrittenSelection(sql: writer.sql.withCommentEnded, arguments: writer.arguments)
    }

    /// Writes with bare columns belonging to the table.
    func withTable(
        _ writer: SQLWriter, isQualified: Bool = false, _ body: () throws -> Void
    ) rethrows {
        let source = SQLWriter.Source(
            qualifier: tableName, tableName: tableName, isQualified: isQualified, hasOnlyColumns: true)
        try writer.withFrame([], scope: source, body)
    }

    /// Runs a statement with a `RETURNING` clause.
    func run<Value>(
        _ db: Database, _ sql: String, _ arguments: [DatabaseValue], _ returning: Returning<Value>
    ) throws -> Value {
        let selection = try selection(db, returning.selection)
        let statement = try db.makeStatement(sql: "\(sql) RETURNING \(selection.sql)")
        var all = selection.arguments
        all.values = arguments + all.values
        try statement.setArguments(all)
        let value: Value
        do {
            value = try returning.fetch(statement)
        } catch {
            statement.reset()
            throw error
        }
        // SQLite checks constraints and counts the changes when the statement is done.
        try statement.finish()
        return value
    }

    /// Reads a row that was written, or no row.
    func read<Value>(_ db: Database, _ row: RowKey?, _ returning: Returning<Value>) throws -> Value {
        let selection = try selection(db, returning.selection)
        let condition = row?.condition ?? "0"
        let statement = try db.makeStatement(
            sql: "SELECT \(selection.sql) FROM \(tableName.quotedDatabaseIdentifier) WHERE \(condition)")
        var all = selection.arguments
        all.values += row?.values ?? []
        try statement.setArguments(all)
        return try returning.fetch(statement)
    }

    /// What finds a row that was inserted.
    func rowKey(_ db: Database, inserted container: PersistenceContainer) throws -> RowKey {
        let columns = try rowColumns()
        let values = rowIDName == nil ? key(of: container) : [db.lastInsertedRowID.databaseValue]
        return RowKey(columns: columns, values: values)
    }
}

/// The SQL of a selection, and its arguments.
struct WrittenSelection {
    let sql: String
    let arguments: StatementArguments
}

/// What finds a row.
struct RowKey {
    let condition: String
    let values: [DatabaseValue]
}

extension RowKey {
    init(columns: [String], values: [DatabaseValue]) {
        self.init(
            condition: columns.map { "\($0.quotedDatabaseIdentifier)=?" }.joined(separator: " AND "),
            values: values)
    }
}

extension Database {
    /// Whether the last statement changed rows of a table, or those that the
    /// triggers of a view stand for.
    ///
    /// - parameter total: The number of changes before the statement.
    func hasChangedRows(of table: String, since total: Int) throws -> Bool {
        let counts = changeCounts
        if counts.changes > 0 { return true }
        return try counts.totalChanges != total && viewExists(table)
    }

    /// Runs a function in a savepoint, which its error undoes.
    func inSavepoint<Value>(returning body: () throws -> Value) throws -> Value {
        var value: Value?
        try inSavepoint {
            value = try body()
            return .commit
        }
        guard let value else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
        return value
    }
}

extension MutablePersistableRecord {
    /// Inserts the record, and reads what was inserted.
    func insertWithoutCallbacks<Value>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution?,
        _ returning: Returning<Value>
    ) throws -> (InsertionSuccess, Value) {
        let type = type(of: self)
        let plan = try db.recordPlans.plan(db, for: type)
        if db.recordPlans.emulatesReturning {
            return try insertAndRead(db, plan, onConflict: conflictResolution, returning)
        }
        var container = try plan.encode(self)
        let conflict = conflictResolution ?? type.persistenceConflictPolicy.conflictResolutionForInsert
        let insertion = try plan.insertion(db, of: &container, conflict)
        // Without its key, a row of a view can't be found.
        if try plan.isView(db), plan.hasKey(container) {
            return try insertAndRead(db, plan, onConflict: conflictResolution, returning)
        }
        db.forgetChangeCounts()
        let value = try plan.run(db, insertion.statement.sql, container.values, returning)
        let success = InsertionSuccess(
            rowID: db.writtenRowID, rowIDColumn: plan.primaryKey.rowIDColumn,
            persistenceContainer: container)
        return (success, value)
    }

    /// Inserts the record, and reads its row by another statement.
    private func insertAndRead<Value>(
        _ db: Database, _ plan: RecordPlan, onConflict conflictResolution: Database.ConflictResolution?,
        _ returning: Returning<Value>
    ) throws -> (InsertionSuccess, Value) {
        try db.inSavepoint {
            let total = db.beginCountingChanges()
            let success = try insertWithoutCallbacks(db, onConflict: conflictResolution)
            let isInserted = try db.hasChangedRows(of: plan.tableName, since: total)
            let row = try isInserted ? plan.rowKey(db, inserted: success.persistenceContainer) : nil
            return (success, try plan.read(db, row, returning))
        }
    }

    /// Updates between the callbacks of updates, and reads what was updated.
    func updateWithCallbacks<Value>(
        _ db: Database, _ conflictResolution: Database.ConflictResolution?, columns: Set<String>?,
        _ returning: Returning<Value>
    ) throws -> (PersistenceSuccess, Value) {
        var value: Value?
        let success = try updating(db, columns: columns) { plan, container in
            value = try plan.run(db, container, columns, conflict(conflictResolution), returning)
        }
        guard let value else { throw Self.missingCall("aroundUpdate", "update") }
        return (success, value)
    }

    /// Inserts between the callbacks of insertions, and reads what was inserted.
    mutating func insertWithCallbacks<Value>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution?,
        _ returning: Returning<Value>
    ) throws -> (InsertionSuccess, Value) {
        var value: Value?
        let success = try inserting(db) { record in
            let (success, read) = try record.insertWithoutCallbacks(
                db, onConflict: conflictResolution, returning)
            value = read
            return success
        }
        guard let value else { throw Self.missingCall("aroundInsert", "insert") }
        return (success, value)
    }

    /// Saves between the callbacks that all kinds of saving have, and returns what was read.
    mutating func savingAndFetching<Value>(
        _ db: Database, _ save: (inout Self) throws -> (PersistenceSuccess, Value)
    ) throws -> Value {
        var value: Value?
        try saving(db) { record in
            let (success, read) = try save(&record)
            value = read
            return success
        }
        guard let value else { throw Self.missingCall("aroundSave", "save") }
        return value
    }

    /// The error for a row that was not written, because a conflict was ignored.
    func notWritten(_ db: Database) throws -> RecordError {
        let plan = try db.recordPlans.plan(db, for: type(of: self))
        return plan.recordNotFound(try plan.encode(self))
    }
}

extension RecordPlan {
    /// Whether records are written to a view.
    ///
    /// RETURNING gives the new values that its triggers get, whatever these write, and NULL in place
    /// of others.
    fileprivate func isView(_ db: Database) throws -> Bool {
        try !primaryKey.tableHasRowID && db.viewExists(tableName)
    }

    /// Updates a row, and reads it.
    fileprivate func run<Value>(
        _ db: Database, _ container: PersistenceContainer, _ columns: Set<String>?,
        _ conflict: Database.ConflictResolution, _ returning: Returning<Value>
    ) throws -> Value {
        guard let update = try update(db, of: container, columns: columns, conflict) else {
            throw recordNotFound(container)
        }
        if try db.recordPlans.emulatesReturning || isView(db) {
            return try db.inSavepoint {
                let total = db.beginCountingChanges()
                try update.statement.execute(arguments: StatementArguments(update.arguments))
                if try !db.hasChangedRows(of: tableName, since: total) { throw recordNotFound(container) }
                return try read(db, RowKey(condition: keyCondition, values: key(of: container)), returning)
            }
        }
        db.forgetChangeCounts()
        let value = try run(db, update.statement.sql, update.arguments, returning)
        if db.changeCounts.changes == 0 { throw recordNotFound(container) }
        return value
    }
}
