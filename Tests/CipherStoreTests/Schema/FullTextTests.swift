import Foundation
import Testing

@testable import CipherStore

/// Full-text tables of the modules that every library has.
@Suite struct FullTextTests {
    @Test func aTableByTheNameOfItsModuleIsLeftWhereItExists() throws {
        try DatabaseQueue().write { db throws in
            for _ in 0..<2 { try db.create(virtualTable: "page", ifNotExists: true, using: "fts4(body)") }
            let exists = try db.tableExists("page")
            #expect(exists)
            #expect(throws: DatabaseError.self) {
                try db.create(virtualTable: "page", ifNotExists: false, using: "fts4(body)")
            }
        }
    }

    @Test func aSynchronizedTableFollowsItsContent() throws {
        let queue = try DatabaseQueue(configuration: .keyed("secret"))
        try queue.write { db in
            try db.create(table: "note") { t in
                t.uuidPrimaryKey("id")
                t.column("body", .text)
            }
            try db.execute(
                sql: "INSERT INTO note VALUES (?, 'an encrypted database')", arguments: [UUID.v7()])
            try db.create(virtualTable: "noteText", using: FTS4()) { t in
                t.synchronize(withTable: "note")
                t.tokenizer = .unicode61()
                t.column("body")
            }
            let count = { (text: String) in
                try Int.fetchOne(
                    db, sql: "SELECT count(*) FROM noteText WHERE noteText MATCH ?",
                    arguments: [FTS3Pattern(matchingAllPrefixesIn: text)]) ?? -1
            }
            let before = try count("encr data")
            #expect(before == 1)
            try db.execute(sql: "UPDATE note SET body = 'a plain one'")
            let after = try [count("encr"), count("plain")]
            #expect(after == [0, 1])
            // Dropping another column leaves the rowids, which the text table goes by.
            try db.alter(table: "note") { $0.add(column: "colour", .text) }
            try db.alter(table: "note") { $0.drop(column: "colour") }
            try db.execute(sql: "DELETE FROM note")
            let end = try count("plain")
            #expect(end == 0)
        }
    }

    /// It is searched between transactions: SQLite 3.15.2 finds what a transaction has written in every language.
    @Test func aSynchronizedTableFollowsTheLanguagesOfItsContent() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT, language INTEGER);
                    INSERT INTO note VALUES (1, 'alpha', 1);
                    """)
            try db.create(virtualTable: "noteText", using: FTS4()) { t in
                t.synchronize(withTable: "note")
                t.column("body")
                t.column("language").asLanguageId()
            }
        }
        let found: (Int) throws -> [Int] = { language in
            try queue.read { db in
                try Int.fetchAll(
                    db,
                    sql: """
                        SELECT docid FROM noteText WHERE noteText MATCH 'alpha' AND language = ?
                        ORDER BY docid
                        """, arguments: [language])
            }
        }
        let execute: (String) throws -> Void = { sql in try queue.write { db in try db.execute(sql: sql) } }
        try execute("INSERT INTO note VALUES (2, 'alpha', 1), (3, 'alpha', 2), (4, 'alpha', NULL)")
        let inserted = try [found(1), found(2), found(0)]
        #expect(inserted == [[1, 2], [3], [4]])
        try execute("UPDATE note SET language = 2 WHERE id = 1; DELETE FROM note WHERE id IN (2, 4)")
        let changed = try [found(1), found(2), found(0)]
        #expect(changed == [[], [1, 3], []])
        // It throws when an entry is left of a row that is gone.
        try execute("INSERT INTO noteText(noteText) VALUES ('integrity-check')")
    }

    @Test func aModuleErrorUndoesTheTable() throws {
        struct Failing: VirtualTableModule {
            struct Stop: Error {}
            let moduleName = "fts4"
            func makeTableDefinition(configuration: VirtualTableConfiguration) {}
            func moduleArguments(for definition: Void, in db: Database) -> [String] { ["a"] }
            func database(_ db: Database, didCreate tableName: String, using definition: Void) throws {
                throw Stop()
            }
        }
        let queue = try DatabaseQueue(configuration: .keyed("secret"))
        #expect(throws: Failing.Stop.self) {
            try queue.write { try $0.create(virtualTable: "t", using: Failing()) }
        }
        let exists = try queue.read { try $0.tableExists("t") }
        #expect(!exists)
    }

    @Test func textWithoutTokensIsNoPattern() {
        for text in ["", "*", "\"", "?!", "()"] {
            #expect(FTS3Pattern(matchingAllTokensIn: text) == nil)
        }
        #expect(FTS3Pattern(matchingPhrase: "Moby, Dick!")?.rawPattern == "\"moby dick\"")
        #expect(throws: DatabaseError.self) { try FTS3Pattern(rawPattern: "\"") }
    }
}
