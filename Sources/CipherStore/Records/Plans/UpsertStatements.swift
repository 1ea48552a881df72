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
        let key = plan.hasColumnCalledAsItsKey ? [] : plan.primaryKey.columns
        let kept = key + conflictTarget + assignments.map(\.column)
        let overwritten = written.filter { column in !kept.contains { $0.isSameName(as: column) } }
        return (assigned, overwritten)
    }
}

extension MutablePersistableRecord {
    /// Upserts the record.
    ///
    /// - parameter returning: What is read of the row. Its function gets the
    ///   row, followed by the key if the library made one, and the rowid if the table has one.
    func upsertWithoutCallbacks<Value>(
        _ db: Database, _ upsert: Upsert, selection: [any SQLSelectable], _ decode: (Row) throws -> Value
    ) throws -> (InsertionSuccess, Value) {
        let plan = try db.recordPlans.plan(db, for: type(of: self))
        var container = try plan.encode(self)
        let hadKey = plan.hasKey(container)
        let insertion = try plan.insertion(db, of: &container, .abort)
        // A row that was in the way keeps its key, and the new one is that of no row.
        let newKeyColumn = !hadKey && plan.hasKey(container) ? plan.primaryKey.columns.first : nil
        var all = selection
        if let newKeyColumn { all.append(Column(newKeyColumn).forKey("grdb_key")) }
        if let rowIDName = plan.rowIDName {
            all.append(Column(rowIDName))
        } else if all.isEmpty {
            all = plan.primaryKey.columns.map { Column($0) }
        }
        let row: Row?
        db.forgetChangeCounts()
        if db.recordPlans.emulatesReturning {
            row = try db.inSavepoint {
                try plan.emulate(db, upsert, container, insertion.writtenColumns, all)
            }
        } else {
            row = try plan.run(db, upsert, container, insertion.writtenColumns, all)
        }
        guard let row else { throw plan.recordNotFound(container) }
        if let newKeyColumn {
            let index = row.count - (plan.rowIDName != nil ? 2 : 1)
            container.set(row.databaseValue(atIndex: index), for: newKeyColumn)
        }
        let rowID =
            plan.rowIDName != nil
            ? try row.decode(Int64.self, atIndex: row.count - 1) : db.writtenRowID
        let success = InsertionSuccess(
            rowID: rowID, rowIDColumn: plan.primaryKey.rowIDColumn, persistenceContainer: container)
        return (success, try decode(row))
    }
}

extension RecordPlan {
    /// Whether a record has a whole primary key.
    func hasKey(_ container: PersistenceContainer) -> Bool {
        !key(of: container).contains(where: \.isNull)
    }

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
        let chosen = try self.selection(db, selection)
        writer.append(" RETURNING ")
        try writer.append(chosen.sql, arguments: chosen.arguments)
        var arguments = writer.arguments
        arguments.values = container.values + arguments.values
        let statement = try db.makeStatement(sql: insertSQL(written, .abort) + writer.sql)
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

    func unchangedColumn(_ upsert: Upsert) -> String {
        upsert.conflictTarget.first ?? primaryKey.columns.first ?? "rowid"
    }
}
