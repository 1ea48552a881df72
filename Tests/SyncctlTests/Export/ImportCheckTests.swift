import ArgumentParser
import CipherStore
import Foundation
import Testing

@testable import SyncctlCommands

/// Exports say which rows `import` refuses.
@Suite struct ImportCheckTests {
    private static let limits = ImportCheck.Limits(fieldByteCount: 20, recordByteCount: 60, columnCount: 4)

    /// Writes a table, and returns what is said of it.
    private func export(
        _ format: TextExport.Format, limits: ImportCheck.Limits = Self.limits,
        _ prepare: (Database) throws -> Void
    ) throws -> ExportRemarks {
        let queue = try DatabaseQueue()
        try queue.write(prepare)
        let folder = try TemporaryFolder()
        let remarks = ExportRemarks()
        try CommandContext.run(GlobalOptions.parse([])) { context in
            try queue.read { db throws in
                let export = TextExport(
                    db: db, terminal: context.terminal, progress: context.progress("exporting"),
                    remarks: remarks, limits: limits)
                _ = try export.write("t", format, to: folder.file("rows"))
            }
            return .success
        }
        return remarks
    }

    private func fill(_ db: Database) throws {
        try db.execute(sql: "CREATE TABLE t (id TEXT PRIMARY KEY, a, b, c)")
        let text = String(repeating: "x", count: 20)
        for (id, values) in [
            ("whole", [text, text, ""]), ("field", ["", text + "y", ""]), ("line", [text, text, text]),
            ("quotes", [String(repeating: "\"", count: 20), "", ""]),
        ] {
            try db.execute(
                sql: "INSERT INTO t VALUES (?, ?, ?, ?)",
                arguments: [id, values[0], values[1], values[2]])
        }
        try db.execute(sql: "INSERT INTO t (id, a) VALUES ('blob', x'0102030405060708090a0b')")
    }

    @Test func rowsThatAreTooLongAreNamed() throws {
        let refusals = try export(.csv, fill).refusals
        #expect(refusals.map(\.key) == ["field", "line", "blob"])
        #expect(refusals.map(\.reason) == [.fieldTooLong, .recordTooLong, .fieldTooLong])
        #expect(refusals.map(\.row) == [2, 3, 5])
        #expect(refusals.map(\.column) == ["b", nil, "a"])
        #expect(refusals.map(\.byteCount) == [21, 68, 22])
    }

    /// The library that runs may take fewer columns than a file has.
    @Test(arguments: [TextExport.Format.csv, .jsonl])
    func aTableWithMoreColumnsThanTheLibraryTakesIsRefused(format: TextExport.Format) throws {
        let most = try DatabaseQueue().read { $0.maximumStatementArgumentCount } - 1
        for count in [998, 999, 1_500] {
            let names = (0..<count).map { "c\($0)" }.joined(separator: ", ")
            let remarks = try export(format, limits: ImportCheck.Limits()) {
                try $0.execute(sql: "CREATE TABLE t (\(names))")
            }
            let expected: [ImportRefusal.Reason] = count > most ? [.tooManyColumns] : []
            #expect(remarks.refusals.map(\.reason) == expected, "\(count)")
        }
    }

    @Test func linesOfJSONHaveNoLimitOfFields() throws {
        var limits = Self.limits
        limits.recordByteCount = 90
        let refusals = try export(.jsonl, limits: limits, fill).refusals
        #expect(refusals.map(\.key) == ["line"])
        #expect(refusals.map(\.reason) == [.recordTooLong])
    }

    @Test func columnsThatNoFileMayHaveAreNamed() throws {
        let many = try export(.csv) { try $0.execute(sql: "CREATE TABLE t (a, b, c, d, e)") }
        #expect(many.refusals == [ImportRefusal(table: "t", reason: .tooManyColumns)])
        let unnamed = try export(.jsonl) { try $0.execute(sql: "CREATE TABLE t (a, \" \")") }
        #expect(unnamed.refusals == [ImportRefusal(table: "t", reason: .emptyColumnName, column: " ")])
    }

    @Test func whatIsToldNamesRowsAndSizesAndIsBounded() throws {
        let remarks = try export(.csv) { db throws in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)")
            for number in 1...120 {
                try db.execute(
                    sql: "INSERT INTO t VALUES (?, ?)",
                    arguments: [number, String(repeating: "x", count: 21)])
            }
        }
        #expect(remarks.refusalCount == 120 && remarks.refusals.count == 100)
        let texts = remarks.texts
        #expect(texts.count == 12)
        #expect(texts.first?.contains("table t, row 1 (1): column a has 21 B") == true)
        #expect(texts.contains("import refuses 110 more"))
        let fine = try export(.csv) { try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY)") }
        #expect(fine.texts.isEmpty)
    }
}
