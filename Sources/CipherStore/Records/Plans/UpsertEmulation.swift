import Foundation

// Upserts where the engine has no ON CONFLICT, or no RETURNING.

extension RecordPlan {
    /// Upserts with statements that each engine has.
    ///
    /// SQLite looks at the conflict target first, or at the keys in its own
    /// order, which the error of a plain `INSERT` tells.
    func emulate(
        _ db: Database, _ upsert: Upsert, _ container: PersistenceContainer, _ written: [String],
        _ selection: [any SQLSelectable]
    ) throws -> Row? {
        try checkTarget(db, upsert.conflictTarget)
        let values = ExcludedValues(names: written, values: container.values, plan: self)
        var row = upsert.conflictTarget.isEmpty ? nil : try targetedRow(db, upsert.conflictTarget, values)
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
        let columns = error.columns(of: tableName)
        let index = error.violatedIndex
        let isNamed: (UniqueKey) -> Bool = { key in
            if let index { return key.indexName.map { $0.isSameIdentifier(as: index) } ?? false }
            return columns.map { key.hasColumns($0) } ?? false
        }
        let keys = try uniqueKeys(db)
        // The key that the error names comes first.
        for key in keys.filter(isNamed) + keys.filter({ !isNamed($0) }) {
            if let row = try find(db, key, values) { return row }
        }
        return nil
    }

    private func uniqueKeys(_ db: Database) throws -> [UniqueKey] {
        if let knownUniqueKeys { return knownUniqueKeys }
        var keys = try db.uniqueKeys(of: tableName, primaryKey: primaryKey)
        if hasColumnCalledAsItsKey { keys.removeFirst() }
        knownUniqueKeys = keys
        return keys
    }

    /// Finds the row that has the inserted values in the columns of the conflict target.
    private func targetedRow(
        _ db: Database, _ target: [String], _ values: ExcludedValues
    ) throws -> RowKey? {
        let keys = try uniqueKeys(db)
        return try find(db, keys.first { $0.isOfAllRows(on: target) } ?? UniqueKey(columns: target), values)
    }

    /// Finds the row that has the inserted values of a key.
    private func find(_ db: Database, _ unique: UniqueKey, _ values: ExcludedValues) throws -> RowKey? {
        let key = try rowColumns()
        var arguments: [DatabaseValue] = []
        var conditions: [String] = []
        for term in unique.terms {
            let value =
                if let column = term.column {
                    try values.sql(db, of: column)
                } else {
                    try values.sql(db, ofExpression: term.sql)
                }
            let collation = term.collation.map { " COLLATE \($0.quotedDatabaseIdentifier)" } ?? ""
            conditions.append("\(term.sql) = \(value.sql)\(collation)")
            arguments += value.arguments
        }
        if let condition = unique.condition {
            // Only rows of the index are in each other's way.
            let value = try values.sql(db, ofExpression: condition)
            conditions += [condition, value.sql]
            arguments += value.arguments
        }
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT \(key.map(\.quotedDatabaseIdentifier).joined(separator: ", ")) \
                FROM \(tableName.quotedDatabaseIdentifier) WHERE \(conditions.joined(separator: " AND "))
                """,
            arguments: StatementArguments(arguments))
        return row.map { RowKey(columns: key, values: $0.databaseValues) }
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
        return (info?.defaultExpressionSQL.map { "(\($0))" } ?? "NULL", [])
    }

    /// The value of an expression on the columns of the table.
    func sql(
        _ db: Database, ofExpression expression: String
    ) throws -> (sql: String, arguments: [DatabaseValue]) {
        var row: [String] = []
        var arguments: [DatabaseValue] = []
        for column in try db.columnNames(of: plan.tableName) {
            let value = try sql(db, of: column)
            row.append("\(value.sql) AS \(column.quotedDatabaseIdentifier)")
            arguments += value.arguments
        }
        let table = plan.tableName.quotedDatabaseIdentifier
        return ("(SELECT \(expression) FROM (SELECT \(row.joined(separator: ", "))) AS \(table))", arguments)
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
        return (writer.sql.withCommentEnded, writer.arguments.values)
    }
}

extension DatabaseError {
    /// Whether a row is in the way of another.
    fileprivate var isUniquenessViolation: Bool {
        [.SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID]
            .contains(extendedResultCode)
    }

    /// The index that a violation of uniqueness names, or nil when it names none.
    ///
    /// SQLite's message is `UNIQUE constraint failed: index 'name'` where an expression is indexed.
    fileprivate var violatedIndex: String? {
        let prefix = "UNIQUE constraint failed: index '"
        guard let message, message.hasPrefix(prefix), message.hasSuffix("'") else { return nil }
        return message.dropFirst(prefix.count).dropLast().replacingOccurrences(of: "''", with: "'")
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
