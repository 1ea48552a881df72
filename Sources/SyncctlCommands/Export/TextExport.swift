import CipherStore
import Foundation

/// The export of tables as text, from one snapshot.
struct TextExport {
    /// The formats.
    enum Format: String, CaseIterable {
        case csv, jsonl, sql
    }

    let db: Database
    let terminal: Terminal
    let progress: StepProgress
    /// Whether an apostrophe stands before what a spreadsheet would take for a formula, in CSV.
    var escapesFormulas = false
    /// What is told of it afterwards.
    var remarks = ExportRemarks()
    /// How much `import` takes in; tests have less.
    var limits = ImportCheck.Limits()

    /// The user's tables.
    static func tables(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT name FROM sqlite_master WHERE type = 'table'
                AND substr(name, 1, 6) <> '_sync_' AND substr(name, 1, 7) <> 'sqlite_' ORDER BY rowid
                """)
    }

    /// The user's tables without those in which full-text tables and other virtual ones keep what is in them.
    static func contentTables(_ db: Database) throws -> [String] {
        let virtual = try VirtualTables(db)
        return try tables(db).filter { !virtual.isShadow($0) }
    }

    /// Writes one table.
    ///
    /// - parameters:
    ///   - table: The table.
    ///   - format: What is written.
    ///   - path: The path of the file; nil for standard output.
    ///   - shownPath: What errors call the file, when it is in a folder that has another name yet.
    /// - returns: The number of rows.
    func write(
        _ table: String, _ format: Format, to path: String?, shownAs shownPath: String? = nil
    ) throws -> Int64 {
        let file = try OutputFile(path, terminal, shownAs: shownPath)
        let count = try format == .sql ? writeSQL([table], to: file) : writeRows(table, format, to: file)
        try file.finish()
        return count
    }

    /// Writes everything as one SQL script.
    func writeScript(to path: String?) throws -> Int64 {
        let file = try OutputFile(path, terminal)
        let count = try writeSQL(Self.contentTables(db), to: file, includesOthers: true)
        try file.finish()
        return count
    }

    private func writeRows(_ table: String, _ format: Format, to file: OutputFile) throws -> Int64 {
        let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM \(table.quotedDatabaseIdentifier)")
        let statement = try db.makeStatement(sql: "SELECT * FROM \(table.quotedDatabaseIdentifier)")
        let names = statement.columnNames
        let care = RowText.CSVCare(isForTerminal: file.isTerminal, escapesFormulas: escapesFormulas)
        let check = try ImportCheck(db, table, names, isCSV: format == .csv, care, limits)
        if let refusal = check.refusal { remarks.note(refusal) }
        if format == .csv { try file.write(RowText.csvHeader(names, care)) }
        var count: Int64 = 0
        while let row = try cursor.next() {
            let values = row.databaseValues
            let line = format == .csv ? RowText.csv(values, care) : RowText.json(names, values)
            try file.write(line)
            count += 1
            if let refusal = check.refusal(of: values, byteCount: line.utf8.count, row: count) {
                remarks.note(refusal)
            }
            if count & 0xFFF == 0 { try progress.update(count, nil) }
        }
        return count
    }

    private func writeSQL(_ tables: [String], to file: OutputFile, includesOthers: Bool = false) throws
        -> Int64
    {
        try file.write("PRAGMA foreign_keys = OFF;\nBEGIN;\n")
        let virtual = try VirtualTables(db)
        var count: Int64 = 0
        var indexes: [String] = []
        for table in tables {
            let definition = try String.fetchOne(
                db, sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", arguments: [table]
            )
            try file.write(statement(definition ?? "", of: table, file))
            guard !virtual.isContentless(table) else { continue }
            if let content = virtual.otherContent(of: table),
                try tables.contains(where: { $0.isSameIdentifier(as: content) })
                    || includesOthers && db.viewExists(content)
            {
                indexes.append(table)
                continue
            }
            try writeInsertions(into: table, virtual, to: file, &count)
            try writeLastNumber(of: table, definition ?? "", to: file)
        }
        // What hangs on the tables comes after their rows, and triggers after the views that they may be of.
        let others = try Row.fetchAll(
            db,
            sql: """
                SELECT sql, tbl_name, name FROM sqlite_master
                WHERE type IN ('index', 'trigger', 'view') AND sql IS NOT NULL AND substr(name, 1, 6) <> '_sync_'
                  AND substr(tbl_name, 1, 6) <> '_sync_'
                ORDER BY CASE type WHEN 'index' THEN 0 WHEN 'view' THEN 1 ELSE 2 END, rowid
                """)
        for row in others {
            let owner: String = try row.decode(atIndex: 1)
            if includesOthers || tables.contains(where: { $0.isSameIdentifier(as: owner) }) {
                let definition = try row.decode(String.self, atIndex: 0)
                try file.write(statement(definition, of: row.decode(atIndex: 2), file))
            }
        }
        // The rows of their content can have other rowids in the new database, so the old index would be one of others.
        for table in indexes {
            let name = shown(table.quotedDatabaseIdentifier, file)
            try file.write("INSERT INTO \(name)(\(name)) VALUES('rebuild');\n")
        }
        if includesOthers { try writeHeaderNumbers(to: file) }
        try file.write("COMMIT;\n")
        return count
    }

    /// Writes the last number that a table with `AUTOINCREMENT` has given, also to a row that is gone: no number is given
    /// twice.
    private func writeLastNumber(of table: String, _ definition: String, to file: OutputFile) throws {
        guard SQLTokens(definition).tokens.contains(where: { $0.isKeyword("autoincrement") }),
            let row = try Row.fetchOne(
                db, sql: "SELECT name, seq FROM sqlite_sequence WHERE name = ?", arguments: [table])
        else { return }
        let values = row.databaseValues.map { RowText.sqlLiteral($0, isForTerminal: file.isTerminal) }
        try file.write("DELETE FROM sqlite_sequence WHERE name = \(values[0]);\n")
        try file.write("INSERT INTO sqlite_sequence(name,seq) VALUES(\(values.joined(separator: ",")));\n")
    }

    /// Writes the numbers of the file's header that belong to the app, which may tell its migrations by them.
    private func writeHeaderNumbers(to file: OutputFile) throws {
        for name in ["user_version", "application_id"] {
            let number = try Int64.fetchOne(db, sql: "PRAGMA \(name)") ?? 0
            if number != 0 { try file.write("PRAGMA \(name) = \(number);\n") }
        }
    }

    private func writeInsertions(
        into table: String, _ virtual: VirtualTables, to file: OutputFile, _ count: inout Int64
    ) throws {
        let (columns, areNamed) = try columns(of: table, virtual)
        let list = columns.map(\.quotedDatabaseIdentifier).joined(separator: ",")
        let target = table.quotedDatabaseIdentifier + (areNamed ? "(\(list))" : "")
        let beginning = "INSERT INTO \(shown(target, file)) VALUES("
        let cursor = try Row.fetchCursor(db, sql: "SELECT \(list) FROM \(table.quotedDatabaseIdentifier)")
        while let row = try cursor.next() {
            let values = row.databaseValues.map {
                RowText.sqlLiteral($0, isForTerminal: file.isTerminal)
            }.joined(separator: ",")
            try file.write(beginning + values + ");\n")
            count += 1
            if count & 0xFFF == 0 { try progress.update(count, nil) }
        }
    }

    /// The columns that are written, and whether a statement has to name them because there are others.
    private func columns(
        of table: String, _ virtual: VirtualTables
    ) throws -> (names: [String], areNamed: Bool) {
        let name = table.quotedDatabaseIdentifier
        // Neither those that are generated nor those that a virtual table hides.
        let names = try Row.fetchAll(db, sql: "PRAGMA table_info(\(name))").map {
            try $0.decode(String.self, forColumn: "name")
        }
        if virtual.isFullText(table) && !names.contains(where: { $0.isSameIdentifier(as: "rowid") }) {
            return (["rowid"] + names, true)
        }
        let count = try db.makeStatement(sql: "SELECT * FROM \(name)").columnNames.count
        return (names, names.count != count)
    }

    /// A definition as a statement of the script. It may end in a comment, which would take the semicolon in.
    private func statement(_ definition: String, of name: String, _ file: OutputFile) -> String {
        let text = SQLText.definition(definition)
        if !text.isKept { remarks.noteLineEnds(inDefinitionOf: name) }
        let sql = shown(text.sql, file)
        let ending = [";", "\n;", "*/;"].first { SQLTokens(sql + $0).tokens.last?.isSymbol(";") == true }
        return sql + (ending ?? ";") + "\n"
    }

    /// Names and definitions, in which a terminal would obey controls.
    private func shown(_ sql: String, _ file: OutputFile) -> String {
        file.isTerminal ? PrintableText.escapedLines(sql) : sql
    }
}
