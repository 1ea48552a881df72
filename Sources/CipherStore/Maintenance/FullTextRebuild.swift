/// The full-text tables whose index an export makes wrong: those of the rows of an ordinary table, which they
/// know by its rowids.
///
/// An export copies rows with `INSERT … SELECT`. A table without an `INTEGER PRIMARY KEY` can get other
/// rowids by that, and the tables in which a full-text table keeps its index are copied as they are.
struct FullTextRebuild {
    /// The names of the full-text tables.
    let tables: [String]

    /// Finds the tables of a database that is exported.
    init(of db: Database) throws {
        let objects = try Row.fetchAll(
            db,
            sql:
                "SELECT name, sql FROM main.sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%'"
        )
        tables = try objects.compactMap { object -> String? in
            let name: String = object["name"]
            guard let content = Self.content(object["sql"]),
                let table = try db.find(.table, content, in: "main")
            else { return nil }
            let key = try db.primaryKey(table.name, in: "main")
            return key.tableHasRowID && key.rowIDColumn == nil ? name : nil
        }
    }

    /// Makes the indexes anew in the file that was exported.
    ///
    /// A table whose tokenizer or module the connection does not know stays as it was: nothing can be searched
    /// in it without them.
    func run(_ db: Database) throws {
        for table in tables {
            let name = table.quotedDatabaseIdentifier
            do {
                try db.execute(sql: "INSERT INTO \(name)(\(name)) VALUES ('rebuild')")
            } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {}
        }
    }

    /// Row counts without those of the tables in which the indexes are.
    func withoutIndexes(_ counts: [String: Int]) -> [String: Int] {
        let names = Set(tables.flatMap { table in Self.suffixes.map { "\(table)_\($0)".identifierKey } })
        return counts.filter { !names.contains($0.key.identifierKey) }
    }

    private static let suffixes = ["segments", "segdir", "docsize", "stat", "data", "idx", "config"]

    /// The table whose rows a full-text table is an index of.
    private static func content(_ sql: String) -> String? {
        let tokens = SQLTokens(sql).tokens
        // CREATE VIRTUAL TABLE name USING module
        guard tokens.count > 5, tokens[4].isKeyword("using"),
            ["fts4", "fts5"].contains(tokens[5].text.foldedIdentifier)
        else { return nil }
        func option(_ name: String) -> String? {
            tokens.indices.dropFirst(6).dropLast(2)
                .first { tokens[$0].isKeyword(name) && tokens[$0 + 1].isSymbol("=") }
                .map { tokens[$0 + 2].text }
        }
        // Another column than the rowid is copied as it is.
        guard option("content_rowid").map({ $0.isSameIdentifier(as: "rowid") }) ?? true else { return nil }
        return option("content").flatMap { $0.isEmpty ? nil : $0 }
    }
}
