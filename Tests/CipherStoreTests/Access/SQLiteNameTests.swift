import Foundation
import Testing

@testable import CipherStore

/// Names and texts are compared and read as SQLite does it.
@Suite struct SQLiteNameTests {
    private struct Word: Codable, FetchableRecord, PersistableRecord, Equatable {
        static let databaseTableName = "word"
        var id: Int
        var upper: String
        var lower: String

        enum CodingKeys: String, CodingKey {
            case id
            case upper = "Ä"
            case lower = "ä"
        }
    }

    private func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE word (id INTEGER PRIMARY KEY, \"Ä\" TEXT UNIQUE, \"ä\" TEXT UNIQUE)")
        }
        return queue
    }

    @Test func onlyTheCaseOfASCIILettersIsIgnored() throws {
        let row: Row = ["Name": 1, "É": 2, "é": 3]
        let values = ["NAME", "É", "é"].map { row[$0] as Int }
        #expect(values == [1, 2, 3])
        #expect(!row.hasColumn("ê"))
        let alone: Row = ["É": 2]
        #expect(!alone.hasColumn("é"))
    }

    @Test func columnsThatDifferBeyondASCIIAreTwoColumns() throws {
        let queue = try makeQueue()
        try queue.write { db in
            var word = Word(id: 1, upper: "A", lower: "a")
            try word.insert(db)
            word.lower = "b"
            let changed = try word.updateChanges(db) { $0.lower = "c" }
            #expect(changed)
            let read = try Word.fetchOne(db, key: 1)
            #expect(read == word)
            let byKey = try Word.fetchOne(db, key: ["ä": "c"])
            #expect(byKey == word)
            let none = try Word.fetchOne(db, key: ["Ä": "c"])
            #expect(none == nil)
            let rest = try Word.select(.allColumns(excluding: ["ä"])).asRequest(of: Row.self).fetchOne(db)
            #expect(rest.map { Array($0.columnNames) } == ["id", "Ä"])
        }
    }

    @Test func tablesThatDifferBeyondASCIIAreNotAliased() throws {
        let queue = try makeQueue()
        try queue.write { db in
            try db.create(table: "Ö") { $0.primaryKey("id", .integer) }
            try db.create(table: "ö") { t in
                t.primaryKey("id", .integer)
                t.column("parent", .integer).references("Ö")
            }
            let child = Table("ö").belongsTo(Table("Ö"), using: ForeignKey(["parent"]))
            let sql = try Table("ö").including(required: child).makePreparedRequest(db).statement.sql
            #expect(sql.contains("JOIN \"Ö\" ON"))
        }
    }

    // MARK: NUL characters

    @Test func sqlAfterANULDoesNotRun() throws {
        let queue = try makeQueue()
        try queue.write { db in
            for sql in [
                "SELECT 1\0; DROP TABLE word", "SELECT 1;\0 DROP TABLE word", "\0DROP TABLE word",
                "SELECT 1 -- comment\0\nDROP TABLE word", "SELECT 'a\0b'", "SELECT 1\0",
            ] {
                #expect(throws: DatabaseError.self, "\(sql.debugDescription)") { try db.execute(sql: sql) }
                #expect(throws: DatabaseError.self, "\(sql.debugDescription)") {
                    try db.makeStatement(sql: sql)
                }
            }
            let exists = try db.tableExists("word")
            #expect(exists)
            do {
                try db.execute(sql: "SELECT 1\0; DROP TABLE word")
            } catch let error as DatabaseError {
                #expect(error.message?.contains("NUL") == true)
            }
        }
    }

    @Test func textWithANULComesBack() throws {
        let queue = try makeQueue()
        let text = "a\0b'\0"
        try queue.write { db in
            let word = Word(id: 1, upper: text, lower: "\0")
            try word.insert(db)
            let read = try Word.fetchOne(db, key: 1)
            #expect(read == word)
            let found = try Word.filter(Column("Ä") == text).fetchCount(db)
            #expect(found == 1)
            let bytes = try Data.fetchOne(db, sql: "SELECT CAST(\"Ä\" AS BLOB) FROM word")
            #expect(bytes == Data(text.utf8))
            let set = try String.fetchSet(db, sql: "SELECT \"Ä\" FROM word")
            #expect(set == [text])
            db.add(function: DatabaseFunction("same", argumentCount: 1, pure: true) { $0[0] })
            let same = try String.fetchOne(db, sql: "SELECT same(?)", arguments: [text])
            #expect(same == text)
            try db.create(table: "fallback") { t in
                t.primaryKey("id", .integer)
                t.column("text", .text).notNull().defaults(to: text)
            }
            try db.execute(sql: "INSERT INTO fallback DEFAULT VALUES")
            let value = try String.fetchOne(db, sql: "SELECT text FROM fallback")
            #expect(value == text)
        }
    }
}
