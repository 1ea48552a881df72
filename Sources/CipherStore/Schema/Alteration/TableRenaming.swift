/// Gives a table another name.
struct TableRenaming {
    let db: Database
    let name: String
    let newName: String

    private var sql: String {
        "ALTER TABLE \(name.quotedDatabaseIdentifier) RENAME TO \(newName.quotedDatabaseIdentifier)"
    }

    func run() throws {
        guard !EngineFeatures.current.supportsRenameColumn else { return try db.execute(sql: sql) }
        try emulate()
    }

    /// Renames the table, and then what SQLite leaves: views, the programs of
    /// triggers, and the foreign keys of other tables while foreign keys are off.
    func emulate() throws {
        guard let object = try db.find(.table, name), try isMentioned(object) else {
            return try db.execute(sql: sql)
        }
        try db.inSavepoint {
            let compilation = try SchemaCompilation(db, mentioning: [object.name])
            try db.execute(sql: sql)
            let columnNames = try columnNames(object.schemaID)
            for schemaID in Set([object.schemaID, .temp]) {
                let editor = SchemaEditor(db: db, schemaID: schemaID)
                try editor.write(
                    try editor.objects().compactMap { entry in
                        guard let sql = entry.sql, let text = edit(entry, sql, columnNames), text.isEdited
                        else {
                            return nil
                        }
                        return (entry.rowID, text.sql)
                    })
            }
            try compilation.check(db, mentioning: [newName], change: "rename")
            return .commit
        }
    }

    /// Whether anything but the table and its indexes has the name.
    private func isMentioned(_ object: DatabaseObjectID) throws -> Bool {
        try Set([object.schemaID, .temp]).contains { schemaID in
            try SchemaEditor(db: db, schemaID: schemaID).objects().contains { entry in
                guard entry.type != "index", let sql = entry.sql else { return false }
                let count = SQLTokens(sql).tokens.count { $0.text.isSameIdentifier(as: name) }
                let isOwn = entry.table.isSameIdentifier(as: name) && entry.type != "view"
                return count > (isOwn ? 1 : 0)
            }
        }
    }

    private func columnNames(_ schemaID: DatabaseSchemaID) throws -> Set<String> {
        let tables = try SchemaEditor(db: db, schemaID: schemaID).objects(where: "type = 'table'")
        return try tables.reduce(into: []) { names, table in
            guard !Database.isSQLiteInternalTable(table.name) else { return }
            names.formUnion(
                try db.columns(in: table.name, in: schemaID.name).map(\.name.foldedIdentifier))
        }
    }

    private func edit(_ entry: SchemaObject, _ text: String, _ columns: Set<String>) -> SQLTokens? {
        var sql = SQLTokens(text)
        let replacement = newName.quotedDatabaseIdentifier
        switch entry.type {
        case "table":
            for index in sql.tokens.indices.dropLast() where sql.tokens[index].isKeyword("references") {
                if sql.tokens[index + 1].text.isSameIdentifier(as: name) {
                    sql.replace(index + 1, with: replacement)
                }
            }
        case "view", "trigger":
            let isColumnName = columns.contains(name.foldedIdentifier)
            for index in sql.tokens.indices.dropFirst() where sql.isName(name, at: index) {
                let previous = sql.tokens[index - 1]
                if previous.isKeyword("as")
                    || sql.token(after: index)?.isSymbol("(") == true
                        && !previous.isKeyword("into")
                {
                    continue
                }
                if isColumnName && !isTablePosition(sql, index) { continue }
                sql.replace(index, with: replacement)
            }
        default: return nil
        }
        return sql
    }

    /// Whether a name stands where a table is named.
    private func isTablePosition(_ sql: SQLTokens, _ index: Int) -> Bool {
        if sql.token(after: index)?.isSymbol(".") == true { return true }
        let words: Set<String> = ["from", "join", "into", "update", "on"]
        guard let previous = sql.token(before: index), previous.kind == .word else { return false }
        return words.contains(previous.text.foldedIdentifier)
    }
}
