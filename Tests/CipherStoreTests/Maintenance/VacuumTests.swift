import Foundation
import Testing

@testable import CipherStore

@Suite struct VacuumTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// SQLCipher gives the copy the settings of new files, whatever those of the store are, and no keyring.
    @Test(.enabled(if: EngineFeatures.current.supportsTrustedSchema))
    func aCompactCopyThatNoPassphraseMayOpenIsRefused() throws {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        let copy = folder.file("copy.db")
        try queue.writeWithoutTransaction { db throws in
            for sql in ["VACUUM INTO ?", "-- smaller\nvacuum main\ninto ?"] {
                let error = #expect(throws: DatabaseError.self) {
                    try db.execute(sql: sql, arguments: [copy])
                }
                #expect(error?.resultCode == .SQLITE_MISUSE)
                #expect(error?.message?.contains("vacuum(into:)") == true)
            }
            // The name of a schema is no keyword.
            try db.execute(sql: "VACUUM \"main\"")
        }
        #expect(try folder.contents() == ["a.db"])
        let plain = try DatabaseQueue(path: folder.file("plain.db"))
        try plain.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            try db.execute(sql: "VACUUM INTO ?", arguments: [copy])
        }
        #expect(try folder.contents() == ["a.db", "copy.db", "plain.db"])
    }

    // MARK: Rows that virtual tables know by their numbers

    private static let words = ["beta", "gamma", "delta"]

    /// A table whose rows have nothing but the numbers that SQLite gives them, and a full-text table of its content.
    /// The first row was deleted.
    private func makeNotes() throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE note (title TEXT COLLATE NOCASE)")
            try db.create(virtualTable: "noteText", using: FTS4()) { t in
                t.synchronize(withTable: "note")
                t.column("title")
            }
            for word in ["alpha"] + Self.words {
                try db.execute(sql: "INSERT INTO note VALUES (?)", arguments: [word])
            }
            try db.execute(sql: "DELETE FROM note WHERE title = 'alpha'")
        }
        return queue
    }

    /// The titles that searches for the words find.
    private func found(_ db: Database) throws -> [String] {
        try Self.words.flatMap { word in
            try String.fetchAll(
                db,
                sql: """
                    SELECT title FROM note WHERE rowid IN (SELECT docid FROM noteText WHERE noteText MATCH ?)
                    """,
                arguments: [word])
        }
    }

    private func objects(_ db: Database) throws -> [String] {
        try String.fetchAll(db, sql: "SELECT name FROM sqlite_master ORDER BY name")
    }

    @Test func aSearchFindsTheSameRowsAfterTheFileWasRebuilt() throws {
        let queue = try makeNotes()
        let before = try queue.read(objects)
        try queue.vacuum()
        #expect(try queue.read(found) == Self.words)
        #expect(try queue.read(objects) == before)
    }

    @Test func aSearchFindsTheSameRowsInACompactCopy() throws {
        let queue = try makeNotes()
        let before = try queue.read(objects)
        try queue.vacuum(into: folder.file("copy.db"))
        let copy = try DatabaseQueue(path: folder.file("copy.db"), configuration: .keyed("secret"))
        #expect(try copy.read(found) == Self.words)
        #expect(try copy.read(objects) == before)
    }

    /// A process that is killed in the middle leaves what this makes: whoever rebuilds the file then keeps the numbers.
    @Test func whatAKilledProcessLeftKeepsTheNumbersAndGoesWithTheNextTime() throws {
        let queue = try makeNotes()
        let before = try queue.read(objects)
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: "CREATE INDEX _cipherstore_vacuum_1a_0 ON note (title COLLATE BINARY) WHERE 0; VACUUM")
        }
        #expect(try queue.read(found) == Self.words)
        try queue.vacuum()
        #expect(try queue.read(found) == Self.words)
        #expect(try queue.read(objects) == before)
    }

    @Test func aCancelledTaskLeavesNoIndex() throws {
        let queue = try makeNotes()
        let before = try queue.read(objects)
        try queue.inDatabase { db throws in
            db.trace { if "\($0)".hasPrefix("VACUUM") { db.interruption.insert(.cancelled) } }
            // It may be done before it notices.
            try? db.vacuum()
            db.trace(options: [])
            #expect(db.interruption.restrictions.contains(.cancelled))
            db.interruption.remove(.cancelled)
        }
        #expect(try queue.read(objects) == before)
        #expect(try queue.read(found) == Self.words)
    }
}
