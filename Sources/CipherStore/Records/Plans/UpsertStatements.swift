import Foundation

// Inserting a record, or updating the row that is in its way: by ON CONFLICT
// where the engine has what is needed of it, else by several statements in one
// savepoint.

/// Which columns an upsert overwrites when there is a row in the way.
public enum UpsertUpdateStrategy: Sendable {
    /// All columns that the record sets, but the primary key, the conflict
    /// target, and those that are assigned otherwise.
    case allColumns
    /// Only the columns that are assigned.
    case noColumnUnlessSpecified
}

/// How an upsert changes the row in its way.
struct Upsert {
    /// The columns of the one unique key that matters; none for all keys.
    var conflictTarget: [String] = []
    var strategy = UpsertUpdateStrategy.allColumns
    var assignments: [ColumnAssignment] = []

    /// What is overwritten with the inserted values, and what is assigned.
    func changes(
        _ plan: RecordPlan, written: [String]
    ) -> (assigned: [ColumnAssignment], overwritten: [String]) {
        let assigned = assignments.filter { $0.value != nil }
        guard strategy == .allColumns else { return (assigned, []) }
        let kept = plan.primaryKey.columns + conflictTarget + assignments.map(\.column)
        let overwritten = written.filter { column in !kept.contains { $0.isSameName(as: column) } }
        return (assigned, overwritten)
    }
}

extension MutablePersistableRecord {
    /// Upserts the record.
    ///
    /// - parameter returning: What is read of the row. Its function gets the
    ///   row, followed by the rowid if the table has one.
    func upsertWithoutCallbacks<Value>(
        _ db: Database, _ upsert: Upsert, selection: [any SQLSelectable], _ decode: (Row) throws -> Value
    ) throws -> (InsertionSuccess, Value) {
        let plan = try db.recordPlans.plan(db, for: type(of: self))
        var container = try plan.encode(self)
        let insertion = try plan.insertion(db, of: &container, .abort)
        var all = selection
        if plan.primaryKey.tableHasRowID {
            all.append(Column.rowID)
        } else if all.isEmpty {
            all = plan.primaryKey.columns.map { Column($0) }
        }
        let row: Row?
        if db.recordPlans.emulatesReturning {
            row = try db.inSavepoint {
                try plan.emulate(db, upsert, container, insertion.writtenColumns, all)
            }
        } else {
            row = try plan.run(db, upsert, container, insertion.writtenColumns, all)
        }
        guard let row else { throw plan.recordNotFound(container) }
        let rowID =
            plan.primaryKey.tableHasRowID
            ? try row.decode(Int64.self, atIndex: row.count - 1) : db.lastInsertedRowID
        let success = InsertionSuccess(
            rowID: rowID, rowIDColumn: plan.primaryKey.rowIDColumn, persistenceContainer: container)
        return (success, try decode(row))
    }
}

extension RecordPlan {
    /// Upserts with the engine's `ON CONFLICT` and `RETURNING`.
    fileprivate func run(
        _ db: Database, _ upsert: Upsert, _ container: PersistenceContainer, _ written: [String],
        _ selection: [any SQLSelectable]
    ) throws -> Row? {
        let writer = SQLWriter(db)
        writer.append(" ON CONFLICT")
        if !upsert.conflictTarget.isEmpty {
            writer.append("(")
            writer.appendJoined(upsert.conflictTarget, separator: ", ") { writer.appendQuoted($0) }
            writer.append(")")
        }
        writer.append(" DO UPDATE SET ")
        try withTable(writer) { try writeChanges(of: upsert, written, to: writer) }
        var arguments = writer.arguments
        arguments.values = container.values + arguments.values
        let sql = insertSQL(written, .abort) + writer.sql
        let chosen = try self.selection(db, selection)
        let statement = try db.makeStatement(sql: "\(sql) RETURNING \(chosen.sql)")
        arguments.values += chosen.arguments.values
        return try Row.fetchOne(statement, arguments: arguments)
    }

    private func writeChanges(of upsert: Upsert, _ written: [String], to writer: SQLWriter) throws {
        let (assigned, overwritten) = upsert.changes(self, written: written)
        try writer.appendJoined(assigned, separator: ", ") { try $0.write(to: writer) }
        if !assigned.isEmpty && !overwritten.isEmpty { writer.append(", ") }
        writer.appendJoined(overwritten, separator: ", ") { column in
            writer.appendQuoted(column)
            writer.append(" = \"excluded\".")
            writer.appendQuoted(column)
        }
        guard assigned.isEmpty && overwritten.isEmpty else { return }
        // An update that changes nothing still returns the row.
        let column = unchangedColumn(upsert).quotedDatabaseIdentifier
        writer.append("\(column) = \(column)")
    }

    private func unchangedColumn(_ upsert: Upsert) -> String {
        upsert.conflictTarget.first ?? primaryKey.columns.first ?? "rowid"
    }
}

// MARK: - Emulation

extension RecordPlan {
    /// Upserts with statements that each engine has.
    ///
    /// SQLite looks at the conflict target first, or at the keys in its own
    /// order, which the error of a plain `INSERT` tells.
    fileprivate func emulate(
        _ db: Database, _ upsert: Upsert, _ container: PersistenceContainer, _ written: [String],
        _ selection: [any SQLSelectable]
    ) throws -> Row? {
        try checkTarget(db, upsert.conflictTarget)
        let values = ExcludedValues(names: written, values: container.values, plan: self)
        var row = upsert.conflictTarget.isEmpty ? nil : try find(db, upsert.conflictTarget, values)
        if row == nil {
            do {
                // The table's own conflict clauses don't count.
                let sql = insertSQL(written, .abort).replacingPrefix("INSERT", with: "INSERT OR ABORT")
                try db.makeStatement(sql: sql).execute(arguments: StatementArguments(container.values))
                return try read(
                    db, rowKey(db, inserted: container), Returning(selection) { try Row.fetchOne($0) })
            } catch let error as DatabaseError
                where error.isUniquenessViolation && upsert.conflictTarget.isEmpty
            {
                row = try conflictingRow(db, error, values)
                if row == nil { throw error }
            }
        }
        guard let row else { return nil }
        try change(db, row, upsert, values)
        return try read(db, row, Returning(selection) { try Row.fetchOne($0) })
    }

    private func checkTarget(_ db: Database, _ target: [String]) throws {
        guard !target.isEmpty, try db.columns(forUniqueKey: target, in: tableName) == nil else { return }
        throw DatabaseError(
            resultCode: .SQLITE_ERROR,
            message: "ON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint")
    }

    /// Finds the row that a plain insertion failed for.
    private func conflictingRow(
        _ db: Database, _ error: DatabaseError, _ values: ExcludedValues
    ) throws -> RowKey? {
        var keys = [primaryKey.columns]
        keys += try db.indexes(on: tableName).filter(\.isUnique).map(\.columns)
        if let named = error.columns(of: tableName) {
            // The key that the error names comes first.
            keys.sort { first, second in
                Set(first.map { $0.foldedIdentifier }) == named
                    && Set(second.map { $0.foldedIdentifier }) != named
            }
        }
        for key in keys {
            if let row = try find(db, key, values) { return row }
        }
        return nil
    }

    /// Finds the row that has the inserted values in some columns.
    private func find(_ db: Database, _ columns: [String], _ values: ExcludedValues) throws -> RowKey? {
        let key = primaryKey.tableHasRowID ? ["rowid"] : primaryKey.columns
        var arguments: [DatabaseValue] = []
        var conditions: [String] = []
        for column in columns {
            let value = try values.sql(db, of: column)
            conditions.append("\(column.quotedDatabaseIdentifier) = \(value.sql)")
            arguments += value.arguments
        }
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT \(key.map(\.quotedDatabaseIdentifier).joined(separator: ", ")) \
                FROM \(tableName.quotedDatabaseIdentifier) WHERE \(conditions.joined(separator: " AND "))
                """,
            arguments: StatementArguments(arguments))
        return row.map { row in
            RowKey(
                condition: primaryKey.tableHasRowID ? "rowid=?" : keyCondition, values: row.databaseValues)
        }
    }

    /// Changes the row that is in the way.
    private func change(_ db: Database, _ row: RowKey, _ upsert: Upsert, _ values: ExcludedValues) throws {
        let (assigned, overwritten) = upsert.changes(self, written: values.names)
        var clauses: [String] = []
        var arguments: [DatabaseValue] = []
        for assignment in assigned {
            let value = try values.sql(db, assignment)
            clauses.append("\(assignment.column.quotedDatabaseIdentifier) = \(value.sql)")
            arguments += value.arguments
        }
        for column in overwritten {
            let value = try values.sql(db, of: column)
            clauses.append("\(column.quotedDatabaseIdentifier) = \(value.sql)")
            arguments += value.arguments
        }
        if clauses.isEmpty {
            let column = unchangedColumn(upsert).quotedDatabaseIdentifier
            clauses = ["\(column) = \(column)"]
        }
        try db.makeStatement(
            sql: """
                UPDATE \(tableName.quotedDatabaseIdentifier) SET \(clauses.joined(separator: ", ")) \
                WHERE \(row.condition)
                """
        ).execute(arguments: StatementArguments(arguments + row.values))
    }
}

/// The values of the row that could not be inserted.
private struct ExcludedValues {
    let names: [String]
    let values: [DatabaseValue]
    let plan: RecordPlan

    /// The value of a column: what the record sets, or the column's default.
    func sql(_ db: Database, of column: String) throws -> (sql: String, arguments: [DatabaseValue]) {
        if let index = names.firstIndex(where: { $0.isSameName(as: column) }) {
            return ("?", [values[index]])
        }
        let info = try db.columns(in: plan.tableName).first { $0.name.isSameName(as: column) }
        return (info?.defaultValueSQL.map { "(\($0))" } ?? "NULL", [])
    }

    /// The value of an assignment.
    ///
    /// A value that refers to the row that could not be inserted is computed in
    /// a subquery that has that row under its name. There the table's own
    /// columns are qualified, because the names of the other row are nearer.
    func sql(
        _ db: Database, _ assignment: ColumnAssignment
    ) throws -> (sql: String, arguments: [DatabaseValue]) {
        let plain = try write(db, assignment, isQualified: false)
        let text = plain.sql.foldedIdentifier
        let columns = try db.columns(in: plan.tableName).map(\.name)
        let used = columns.filter { column in
            let quoted = column.quotedDatabaseIdentifier.foldedIdentifier
            return ["\"excluded\".\(quoted)", "excluded.\(quoted)", "excluded.\(column.foldedIdentifier)"]
                .contains { text.contains($0) }
        }
        if used.isEmpty { return plain }
        let value = try write(db, assignment, isQualified: true)
        var row: [String] = []
        var arguments = value.arguments
        for column in used {
            let excluded = try sql(db, of: column)
            row.append("\(excluded.sql) AS \(column.quotedDatabaseIdentifier)")
            arguments += excluded.arguments
        }
        return (
            "(SELECT \(value.sql) FROM (SELECT \(row.joined(separator: ", "))) AS \"excluded\")", arguments
        )
    }

    private func write(
        _ db: Database, _ assignment: ColumnAssignment, isQualified: Bool
    ) throws -> (sql: String, arguments: [DatabaseValue]) {
        let writer = SQLWriter(db)
        try plan.withTable(writer, isQualified: isQualified) { try assignment.value?.write(to: writer) }
        guard writer.arguments.namedValues.isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "an upsert can't have named arguments with this engine")
        }
        return (writer.sql, writer.arguments.values)
    }
}

extension DatabaseError {
    /// Whether a row is in the way of another.
    fileprivate var isUniquenessViolation: Bool {
        [.SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID]
            .contains(extendedResultCode)
    }

    /// The columns that a violation of uniqueness names, in lower case, or nil
    /// when it names none.
    ///
    /// SQLite's message is `UNIQUE constraint failed: table.column, table.column`.
    fileprivate func columns(of table: String) -> Set<String>? {
        let prefix = "UNIQUE constraint failed: "
        guard let message, message.hasPrefix(prefix) else { return nil }
        let names = message.dropFirst(prefix.count).components(separatedBy: ", ")
        let qualifier = table.foldedIdentifier + "."
        guard names.allSatisfy({ $0.foldedIdentifier.hasPrefix(qualifier) }) else { return nil }
        return Set(names.map { String($0.foldedIdentifier.dropFirst(qualifier.count)) })
    }
}

extension String {
    fileprivate func replacingPrefix(_ prefix: String, with other: String) -> String {
        hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
    }
}
