import CipherStore
import Foundation
import Testing

@testable import SyncctlCommands

/// What `export --format jsonl` writes comes back identical, and other JSON is read as what it is.
@Suite struct JSONLinesTests {
    private func withLines<R>(
        _ text: String, bufferSize: Int = 256 << 10, _ body: (JSONLinesReader) throws -> R
    ) throws -> R {
        let folder = try TemporaryFolder()
        let source = try ImportSource(path: folder.write(text, to: "t.jsonl"))
        return try body(JSONLinesReader(source: source, bufferSize: bufferSize))
    }

    private func values(_ text: String, bufferSize: Int = 256 << 10) throws -> [[String]] {
        try withLines(text, bufferSize: bufferSize) { reader in
            var lines: [[String]] = []
            try reader.forEachLine { _, values in lines.append(values.map { $0.map { "\($0)" } ?? "-" }) }
            return lines
        }
    }

    private func problem(_ text: String) throws -> CSVError? {
        do {
            _ = try values(text)
            return nil
        } catch let error as CSVError {
            return error
        }
    }

    @Test func linesAreReadWhereverTheFileIsCut() throws {
        let text =
            "{\"a\":1,\"b\":\"\u{E9}\\n\\u00e9\\ud83d\\ude00\"}\r\n\n{\"c\":[1,{\"x\":\"}\"}],\"a\":null}\n{}"
        let expected = [
            ["1", "\u{E9}\n\u{E9}\u{1F600}"], ["null", "-", "[1,{\"x\":\"}\"}]"], ["-", "-", "-"],
        ]
        for bufferSize in [1, 2, 3, 7, 64, 4096] {
            #expect(try values(text, bufferSize: bufferSize) == expected, "\(bufferSize)")
        }
    }

    @Test(arguments: [
        "[]", "{\"a\":1", "{\"a\" 1}", "{\"a\":01}", "{\"a\":1.}", "{\"a\":tru}", "{\"a\":\"\\x\"}",
        "{\"a\":\"\\ud800\"}", "{\"a\":1} 2", "{\"a\":1,\"a\":2}", "{\"a\":1,\"A\":2}", "{\"\":1}",
        "{\"a\":}",
        "{a:1}", "{\"a\":\"\u{1}\"}",
    ]) func aLineThatIsNoObjectIsRefusedWithItsNumber(text: String) throws {
        let error = try #require(try problem("{\"a\":1}\n\(text)\n"))
        #expect((error.code, error.line) == (.invalidJSON, 2))
    }

    @Test func membersWithNamesThatLookAlikeAreColumnsOfTheirOwn() throws {
        #expect(try values("{\"\u{E9}\":1,\"e\u{301}\":2,\"\u{C9}\":3}\n") == [["1", "2", "3"]])
    }

    @Test func deepValuesAreRefused() throws {
        let text = "{\"a\":" + String(repeating: "[", count: 100_000)
        #expect(try problem(text)?.code == .invalidJSON)
    }

    @Test func trueAndFalseAreNumbersOfAnyTypeThatHasThem() {
        func shown(_ field: JSONField, as type: ColumnType) -> String? {
            field.withValue(as: type, isRequired: true, readsUUIDs: false) { value -> String in
                switch value {
                case .integer(let number): "\(number)"
                case .real(let number): "\(number)"
                case .text(let bytes): "'\(String(decoding: bytes, as: UTF8.self))'"
                case .null, .blob: "other"
                }
            }
        }
        for (word, number) in [("true", 1), ("false", 0)] as [(String, Int64)] {
            let field = JSONField.integer(number, written: word)
            for type in [ColumnType.integer, .numeric, .any] {
                #expect(shown(field, as: type) == "\(number)")
            }
            #expect(shown(field, as: .real) == "\(number).0")
            #expect(shown(field, as: .text) == "'\(word)'")
            #expect(shown(field, as: .blob) == nil)
        }
        #expect(shown(.integer(7, written: "7"), as: .real) == "7.0")
    }

    @Test func anExportComesBackIdentical() throws {
        let place = try Workplace()
        let own = ["--passphrase-file", place.secret("a")]
        try place.succeed(["init", place.path("a.db")] + own)
        let queue = try place.open("a.db", "a")
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (id BLOB NOT NULL PRIMARY KEY, i INTEGER, r REAL, s TEXT, b BLOB, x);
                    INSERT INTO t VALUES (x'0190c2f47d4e7a108f002b1f6e1b9a3c', 9223372036854775807, 0.1, 'a"b', x'00ff', 5);
                    INSERT INTO t VALUES (x'0190c2f47d4e7a108f002b1f6e1b9a3d', NULL, 1e300, '', x'', 5.0);
                    INSERT INTO t VALUES (x'0190c2f47d4e7a108f002b1f6e1b9a3e', -1, 9e999, 'NA', NULL, '5');
                    INSERT INTO t VALUES (x'0190c2f47d4e7a108f002b1f6e1b9a3f', 0, 5e-324, 'inf',
                        x'0190c2f47d4e7a108f002b1f6e1b9a3c', x'01');
                    CREATE TABLE u AS SELECT * FROM t WHERE 0;
                    """)
            let definition =
                try String.fetchOne(db, sql: "SELECT sql FROM sqlite_master WHERE name = 't'") ?? ""
            try db.execute(sql: "DROP TABLE u; \(definition.replacing("TABLE t", with: "TABLE u"))")
        }
        try queue.close()
        let text = try place.succeed(
            ["export", place.path("a.db"), "--format", "jsonl", "--table", "t"] + own
        ).output
        let file = try place.folder.write(text, to: "t.jsonl")
        for table in ["u", "new"] {
            try place.succeed(["import", place.path("a.db"), file, "--table", table] + own)
            let back = try place.succeed(
                ["export", place.path("a.db"), "--format", "jsonl", "--table", table] + own)
            #expect(back.output == text, "\(table)")
        }
        // With the definitions, the values are the same and not just their text.
        #expect(try place.rows("a.db", "a", "u") == place.rows("a.db", "a", "t"))
    }
}
