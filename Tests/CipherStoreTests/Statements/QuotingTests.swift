import Foundation
import Testing

@testable import CipherStore

/// Names and texts that would end early if the quotes in them were not doubled.
@Suite struct QuotingTests {
    /// With a mark that combines with it, a quote is a part of another character.
    static let names = [
        "a\"b", "\"", "a\"\u{301}b", "\"\u{200D}\"\u{20DD}", "a\r\n\"\u{FE0F}",
        "x\"\u{301}; DROP TABLE t; --", "[a]", "a`b",
        "a'\u{301}b", "select", "ä ö", "",
    ]

    @Test(arguments: names) func aNameStaysOneName(name: String) throws {
        let quoted = name.quotedDatabaseIdentifier
        #expect(quoted.utf8.count { $0 == 0x22 } == 2 + 2 * name.utf8.count { $0 == 0x22 })
        guard !name.isEmpty else { return }
        try DatabaseQueue().write { db in
            try db.create(table: name) { table in
                table.autoIncrementedPrimaryKey("id")
                table.column(name, .text).defaults(to: name)
                table.column("other", .text)
            }
            try db.create(indexOn: name, columns: [name])
            #expect(try db.tableExists(name))
            try db.execute(sql: "INSERT INTO \(quoted) (other) VALUES ('o')")
            #expect(try String.fetchOne(db, sql: "SELECT \(quoted) FROM \(quoted)") == name)
            #expect(try db.columns(in: name).map(\.name) == ["id", name, "other"])
            try db.alter(table: name) { $0.rename(column: name, to: "plain") }
            try db.alter(table: name) { $0.rename(column: "plain", to: name) }
            try db.alter(table: name) { $0.drop(column: "other") }
            #expect(try db.columns(in: name).map(\.name) == ["id", name])
            try db.rename(table: name, to: "renamed")
            try db.rename(table: "renamed", to: name)
            #expect(try !db.dumpedText(of: name).isEmpty)
            try db.drop(table: name)
            #expect(try !db.tableExists(name))
        }
    }

    @Test(arguments: names) func anIdentifierInALiteralStaysOneName(name: String) throws {
        guard !name.isEmpty else { return }
        try DatabaseQueue().write { db throws in
            try db.create(table: name) { table in
                table.column(name, .text)
            }
            try db.execute(
                literal: "INSERT INTO \(identifier: name) (\(identifier: name)) VALUES (\("value"))")
            let request = SQLRequest<String>(
                literal: "SELECT \(identifier: name) FROM \(identifier: name)")
            let values = try request.fetchAll(db)
            #expect(values == ["value"])
        }
    }

    /// Swift takes the names for the same text, and SQLite does not.
    @Test func namesOfOtherCodePointsAreOtherColumns() throws {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        try DatabaseQueue().write { (db: Database) throws -> Void in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, \(composed), \(decomposed), a)")
            try db.execute(sql: "INSERT INTO t VALUES (1, 2, 3, 4)")
            let rows = try Row.fetchCursor(db, sql: "SELECT * FROM t")
            let row = try #require(try rows.next())
            for row in [row, row.copy()] {
                // From left to right, where the next column is guessed, and back.
                let columns = ["id", composed, decomposed, "a", decomposed, composed, "ID"]
                #expect(columns.map { row[$0] as Int? } == [1, 2, 3, 4, 3, 2, 1])
                #expect(row["E\u{301}"] as Int? == 3)
                #expect(row["b"] as Int? == nil)
            }
            var container = PersistenceContainer()
            container[composed] = 5
            container[decomposed] = 6
            #expect(container[composed]?.databaseValue == 5.databaseValue)
            #expect(container[decomposed]?.databaseValue == 6.databaseValue)
            try Accents(id: 2, composed: 5, decomposed: 6).insert(db)
            let stored = try Row.fetchOne(db, sql: "SELECT \(composed), \(decomposed) FROM t WHERE id = 2")
            #expect(stored?.databaseValues == [5.databaseValue, 6.databaseValue])
            #expect(try Accents.fetchOne(db, key: 2) == Accents(id: 2, composed: 5, decomposed: 6))
        }
    }

    @Test(arguments: names) func aTextStaysOneText(text: String) throws {
        let stream = TextStream()
        try DatabaseQueue().write { db in
            try db.dumpSQL(SQL("SELECT \(text)"), format: .quote(), to: stream)
            let literal = stream.text.trimmingCharacters(in: .newlines)
            #expect(try String.fetchOne(db, sql: "SELECT " + literal) == text)
            try db.create(table: "t") { table in
                table.column("a", .integer)
                table.column("b", .text).notNull().defaults(to: text)
            }
            try db.execute(sql: "INSERT INTO t (a) VALUES (1)")
            #expect(try String.fetchOne(db, sql: "SELECT b FROM t") == text)
        }
    }
}

/// A record of two columns whose names Swift takes for the same.
private struct Accents: Codable, Equatable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "t"

    enum CodingKeys: String, CodingKey {
        case id
        case composed = "\u{E9}"
        case decomposed = "e\u{301}"
    }

    var id: Int
    var composed: Int
    var decomposed: Int
}

private final class TextStream: TextOutputStream {
    var text = ""
    func write(_ string: String) { text += string }
}

extension Database {
    fileprivate func dumpedText(of table: String) throws -> String {
        let stream = TextStream()
        try dumpTables([table], to: stream)
        return stream.text
    }
}
