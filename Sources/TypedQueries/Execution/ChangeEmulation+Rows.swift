// The numbers of rows, by which emulated changes find them again.

extension ChangeEmulation {
    /// The numbers of the rows that are to be deleted; none where rows have no numbers.
    func deletedKeys() throws -> [Int64] {
        guard parts.table != nil, try !changesView(), let name = try? rowIDName() else { return [] }
        return try Int64.fetchAll(db, parts.commonTables, name, parts.head.source, parts.condition)
    }

    /// Throws an error that names the version needed, when rows are left that were returned as deleted: a trigger may ignore a deletion.
    func requireDeletion(_ keys: [Int64]) throws {
        // Those that went with other ones, by foreign keys, are not counted.
        guard db.changesCount < keys.count, try rowCount(keys) > 0 else { return }
        throw EngineNeed.error(
            "RETURNING of a deletion that a trigger ignores", 3_035_000, sql: parts.head.debugDescription)
    }

    /// Throws an error that names the version needed, when rows that were changed have other numbers: those of tables whose keys
    /// were changed.
    func requireRows(_ keys: [Int64]) throws {
        guard try rowCount(keys) == keys.count else { throw returningError }
    }

    /// How many of the rows are there.
    private func rowCount(_ keys: [Int64]) throws -> Int {
        let source = parts.head.source
        return try SQLQueryExpression(
            "SELECT count(*) FROM \(source) WHERE \(condition(keys))", as: Int.self
        ).fetchOne(db) ?? 0
    }

    var returningError: DatabaseError {
        EngineNeed.error(
            "RETURNING of an update that changes keys or leaves rows out", 3_035_000,
            sql: parts.head.debugDescription)
    }

    /// The name of the number of a row of the table.
    ///
    /// - throws: An error that names the version needed, when the table has no numbers, or each of their names is that of a column.
    func rowIDName() throws -> String {
        guard let table = parts.table else { return "rowid" }
        let primaryKey = try db.primaryKey(table.tableName, in: table.schemaName)
        guard try primaryKey.tableHasRowID || changesView() else {
            throw EngineNeed.error(
                "RETURNING or ON CONFLICT of a table that is WITHOUT ROWID", 3_035_000,
                sql: parts.head.debugDescription)
        }
        let columns = try db.columns(in: table.tableName, in: table.schemaName).map(\.name)
        if let name = RowIDName.free(of: columns) { return name }
        guard let key = primaryKey.rowIDColumn else {
            throw EngineNeed.error(
                "RETURNING or ON CONFLICT of a table with columns called rowid, _rowid_ and oid",
                3_035_000, sql: parts.head.debugDescription)
        }
        return key.quotedDatabaseIdentifier
    }

    func condition(_ keys: [Int64]) throws -> QueryFragment {
        var condition = try QueryFragment(rowIDName())
        condition.append(literal: " IN (")
        condition.append(sql: keys.map(String.init).joined(separator: ","))
        condition.append(literal: ")")
        return condition
    }
}
