/// Drops a column of a table.
struct ColumnDropping {
    let db: Database
    let table: String
    let column: String

    func run() throws {
        guard !EngineFeatures.current.supportsDropColumn else { return try runNatively() }
        try emulate()
    }

    /// Lets SQLite drop the column.
    func runNatively() throws {
        let sql =
            "ALTER TABLE \(table.quotedDatabaseIdentifier) DROP COLUMN \(column.quotedDatabaseIdentifier)"
        let object = try db.findTableOrView(table)
        guard try hasCaptureTriggers(object) else { return try db.execute(sql: sql) }
        try db.inSavepoint {
            try CaptureTriggerText(db: db, table: object).remove(column: column)
            try db.execute(sql: sql)
            return .commit
        }
    }

    private func hasCaptureTriggers(_ object: DatabaseObjectID) throws -> Bool {
        try !SchemaEditor(db: db, schemaID: object.schemaID).objects(
            where: "type = 'trigger' AND tbl_name = ? COLLATE NOCASE AND \(SyncNames.condition())",
            [object.name]
        ).isEmpty
    }

    /// Drops the column by copying the rows into a table without it, and giving
    /// the copy's pages to the table.
    ///
    /// The table itself is never dropped. With foreign keys on, and in a
    /// transaction they can't be switched off, dropping it would delete the rows
    /// that refer to it. Indexes, triggers and views stay as they are, because
    /// the name of the table and the rowids stay.
    func emulate() throws {
        guard let object = try db.find(.table, table) else { throw DatabaseError.noSuchTable(table) }
        let editor = SchemaEditor(db: db, schemaID: object.schemaID)
        let entries = try editor.objects(where: "tbl_name = ? COLLATE NOCASE", [object.name])
        guard let entry = entries.first(where: { $0.type == "table" }), let sql = entry.sql,
            let text = TableText(sql)
        else {
            throw DatabaseError(resultCode: .SQLITE_ERROR, message: "table \(table) can't be altered")
        }
        try checkThatNothingNeedsIt(text, entries)
        try db.inSavepoint {
            try CaptureTriggerText(db: db, table: object).remove(column: column)
            let compilation = try SchemaCompilation(db, mentioning: [object.name], column: column)
            try replace(object, entry, text, editor)
            try compilation.check(db, mentioning: [object.name], change: "drop column")
            if try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true,
                try !db.foreignKeys(on: object.name, in: object.schemaID.name).isEmpty
            {
                try db.checkForeignKeys(in: object.name, in: object.schemaID.name)
            }
            return .commit
        }
    }

    // MARK: What stands against it

    private func checkThatNothingNeedsIt(_ text: TableText, _ entries: [SchemaObject]) throws {
        let columns = try db.columns(in: table)
        guard let info = columns.first(where: { $0.name.isSameIdentifier(as: column) }),
            let item = text.index(ofColumn: column)
        else { throw refusal("no such column: \"\(column)\"") }
        guard columns.count > 1 else {
            throw refusal("cannot drop column \"\(info.name)\": no other columns exist")
        }
        guard info.primaryKeyIndex == 0 else {
            throw refusal("cannot drop PRIMARY KEY column: \"\(info.name)\"")
        }
        let constraints = try db.indexes(on: table).filter { $0.origin != .createIndex }
        guard !constraints.contains(where: { $0.columns.contains { $0.isSameIdentifier(as: column) } }) else {
            throw refusal("cannot drop UNIQUE column: \"\(info.name)\"")
        }
        let own = text.items[item].tokens
        guard text.occurrences(of: column).allSatisfy(own.contains) else {
            throw refusal("error in table \(table) after drop column: no such column: \(info.name)")
        }
        // A trigger on updates of the column would not be compiled any more, and so not be found.
        for trigger in entries where trigger.type == "trigger" && !SyncNames.contains(trigger.name) {
            guard let row = rowOfTrigger(SQLTokens(trigger.sql ?? "").tokens) else { continue }
            throw refusal(
                "error in trigger \(trigger.name) after drop column: no such column: \(row).\(info.name)")
        }
        for index in entries where index.type == "index" {
            guard let sql = index.sql.map(SQLTokens.init),
                let open = sql.tokens.firstIndex(where: { $0.isSymbol("(") })
            else { continue }
            if !sql.columnOccurrences(of: column, in: open..<sql.tokens.count).isEmpty {
                throw refusal("error in index \(index.name) after drop column: no such column: \(info.name)")
            }
        }
    }

    /// `OLD` or `NEW`, when a trigger reads the column from one of them.
    private func rowOfTrigger(_ tokens: [SQLToken]) -> String? {
        for index in tokens.indices.dropFirst(2) where tokens[index].isName(column) {
            let row = tokens[index - 2]
            guard tokens[index - 1].isSymbol("."), row.isKeyword("old") || row.isKeyword("new") else {
                continue
            }
            return row.text
        }
        return nil
    }

    private func refusal(_ message: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_ERROR, message: message)
    }

    // MARK: Doing it

    private func replace(
        _ object: DatabaseObjectID, _ entry: SchemaObject, _ text: TableText, _ editor: SchemaEditor
    ) throws {
        let copy = DatabaseObjectID(schemaID: object.schemaID, name: "_cipherstore_copy_of_\(object.name)")
        let newText = try removingColumn(text)
        try db.execute(sql: named(copy, newText))
        try copyRows(from: object, to: copy)
        let entries = try editor.objects(
            where: "tbl_name COLLATE NOCASE IN (?, ?)", [object.name, copy.name])
        guard let copyEntry = entries.first(where: { $0.type == "table" && $0.name == copy.name }) else {
            throw DatabaseError(resultCode: .SQLITE_INTERNAL, message: "the copy of \(table) is gone")
        }
        try editor.edit {
            try editor.swapRootPages(entry, copyEntry)
            for (first, second) in try implicitIndexes(entries, object.name, copy.name) {
                try editor.swapRootPages(first, second)
            }
            let master = object.schemaID.masterTable
            let update = "UPDATE \(master) SET sql = ? WHERE rowid = ?"
            try db.execute(sql: update, arguments: [newText, entry.rowID])
            try db.execute(sql: update, arguments: [renamed(copy.name, text), copyEntry.rowID])
        }
        // What has the copy's name now are the old pages.
        try db.execute(sql: "DROP TABLE \(copy.quoted)")
    }

    private func removingColumn(_ text: TableText) throws -> String {
        var sql = text.sql
        guard let index = text.index(ofColumn: column) else { throw refusal("no such column: \"\(column)\"") }
        let tokens = text.items[index].tokens
        // The comma before goes with it, or the one after when it is the first.
        let isFirst = index == 0
        let first = sql.tokens[isFirst ? tokens.lowerBound : tokens.lowerBound - 1]
        let last = sql.tokens[isFirst ? tokens.upperBound : tokens.upperBound - 1]
        sql.replace(bytes: first.range.lowerBound..<last.range.upperBound, with: "")
        return sql.sql
    }

    private func renamed(_ name: String, _ text: TableText) -> String {
        var sql = text.sql
        sql.replace(text.name, with: name.quotedDatabaseIdentifier)
        return sql.sql
    }

    /// The statement that creates the copy, in the schema of the table.
    private func named(_ copy: DatabaseObjectID, _ sql: String) throws -> String {
        guard let text = TableText(sql) else { throw refusal("table \(table) can't be altered") }
        var tokens = text.sql
        tokens.replace(text.name, with: copy.quoted)
        return tokens.sql
    }

    private func copyRows(from object: DatabaseObjectID, to copy: DatabaseObjectID) throws {
        let all = try db.columns(in: object.name, in: object.schemaID.name)
        var columns = all.filter { !$0.name.isSameIdentifier(as: column) && !$0.isGenerated }.map(\.name)
        let key = try db.primaryKey(object.name, in: object.schemaID.name)
        if key.tableHasRowID && key.rowIDColumn == nil {
            let aliases = ["rowid", "oid", "_rowid_"]
            let free = aliases.first { alias in !all.contains { $0.name.isSameIdentifier(as: alias) } }
            guard let free else { throw refusal("the rowids of table \(table) can't be read") }
            columns.append(free)
        }
        let list = columns.quotedList
        // The rows are there already: a condition that was not true for one is no reason to stop.
        try db.withSetting("ignore_check_constraints", isOn: true) {
            // The clause overrides those of the table's constraints, which might drop rows.
            try db.execute(
                sql: """
                    INSERT OR ABORT INTO \(copy.quoted) (\(list)) SELECT \(list) FROM \(object.quoted) NOT INDEXED
                    """)
        }
        guard
            try Int64.fetchOne(db, sql: "SELECT count(*) FROM \(object.quoted)")
                == Int64.fetchOne(db, sql: "SELECT count(*) FROM \(copy.quoted)")
        else {
            throw DatabaseError(resultCode: .SQLITE_INTERNAL, message: "rows of \(table) were not copied")
        }
    }

    /// The indexes that belong to constraints, with those of the copy.
    private func implicitIndexes(
        _ entries: [SchemaObject], _ name: String, _ copy: String
    ) throws -> [(SchemaObject, SchemaObject)] {
        let indexes = { (table: String) in
            entries.filter { $0.type == "index" && $0.sql == nil && $0.table.isSameIdentifier(as: table) }
        }
        let own = indexes(name)
        let copies = indexes(copy)
        guard own.count == copies.count else {
            throw DatabaseError(resultCode: .SQLITE_INTERNAL, message: "the indexes of \(table) differ")
        }
        return Array(zip(own, copies))
    }
}
