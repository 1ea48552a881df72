import Foundation
import Testing

/// What is imported comes back as it was, and the result says what did not.
@Suite struct ImportFidelityTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.succeed(["init", place.path("a.db")] + own)
    }

    private var own: [String] { ["--passphrase-file", place.secret("a")] }

    private func importing(_ text: String, as name: String, _ arguments: [String] = []) throws
        -> CommandResult
    {
        let file = try place.folder.write(text, to: name)
        return try place.run(["import", place.path("a.db"), file] + own + arguments)
    }

    private func exported(_ table: String, _ format: String = "csv") throws -> String {
        try place.succeed(["export", place.path("a.db"), "--format", format, "--table", table] + own).output
    }

    /// The export without the column of keys.
    private func fields(_ table: String) throws -> [String] {
        try exported(table).split(separator: "\n").map { String($0.drop { $0 != "," }.dropFirst()) }
    }

    @Test func numbersThatWouldChangeStayText() throws {
        let lines = [
            "name,phone,version,price,exponent,whole,part", "Ann,+4930123456,1.10,2.50,1e5,7,0.5",
            "Bob,+4930123457,1.9,2.75,2e5,8,12",
        ]
        #expect(try importing(lines.joined(separator: "\n") + "\n", as: "tel.csv").status == 0)
        #expect(try fields("tel") == lines)
    }

    @Test func aTextWithAZeroByteComesBack() throws {
        #expect(try importing("name\n\"a\0b\"\n", as: "t.csv").status == 0)
        #expect(try fields("t") == ["name", "\"a\0b\""])
        let refused = try importing("n\0a\0", as: "utf16.csv")
        #expect(refused.status == 1 && refused.errors.contains("UTF-16"), "\(refused.errors)")
    }

    @Test func theResultCountsWhatBecameNULL() throws {
        let text = "country,stars\nNA,1\nDE,\n\"NA\",NA\n"
        let result = try importing(text, as: "place.csv")
        #expect(result.output.contains("NULL: 2 in stars, 1 in country"), "\(result.output)")
        let columns =
            try importing(text, as: "place.csv", ["--json"]).document()["columns"] as? [[String: Any]]
        #expect(columns?.map { $0["nulls"] as? Int } == [1, 2])
    }

    @Test func theUserSaysWhatIsNULL() throws {
        let text = "country,stars\nNA,-\nDE,1\n"
        let result = try importing(text, as: "place.csv", ["--null", "-"])
        #expect(result.status == 0 && result.output.contains("NULL: 1 in stars)"), "\(result.output)")
        #expect(try place.rows("a.db", "a", "place").map { $0.split(separator: "|").count } == [3, 3])
        #expect(try exported("place").contains("\"NA\""))
    }

    @Test func theUserSaysWhatAColumnHolds() throws {
        let result = try importing(
            "zip,data,mix\n5,00ff,1.10\n6,\"\",7\n", as: "t.csv",
            ["--type", "zip=text", "--type", "data=blob", "--type", "mix=any", "--json"])
        let columns = try result.document()["columns"] as? [[String: Any]]
        #expect(columns?.map { $0["type"] as? String } == ["TEXT", "BLOB", "ANY"])
        let rows = try place.rows("a.db", "a", "t").map { String($0.drop { $0 != "|" }.dropFirst(2)) }
        #expect(rows == ["\"5\" | x00ff | \"1.10\"", "\"6\" | x | 7"])
        #expect(try fields("t") == ["zip,data,mix", "5,00ff,1.10", "6,\"\",7"])
    }

    @Test func aValueThatIsNoneOfItsTypeIsRefusedWithItsLine() throws {
        let result = try importing("a\n1\nx\n", as: "t.csv", ["--type", "a=integer"])
        #expect(result.status == 1 && result.errors.contains("t.csv:3") && result.errors.contains("integer"))
        let quoted = try importing("a\n1 äöü 'x'\n", as: "t.csv", ["--type", "a=integer"])
        #expect(quoted.errors.contains("\"1 äöü 'x'\" in column a is no integer"), "\(quoted.errors)")
        #expect(try importing("a\n1\n", as: "t.csv", ["--type", "b=text"]).status == 64)
        #expect(try importing("a\n1\n", as: "t.csv", ["--type", "a=nonsense"]).status == 64)
    }

    @Test(arguments: [
        ("a;b\n1;2\n", "semicolons", "--delimiter ';'"), ("a\tb\n1\t\"2\"\n", "tabs", "--delimiter tab"),
        ("{\"a\":1}\n", "JSON Lines", "--format jsonl"), ("[{\"a\":1}]\n", "JSON array", "jq"),
    ]) func anotherFormatIsNamedWithItsOption(text: String, format: String, option: String) throws {
        let result = try importing(text, as: "t.csv")
        #expect(result.status == 1 && result.errors.contains(format) && result.errors.contains(option))
    }

    @Test func aColumnOfSemicolonsIsTakenWhenTheDelimiterIsNamed() throws {
        #expect(try importing("a;b\n1;2\n", as: "t.csv", ["--delimiter", ","]).status == 0)
        #expect(try fields("t") == ["a;b", "1;2"])
    }

    @Test func moreColumnsThanAStatementTakesAreRefusedInWords() throws {
        let names = (1...1500).map { "c\($0)" }.joined(separator: ",")
        let result = try importing("\(names)\n\(names)\n", as: "wide.csv")
        // A newer SQLite takes them.
        guard result.status != 0 else { return }
        #expect(
            result.status == 1 && result.errors.contains("1,500 columns")
                && !result.errors.contains("SQLite error"))
    }

    @Test func viewsAndTablesWithIntegerKeysAreRefusedInWords() throws {
        let queue = try place.open("a.db", "a")
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE n (k INTEGER PRIMARY KEY, a TEXT); CREATE VIEW v AS SELECT 1 AS a")
        }
        try queue.close()
        let view = try importing("a\n1\n", as: "t.csv", ["--table", "v"])
        #expect(view.status == 1 && view.errors.contains("v is a view"))
        let keyed = try importing("a\n1\n", as: "t.csv", ["--table", "n"])
        #expect(
            keyed.status == 1 && keyed.errors.contains("is an integer, k")
                && !keyed.errors.contains("SQLite error"))
        #expect(try importing("k,a\n7,x\n", as: "t.csv", ["--table", "n"]).status == 0)
        #expect(try place.rows("a.db", "a", "n") == ["7 | \"x\""])
        #expect(try importing("k,a\nseven,x\n", as: "t.csv", ["--table", "n"]).errors.contains("t.csv:2"))
    }

    @Test func aDryRunChangesNothing() throws {
        let text = "a\n1\n"
        let result = try importing(text, as: "t.csv", ["--dry-run", "--track"])
        #expect(result.status == 0 && result.output.hasPrefix("would import 1 row into t"))
        let queue = try place.open("a.db", "a")
        defer { try? queue.close() }
        #expect(try !StoreProbe.hasTable(queue, "t"))
    }

    @Test func rowsComeThroughAPipe() throws {
        let result = try CommandRunner.run(
            ["import", place.path("a.db"), "-", "--table", "t"] + own, input: "a,b\n1,x\n2,y\n")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try fields("t") == ["a,b", "1,x", "2,y"])
        #expect(try CommandRunner.run(["import", place.path("a.db"), "-"] + own, input: "a\n").status == 64)
    }
}
