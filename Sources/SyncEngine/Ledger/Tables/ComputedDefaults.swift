import CipherStore

/// Columns of tracked tables whose default is computed anew each time that it is used.
///
/// A row that comes from a replica which has not got the column yet gets the default here, and is not written here: the
/// value has the version of the row. Each replica computes another one, such as the time, and all keep theirs.
package enum ComputedDefaults {
    /// Words of expressions that a bracket can follow, and that call no function.
    private static let words: Set<String> = [
        "and", "between", "case", "cast", "else", "in", "is", "like", "not", "or", "then", "when",
    ]

    /// The columns, each as `table.column`. The key is none of them: it comes with each row.
    ///
    /// - throws: A `DatabaseError`.
    package static func columns(_ db: Database) throws -> [String] {
        guard try db.tableExists("_sync_table", in: "main") else { return [] }
        let tables = try String.fetchAll(
            db, sql: "SELECT name FROM main._sync_table WHERE tracked = 1 ORDER BY name")
        return try tables.flatMap { table in
            let columns = try Row.fetchAll(
                db, sql: "PRAGMA main.table_info(\(table.quotedDatabaseIdentifier))")
            return try columns.compactMap { column -> String? in
                guard try column.decode(Int.self, forColumn: "pk") == 0,
                    let text = try column.decodeIfPresent(String.self, atIndex: 4), isComputed(text)
                else { return nil }
                return "\(table).\(try column.decode(String.self, forColumn: "name"))"
            }
        }
    }

    /// Whether the SQL of a default is the time, or calls a function. Which functions give the same each time is not
    /// asked.
    static func isComputed(_ sql: String) -> Bool {
        let tokens = SQLTokens(sql).tokens
        let isTime = tokens.contains { token in
            ["current_timestamp", "current_date", "current_time"].contains(where: token.isKeyword)
        }
        return isTime
            || zip(tokens, tokens.dropFirst()).contains { name, bracket in
                bracket.isSymbol("(")
                    && (name.kind == .quotedName
                        || name.kind == .word && !words.contains(name.text.foldedIdentifier))
            }
    }
}
