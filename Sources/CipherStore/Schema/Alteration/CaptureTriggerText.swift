/// Edits the triggers that track a table for synchronization, so that they go
/// on when one of its columns goes.
///
/// Their names start with `_sync_`. They compare the old and the new value of
/// each column; without the column, both are NULL. The synchronization makes
/// them anew, from the columns that are there, when it runs next.
struct CaptureTriggerText {
    let db: Database
    let table: DatabaseObjectID

    /// Takes a column out of the triggers.
    func remove(column: String) throws {
        let editor = SchemaEditor(db: db, schemaID: table.schemaID)
        let triggers = try editor.objects(
            where: "type = 'trigger' AND tbl_name = ? COLLATE NOCASE AND \(SyncNames.condition())",
            [table.name])
        for trigger in triggers {
            guard let sql = trigger.sql, let text = Self.removing(column, from: sql) else { continue }
            let name = DatabaseObjectID(schemaID: table.schemaID, name: trigger.name)
            try db.execute(sql: "DROP TRIGGER \(name.quoted)")
            if !text.isEmpty { try db.execute(sql: Self.qualified(text, table.schemaID)) }
        }
    }

    /// The text of a stored trigger names no schema.
    private static func qualified(_ text: String, _ schemaID: DatabaseSchemaID) -> String {
        var sql = SQLTokens(text)
        guard let index = sql.tokens.firstIndex(where: { $0.isKeyword("trigger") }),
            index + 1 < sql.tokens.count,
            sql.token(after: index + 1)?.isSymbol(".") != true
        else { return text }
        let start = sql.tokens[index + 1].range.lowerBound
        sql.replace(bytes: start..<start, with: schemaID.name.quotedDatabaseIdentifier + ".")
        return sql.sql
    }

    /// Returns the text without the column, nil when it does not name it, and an
    /// empty text when nothing else is left to do for the trigger.
    static func removing(_ column: String, from text: String) -> String? {
        var sql = SQLTokens(text)
        let tokens = sql.tokens
        guard tokens.contains(where: { $0.isName(column) }) else { return nil }
        // What a trigger does can have both words as well, and no name there is one of this list.
        if let on = tokens.firstIndex(where: { $0.isKeyword("on") }),
            let of = tokens[..<on].firstIndex(where: { $0.isKeyword("of") })
        {
            let names = tokens[(of + 1)..<on].filter { !$0.isSymbol(",") }
            let others = names.filter { !$0.isName(column) }
            if others.isEmpty { return "" }
            if others.count < names.count, let first = names.first, let last = names.last {
                sql.replace(
                    bytes: first.range.lowerBound..<last.range.upperBound,
                    with: others.map(\.text.quotedDatabaseIdentifier).joined(separator: ", "))
            }
        }
        for index in tokens.indices.dropFirst(2) where tokens[index].isName(column) {
            let row = tokens[index - 2]
            guard tokens[index - 1].isSymbol("."), row.isKeyword("old") || row.isKeyword("new") else {
                continue
            }
            sql.replace(bytes: row.range.lowerBound..<tokens[index].range.upperBound, with: "NULL")
        }
        return sql.isEdited ? sql.sql : nil
    }
}

extension Database {
    /// Takes a column out of the triggers that track a table of the main schema.
    package func removeFromCaptureTriggers(column: String, table: String) throws {
        try CaptureTriggerText(db: self, table: DatabaseObjectID(schemaID: .main, name: table))
            .remove(column: column)
    }
}

/// What the triggers that track a table say of its columns.
///
/// SQLite renames columns in the programs of triggers, and so does the emulation.
/// A trigger that appends the bit 5 for a column names that column, whatever it is
/// called by now and whichever program renamed it.
package enum CaptureTriggerNames {
    /// The columns by bit, of a trigger on updates.
    package static func columns(in sql: String) -> [Int: String] {
        let tokens = SQLTokens(sql).tokens
        guard let begin = tokens.firstIndex(where: { $0.isKeyword("begin") }) else { return [:] }
        var columns: [Int: String] = [:]
        var column: String?
        for index in tokens.indices.dropFirst(begin + 3) {
            if tokens[index - 1].isSymbol("."), tokens[index - 2].isKeyword("new") {
                column = tokens[index].text
            }
            guard tokens[index - 1].isSymbol("<"), tokens[index - 2].isSymbol("<"),
                let bit = Int(tokens[index].text)
            else { continue }
            // The operand of a column that was dropped names none.
            columns[bit] = column
            column = nil
        }
        return columns
    }

    /// The column of the key, of a trigger on insertions.
    package static func key(in sql: String) -> String? {
        let tokens = SQLTokens(sql).tokens
        let index = tokens.indices.dropFirst(2).first {
            tokens[$0 - 1].isSymbol(".") && tokens[$0 - 2].isKeyword("new")
        }
        return index.map { tokens[$0].text }
    }
}
