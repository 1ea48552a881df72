import ArgumentParser
import CipherStore
import Foundation
import Testing

@testable import SyncctlCommands

/// What exported texts can do to a terminal or a spreadsheet.
@Suite struct ExportCareTests {
    private static let hostile = "a\u{1B}[31m\u{9B}2J\nb,\"c\""

    private func csv(_ texts: [String], _ care: RowText.CSVCare) -> String {
        RowText.csv(texts.map { $0.databaseValue }, care)
    }

    /// Writes rows as `export` does, to a file that stands for standard output.
    private func export(
        _ format: TextExport.Format, isTerminal: Bool, escapesFormulas: Bool = false
    ) throws -> String {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE \"t\u{1B}c\" (id TEXT, \"=n\u{1B}\" INTEGER)")
            try db.execute(
                sql: "INSERT INTO \"t\u{1B}c\" VALUES (?, -5), ('=1+1', 7), ('line\nfeed', NULL)",
                arguments: [Self.hostile])
        }
        let folder = try TemporaryFolder()
        let descriptor = open(folder.file("output"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var streams = Terminal.Streams()
        streams.output = descriptor
        streams.outputIsTerminal = isTerminal
        let terminal = Terminal(streams: streams)
        let global = try GlobalOptions.parse([])
        try CommandContext.run(global) { context in
            try queue.read { db in
                let export = TextExport(
                    db: db, terminal: terminal, progress: context.progress("exporting"),
                    escapesFormulas: escapesFormulas)
                _ =
                    try format == .sql
                    ? export.writeScript(to: nil) : export.write("t\u{1B}c", format, to: nil)
            }
            return .success
        }
        return try folder.text("output")
    }

    private func acts(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" && $0 != "\t" }
    }

    @Test(arguments: TextExport.Format.allCases)
    func aTerminalIsShownNoControls(format: TextExport.Format) throws {
        #expect(try !acts(export(format, isTerminal: true)))
        // Another program gets what is in the rows.
        if format != .jsonl { #expect(try acts(export(format, isTerminal: false))) }
    }

    @Test func controlsOnATerminalAreShownAsCodes() {
        let care = RowText.CSVCare(isForTerminal: true)
        #expect(csv([Self.hostile], care) == "\"a\\u{1b}[31m\\u{9b}2J\\nb,\"\"c\"\"\"\n")
        #expect(csv([Self.hostile], .init()) == "\"a\u{1B}[31m\u{9B}2J\nb,\"\"c\"\"\"\n")
        #expect(RowText.csvHeader(["a\u{7}"], care) == "a\\u{7}\n")
    }

    @Test func sqlOnATerminalHoldsTheSameValues() throws {
        let text = "a\u{1B}[31m'b'\n"
        for isForTerminal in [true, false] {
            let literal = RowText.sqlLiteral(text.databaseValue, isForTerminal: isForTerminal)
            #expect(literal.hasPrefix("CAST(x'") == isForTerminal)
            #expect(try DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT \(literal)") } == text)
        }
        #expect(RowText.sqlLiteral("a\n\tb".databaseValue, isForTerminal: true) == "'a\n\tb'")
    }

    /// SQLite and CSV look at bytes. A quote that one of these marks follows is no `Character` of its own.
    @Test func aQuoteIsDoubledWhateverFollowsIt() throws {
        for mark in ["\u{301}", "\u{200D}", "\u{FE0F}"] {
            let text = "a'\(mark)b,\"\(mark)c"
            let expected = Array(text.utf8)
            for literal in [RowText.sqlLiteral(text.databaseValue), ValueText.literal(text.databaseValue)] {
                let value = try DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT \(literal)") }
                #expect(value.map { Array($0.utf8) } == expected)
            }
            let folder = try TemporaryFolder()
            let reader = try CSVReader(
                path: folder.write(RowText.csvHeader([text]) + csv([text], .init()), to: "rows.csv"))
            var fields = reader.header.map { Array($0.utf8) }
            try reader.forEachRecord { record in
                record.withField(0) { bytes, _ in fields.append(Array(bytes)) }
            }
            #expect(fields == [expected, expected])
        }
    }

    @Test func aZeroByteStandsInQuotes() {
        #expect(csv(["\0", "a\0b"], .init()) == "\"\0\",\"a\0b\"\n")
    }

    @Test func formulasAreEscapedOnRequestOnly() throws {
        let care = RowText.CSVCare(escapesFormulas: true)
        let formulas = ["=1+1", "+1", "-1", "@a", "\ta", "\ra"]
        #expect(csv(formulas, care) == "'=1+1,'+1,'-1,'@a,'\ta,\"'\ra\"\n")
        #expect(csv(formulas, .init()) == "=1+1,+1,-1,@a,\ta,\"\ra\"\n")
        #expect(csv(["a=1", "", "NA", "'=1"], care) == "a=1,\"\",\"NA\",'=1\n")
        #expect(RowText.csv([(-1).databaseValue, (-1.5).databaseValue, .null], care) == "-1,-1.5,\n")
        let text = try export(.csv, isTerminal: false, escapesFormulas: true)
        #expect(text.hasPrefix("id,'=n") && text.contains("\n'=1+1,7\n"))
    }

    @Test func theOptionGoesWithCSV() throws {
        let place = try Workplace()
        for arguments in [["--format", "jsonl", "--table", "t"], ["--plaintext", "--to", place.path("b")]] {
            let result = try place.run(
                ["export", place.path("a.db"), "--escape-formulas"] + arguments
                    + ["--passphrase-file", place.secret("a")])
            #expect(result.status == 64 && result.errors.contains("--escape-formulas"))
        }
    }
}
