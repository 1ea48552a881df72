import Foundation
import Testing

@testable import CipherStore

/// Stores whose indexes and constraints need a collation or function of the app.
@Suite struct AppDefinitionTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let byLength = DatabaseCollation("byLength") { left, right in
        left.count == right.count
            ? left.compare(right) : left.count < right.count ? .orderedAscending : .orderedDescending
    }

    private static let mark = DatabaseFunction("mark", argumentCount: 1, pure: true) { values in
        String.fromDatabaseValue(values[0]).map { "<\($0)>" }
    }

    private var path: String { folder.file("a.db") }

    private func configuration(_ passphrase: String) -> Configuration {
        var configuration = Configuration.keyed(passphrase)
        configuration.prepareDatabase { db in
            db.add(collation: Self.byLength)
            db.add(function: Self.mark)
        }
        return configuration
    }

    /// A store of three words, the longer ones first.
    private func makeStore() throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: path, configuration: configuration("old"))
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE word (text TEXT NOT NULL COLLATE byLength UNIQUE, CHECK (mark(text) IS NOT NULL));
                    CREATE INDEX marked ON word (mark(text));
                    CREATE TABLE row_in_order (text TEXT COLLATE byLength PRIMARY KEY) WITHOUT ROWID;
                    CREATE TABLE other (name TEXT UNIQUE, text TEXT REFERENCES word (text));
                    INSERT INTO word VALUES ('ccc'), ('bb'), ('a');
                    INSERT INTO row_in_order SELECT text FROM word;
                    INSERT INTO other SELECT text, text FROM word;
                    """)
        }
        return queue
    }

    private func expectWords(
        _ path: String, _ passphrase: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let queue = try DatabaseQueue(path: path, configuration: configuration(passphrase))
        defer { try? queue.close() }
        try queue.read { db throws in
            let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check")
            let words = try String.fetchAll(db, sql: "SELECT text FROM word ORDER BY text")
            let found = try String.fetchOne(db, sql: "SELECT text FROM word WHERE mark(text) = '<bb>'")
            #expect(problems == ["ok"], sourceLocation: sourceLocation)
            #expect(words == ["a", "bb", "ccc"] && found == "bb", sourceLocation: sourceLocation)
        }
    }

    @Test func theAppCopiesItsStoreAndChangesThePassphrase() throws {
        let queue = try makeStore()
        try queue.writeWithoutTransaction { db throws in
            // What is done to the copy needs them, too.
            let finishing: (Database) throws -> Void = {
                try $0.execute(sql: "DELETE FROM row_in_order WHERE text = 'a'; REINDEX")
            }
            try StoreCopy.make(
                of: db, at: folder.file("copy.db"), passphrase: Passphrase("copy"), finishing: finishing)
            try PlaintextExport.writePlaintext(of: db, at: folder.file("plain.db"))
        }
        try queue.vacuum(into: folder.file("compact.db"))
        try queue.changePassphrase(Passphrase("new"))
        try queue.close()
        try expectWords(folder.file("copy.db"), "copy")
        try expectWords(folder.file("compact.db"), "old")
        try expectWords(path, "new")
    }

    @Test func theAppHasAnArchiveThatIsRestoredWithoutIt() throws {
        let queue = try makeStore()
        let lock = ArchiveLock(passphrase: try Passphrase("archive"), cost: .minimum)
        let archive = folder.file("a.csa")
        try queue.writeWithoutTransaction { try StoreArchive.write(of: $0, to: archive, lock: lock) }
        let secret = ArchiveSecret(try Passphrase("archive"))
        try StoreArchive.verify(archive, opening: secret)
        let restored = folder.file("restored.db")
        try StoreArchive.restore(archive, to: restored, opening: secret, passphrase: Passphrase("new"))
        try expectWords(restored, "new")
    }

    @Test func anotherProgramChangesThePassphraseAndChecksTheStore() throws {
        try makeStore().close()
        try StoreRekey.run(path: path, from: Passphrase("old"), to: Passphrase("new"))
        try expectWords(path, "new")
        let report = try StoreCheck.run(path: path, opening: Secret(Passphrase("new")), isDeep: true)
        // Which of them the check meets is for the engine.
        let unknown = Set(report.unknownNames)
        #expect(report.problems == [] && !unknown.isEmpty && unknown.isSubset(of: ["byLength", "mark"]))
        try StoreRekey.makeKeyring(path: path, from: Passphrase("new"), cost: .minimum)
        try expectWords(path, "new")
    }

    // MARK: - Localized collations

    /// A store whose localized indexes have the order of another device.
    private func makeStore(_ collation: DatabaseCollation, _ words: [String]) throws {
        var configuration = Configuration.keyed("old")
        configuration.prepareDatabase { $0.add(collation: collation) }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE word (text TEXT UNIQUE COLLATE \(collation.name))")
            for word in words { try db.execute(sql: "INSERT INTO word VALUES (?)", arguments: [word]) }
        }
        try queue.writeWithoutTransaction {
            let lock = ArchiveLock(passphrase: try Passphrase("archive"), cost: .minimum)
            try StoreArchive.write(of: $0, to: folder.file("a.csa"), lock: lock)
        }
        try queue.close()
    }

    private func restore() throws -> DatabaseQueue {
        let restored = folder.file("restored.db")
        try StoreArchive.restore(
            folder.file("a.csa"), to: restored, opening: ArchiveSecret(Passphrase("archive")),
            passphrase: Passphrase("new"))
        return try DatabaseQueue(path: restored, configuration: .keyed("new"))
    }

    private static let reversed = DatabaseCollation(DatabaseCollation.localizedCompare.name) {
        $1.localizedCompare($0)
    }

    @Test func anArchiveOfAnotherLanguageIsRestoredInTheOrderOfThisOne() throws {
        try makeStore(Self.reversed, ["a", "b", "c", "d"])
        try restore().read { db throws in
            #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
            #expect(try String.fetchAll(db, sql: "SELECT text FROM word WHERE text = 'b'") == ["b"])
            let words = try String.fetchAll(db, sql: "SELECT text FROM word ORDER BY text")
            #expect(words == ["a", "b", "c", "d"])
        }
    }

    @Test func aStoreOfAnotherLanguageGetsAnotherPassphrase() throws {
        try makeStore(Self.reversed, ["a", "b", "c", "d"])
        try StoreRekey.run(path: path, from: Passphrase("old"), to: Passphrase("new"))
        let queue = try DatabaseQueue(path: path, configuration: .keyed("new"))
        let problems = try queue.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
        #expect(problems == ["ok"])
    }

    @Test func rowsThatAreOneInThisLanguageAreBothRestored() throws {
        let exact = DatabaseCollation(DatabaseCollation.localizedCaseInsensitiveCompare.name) {
            $0 == $1 ? .orderedSame : $0 < $1 ? .orderedAscending : .orderedDescending
        }
        try makeStore(exact, ["a", "A"])
        let words = try restore().read { try String.fetchSet($0, sql: "SELECT text FROM word NOT INDEXED") }
        #expect(words == ["a", "A"])
    }

    @Test func allOtherIndexesAreCheckedBesideOneThatStays() throws {
        let exact = DatabaseCollation(DatabaseCollation.localizedCaseInsensitiveCompare.name) {
            $0 == $1 ? .orderedSame : $0 < $1 ? .orderedAscending : .orderedDescending
        }
        // Each of them is a problem, and there are more than an error names.
        let letters = "abcdefghijkl".map(String.init)
        try makeStore(exact, letters + letters.map { $0.uppercased() })
        var configuration = Configuration.keyed("old")
        configuration.prepareDatabase { $0.add(collation: exact) }
        func change(_ sql: String) throws -> EncryptionKey? {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            return try queue.writeWithoutTransaction { db in
                db.setDefensive(false)
                try db.execute(sql: sql)
                return db.encryptionKey
            }
        }
        let made = try change(
            """
            CREATE INDEX again ON word (text);
            CREATE INDEX bytes ON word (text COLLATE BINARY) WHERE length(text) > 1;
            """)
        let key = try #require(made)
        try StoreVerification.verify(path: path, key: key, rowCounts: nil, progress: nil)
        _ = try change(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = 'CREATE INDEX bytes ON word (text COLLATE BINARY)' WHERE name = 'bytes';
            PRAGMA writable_schema = OFF;
            """)
        let error = #expect(throws: StoreError.self) {
            try StoreVerification.verify(path: path, key: key, rowCounts: nil, progress: nil)
        }
        #expect(error?.code == .damaged && error?.message.contains("bytes") == true)
    }
}
