/// Gives a column of a table another name.
struct ColumnRenaming {
    let db: Database
    let table: String
    let column: String
    let newName: String

    func run() throws {
        guard !EngineFeatures.current.supportsRenameColumn else { return try runNatively() }
        try emulate()
    }

    /// Lets SQLite rename the column.
    func runNatively() throws {
        try db.execute(
            sql: """
                ALTER TABLE \(table.quotedDatabaseIdentifier) \
                RENAME COLUMN \(column.quotedDatabaseIdentifier) TO \(newName.quotedDatabaseIdentifier)
                """)
    }

    /// Renames the column in the texts of the schema.
    func emulate() throws {
        guard let object = try db.find(.table, table) else { throw DatabaseError.noSuchTable(table) }
        let columns = try db.columns(in: object.name, in: object.schemaID.name)
        guard columns.contains(where: { $0.name.isSameIdentifier(as: column) }) else {
            throw DatabaseError(resultCode: .SQLITE_ERROR, message: "no such column: \"\(column)\"")
        }
        let isTaken = columns.contains {
            $0.name.isSameIdentifier(as: newName) && !$0.name.isSameIdentifier(as: column)
        }
        guard !isTaken else {
            throw DatabaseError(resultCode: .SQLITE_ERROR, message: "duplicate column name: \(newName)")
        }
        try db.inSavepoint {
            let compilation = try SchemaCompilation(db, mentioning: [object.name], column: column)
            // Objects of the temporary schema can refer to any table.
            for schemaID in Set([object.schemaID, .temp]) {
                let editor = SchemaEditor(db: db, schemaID: schemaID)
                try editor.write(try editor.objects().compactMap { try rename($0, schemaID, object) })
            }
            try compilation.check(db, mentioning: [object.name], change: "rename column")
            return .commit
        }
    }

    private func rename(
        _ entry: SchemaObject, _ schemaID: DatabaseSchemaID, _ object: DatabaseObjectID
    ) throws -> (rowID: Int64, sql: String)? {
        guard let sql = entry.sql else { return nil }
        let isOwn = schemaID == object.schemaID && entry.table.isSameIdentifier(as: object.name)
        var edited: SQLTokens?
        switch entry.type {
        case "table": edited = isOwn ? ownTable(sql) : otherTable(sql, object.name)
        case "index": edited = isOwn ? index(sql) : nil
        default: edited = try program(entry, sql, object)
        }
        return edited.flatMap { $0.isEdited ? (entry.rowID, $0.sql) : nil }
    }

    private func replacing(_ indexes: [Int], in sql: SQLTokens) -> SQLTokens {
        var sql = sql
        for index in indexes { sql.replace(index, with: newName.quotedDatabaseIdentifier) }
        return sql
    }

    private func ownTable(_ sql: String) -> SQLTokens? {
        TableText(sql).map { replacing($0.occurrences(of: column), in: $0.sql) }
    }

    /// Another table can refer to the column by a foreign key.
    private func otherTable(_ text: String, _ name: String) -> SQLTokens? {
        let sql = SQLTokens(text)
        let tokens = sql.tokens
        var found: [Int] = []
        for index in tokens.indices where tokens[index].isKeyword("references") {
            guard index + 2 < tokens.count, tokens[index + 1].text.isSameIdentifier(as: name),
                tokens[index + 2].isSymbol("(")
            else { continue }
            found += sql.columnOccurrences(of: column, in: (index + 2)..<sql.endOfParentheses(index + 2))
        }
        return replacing(found, in: sql)
    }

    private func index(_ text: String) -> SQLTokens? {
        let sql = SQLTokens(text)
        guard let open = sql.tokens.firstIndex(where: { $0.isSymbol("(") }) else { return nil }
        return replacing(sql.columnOccurrences(of: column, in: open..<sql.tokens.count), in: sql)
    }

    // MARK: Views and triggers

    /// Renames the column in a view or a trigger.
    private func program(
        _ entry: SchemaObject, _ text: String, _ object: DatabaseObjectID
    ) throws -> SQLTokens? {
        let sql = SQLTokens(text)
        let isOwnTrigger = entry.type == "trigger" && entry.table.isSameIdentifier(as: object.name)
        guard isOwnTrigger || sql.tokens.indices.contains(where: { sql.isName(object.name, at: $0) }) else {
            return nil
        }
        let found = sql.columnOccurrences(of: column, in: body(of: sql, entry.type)).filter { index in
            // Rows of a trigger on another table are not of this one.
            isOwnTrigger || row(sql, index).map { $0.isKeyword("old") || $0.isKeyword("new") } != true
        }
        let isCertain = found.allSatisfy { index in
            guard let row = row(sql, index) else { return isOwnTrigger && isInUpdateList(sql, index) }
            return row.isName(object.name) || isOwnTrigger && (row.isKeyword("old") || row.isKeyword("new"))
        }
        if try !isCertain && isAmbiguous(sql, object, entry) {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR,
                message: """
                    column \(column) can't be renamed: \(entry.type) \(entry.name) uses the name, which other tables \
                    have too; drop the \(entry.type) before, and create it anew
                    """)
        }
        return replacing(found, in: sql)
    }

    /// What is before a column: the table or the row of `row.column`.
    private func row(_ sql: SQLTokens, _ index: Int) -> SQLToken? {
        index > 1 && sql.tokens[index - 1].isSymbol(".") ? sql.tokens[index - 2] : nil
    }

    /// The tokens after the names of a view and of its columns, or of a trigger.
    private func body(of sql: SQLTokens, _ type: String) -> Range<Int> {
        let word = type == "view" ? "as" : "trigger"
        let start = sql.tokens.firstIndex { $0.isKeyword(word) } ?? 0
        return min(start + (type == "view" ? 1 : 2), sql.tokens.count)..<sql.tokens.count
    }

    /// Whether a name is in `UPDATE OF …` of a trigger.
    private func isInUpdateList(_ sql: SQLTokens, _ index: Int) -> Bool {
        guard let of = sql.tokens.firstIndex(where: { $0.isKeyword("of") }),
            let on = sql.tokens[of...].firstIndex(where: { $0.isKeyword("on") })
        else { return false }
        return index > of && index < on
    }

    /// Whether the name can stand for something else: a column of another table, or an alias.
    private func isAmbiguous(_ sql: SQLTokens, _ object: DatabaseObjectID, _ entry: SchemaObject) throws
        -> Bool
    {
        let tokens = sql.tokens
        let isAlias = tokens.indices.contains { index in
            sql.isName(column, at: index) && sql.token(before: index)?.isKeyword("as") == true
        }
        if isAlias { return true }
        let names = Set(
            tokens.filter { $0.kind == .word || $0.kind == .quotedName }.map(\.text.foldedIdentifier))
        let others = names.filter {
            !$0.isSameIdentifier(as: object.name) && !$0.isSameIdentifier(as: entry.name)
        }
        for name in others {
            // The table of a trigger is seen through OLD and NEW only, unless the program reads it.
            let isOnlyTriggers =
                entry.type == "trigger" && name.isSameIdentifier(as: entry.table)
                && tokens.count(where: { $0.isName(name) }) == 1
            if isOnlyTriggers { continue }
            guard try db.tableExists(name) || db.viewExists(name) else { continue }
            let columns = try? db.columns(in: name)
            if columns?.contains(where: { $0.name.isSameIdentifier(as: column) }) == true { return true }
        }
        return false
    }
}
