import CipherStore
import Foundation
import Testing

/// Dumps of what the formats could get wrong.
@Suite struct DumpTests {
    private final class Text: TextOutputStream {
        var text = ""
        func write(_ string: String) { text += string }
    }

    private func dump(_ body: (Database, Text) throws -> Void) throws -> String {
        let text = Text()
        try DatabaseQueue().inDatabase { try body($0, text) }
        return text.text
    }

    @Test func jsonIsJSONWhateverTheValues() throws {
        let text = try dump { db, text in
            try db.dumpSQL(
                "SELECT \"a\"\"b\", 1e999, 1e100, x'00ff', \("\u{1}\u{2028}\"\\/")  FROM (SELECT 1 AS \"a\"\"b\")",
                format: .json(), to: text)
        }
        let rows = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]]
        #expect(rows?.count == 1)
        #expect(rows?.first?["a\"b"] as? Int == 1)
        #expect(rows?.first?["1e999"] as? String == "inf")
        #expect(rows?.first?["1e100"] as? Double == 1e100)
        #expect(rows?.first?["x'00ff'"] as? String == "AP8=")
        #expect(rows?.first?.values.contains { $0 as? String == "\u{1}\u{2028}\"\\/" } == true)
    }

    @Test func quotedValuesAreTheSameWhenTheyAreRead() throws {
        let values: [DatabaseValue] = [
            .null, Int64.min.databaseValue, 1e300.databaseValue, Double.leastNonzeroMagnitude.databaseValue,
            0.1.databaseValue,
            Double.infinity.databaseValue, (-Double.infinity).databaseValue, "it's".databaseValue,
            Data([0, 255]).databaseValue,
        ]
        let text = try dump { db, text in
            for value in values { try db.dumpSQL("SELECT \(value)", format: .quote(), to: text) }
            for (literal, value) in zip(text.text.split(separator: "\n"), values) {
                let row = try Row.fetchOne(db, sql: "SELECT \(literal)")
                #expect(row?.databaseValues == [value], "\(literal)")
            }
        }
        #expect(text.hasSuffix("'it''s'\nX'00FF'\n"))
    }

    @Test func whatIsNotTheApplicationsIsLeftOut() throws {
        let text = try dump { db, text in
            try db.execute(
                sql: """
                    CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, body UNIQUE);
                    CREATE VIRTUAL TABLE search USING fts4(body);
                    CREATE VIRTUAL TABLE place USING rtree(id, low, high);
                    CREATE TABLE _sync_log (a); CREATE TABLE search_other (a);
                    CREATE TRIGGER _sync_t AFTER INSERT ON note BEGIN SELECT 1; END;
                    INSERT INTO note VALUES (2, 'b'), (1, 'a'); INSERT INTO search VALUES ('found');
                    """)
            try db.dumpContent(to: text)
        }
        #expect(
            text == """
                sqlite_master
                CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, body UNIQUE);
                CREATE VIRTUAL TABLE place USING rtree(id, low, high);
                CREATE VIRTUAL TABLE search USING fts4(body);
                CREATE TABLE search_other (a);

                note
                1|a
                2|b

                place

                search
                found

                search_other

                """)
    }

    /// Counts rows.
    private struct CountFormat: DumpFormat {
        var count = 0
        mutating func writeRow(_ row: Row, to stream: inout DumpStream) { count += 1 }
        mutating func finalize(columnNames: [String], to stream: inout DumpStream) {
            stream.margin()
            stream.writeln("\(count) \(columnNames)")
        }
    }

    @Test func anAppCanHaveAFormatOfItsOwn() throws {
        let text = try dump { db, text in
            try db.dumpSQL(
                "SELECT 1 AS a UNION SELECT 2; CREATE TABLE t (a); SELECT 2 AS b WHERE 0",
                format: CountFormat(),
                to: text)
        }
        #expect(text == "2 [\"a\"]\n\n0 []\n\n0 [\"b\"]\n")
    }

    @Test func aViewIsSortedWhenThatIsAskedFor() throws {
        let text = try dump { db, text in
            try db.execute(
                sql: """
                    CREATE TABLE "a b" (a); INSERT INTO "a b" VALUES (3), (1), (2);
                    CREATE VIEW v AS SELECT a FROM "a b" ORDER BY a DESC
                    """)
            try db.dumpTables(["a b", "v"], to: text)
            try db.dumpTables(["v"], tableHeader: .always, stableOrder: true, to: text)
            #expect(throws: DatabaseError.self) { try db.dumpTables(["missing"], to: text) }
        }
        #expect(text == "a b\n3\n1\n2\n\nv\n3\n2\n1\nv\n1\n2\n3\n")
    }
}
