import CipherStore
import Foundation
import Testing

@Suite struct MaintenanceTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeStore(rows: Int = 2000, wal: Bool = false) throws -> String {
        let path = folder.file("a.db")
        var configuration = Configuration.keyed("old")
        if wal { configuration.journalMode = .wal }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (id BLOB PRIMARY KEY, a TEXT); PRAGMA user_version = 42")
            for index in 0..<rows {
                try db.execute(sql: "INSERT INTO t VALUES (?, ?)", arguments: [UUID.v7(), "row \(index)"])
            }
        }
        try queue.close()
        return path
    }

    private func count(_ path: String, _ passphrase: String) throws -> Int? {
        let queue = try DatabaseQueue(path: path, configuration: .keyed(passphrase))
        return try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
    }

    @Test(arguments: [false, true]) func rekeyChangesThePassphraseAndKeepsEverything(wal: Bool) throws {
        let path = try makeStore(wal: wal)
        var phases: Set<StoreProgress.Phase> = []
        try StoreRekey.run(path: path, from: Passphrase("old"), to: Passphrase("new")) {
            phases.insert($0.phase)
        }
        #expect(phases == [.copying, .verifying])
        #expect(try count(path, "new") == 2000)
        #expect(throws: DatabaseError.self) { try count(path, "old") }
        #expect(try folder.contents() == ["a.db"])
        let queue = try DatabaseQueue(path: path, configuration: .keyed("new"))
        #expect(
            try queue.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == (wal ? "wal" : "delete")
        )
        #expect(try queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } == 42)
    }

    /// SQLCipher's temporary file for it has pages of another size than those of the store.
    @Test func vacuumIsRefusedWhileTemporaryTablesMayBeFiles() throws {
        let path = try makeStore(rows: 100)
        let queue = try DatabaseQueue(path: path, configuration: .keyed("old"))
        try queue.writeWithoutTransaction { db throws in
            for setting in ["FILE", "DEFAULT"] {
                try db.execute(sql: "PRAGMA temp_store = \(setting)")
                let error = #expect(throws: DatabaseError.self) { try db.execute(sql: "-- smaller\nVACUUM") }
                #expect(error?.resultCode == .SQLITE_MISUSE)
                #expect(error?.message?.contains("PRAGMA temp_store = MEMORY") == true)
                #expect(throws: DatabaseError.self) { try Row.fetchAll(db, sql: "vacuum") }
            }
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
            try db.execute(sql: "VACUUM")
        }
        try queue.vacuum()
        let plain = try DatabaseQueue(path: folder.file("plain.db"))
        try plain.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA temp_store = FILE; CREATE TABLE t (a); VACUUM")
        }
    }

    @Test func rekeyWithAWrongPassphraseChangesNothing() throws {
        let path = try makeStore()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let error = #expect(throws: StoreError.self) {
            try StoreRekey.run(path: path, from: Passphrase("wrong"), to: Passphrase("new"))
        }
        #expect(error?.code == .wrongPassphrase)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test(arguments: [false, true]) func rekeyRefusesAStoreThatIsBeingWritten(wal: Bool) throws {
        let path = try makeStore(wal: wal)
        let other = try DatabaseQueue(path: path, configuration: .keyed("old"))
        try other.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN IMMEDIATE; DELETE FROM t")
            let error = #expect(throws: StoreError.self) {
                try StoreRekey.run(path: path, from: Passphrase("old"), to: Passphrase("new"))
            }
            #expect(error?.code == .busy)
            try db.execute(sql: "ROLLBACK")
        }
        #expect(try count(path, "old") == 2000)
    }

    @Test func aConnectionThatSleptThroughARekeyCannotWriteToTheOldFile() throws {
        let path = try makeStore()
        let sleeper = try DatabaseQueue(path: path, configuration: .keyed("old"))
        _ = try sleeper.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        try StoreRekey.run(path: path, from: Passphrase("old"), to: Passphrase("new"))
        #expect(throws: (any Error).self) { try sleeper.write { try $0.execute(sql: "DELETE FROM t") } }
        #expect(try count(path, "new") == 2000)
    }

    /// After a loss of power the name may lead to the old file, if the folder could not be written to the disk. The
    /// owner of the system may open any folder.
    @Test(arguments: geteuid() == 0 ? [0o700] : [0o700, 0o300])
    func theOldFileIsSpoiltOnlyWhenTheNewOneIsOnTheDisk(mode: Int) throws {
        let path = try makeStore(rows: 1)
        let old = try #require(FileHandle(forReadingAtPath: path))
        let before = try old.read(upToCount: 512)
        let files = FileManager.default
        try files.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.path)
        defer { try? files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path) }
        try StoreRekey.run(path: path, from: Passphrase("old"), to: Passphrase("new"))
        try old.seek(toOffset: 0)
        let isKept = try old.read(upToCount: 512) == before
        #expect(isKept == (mode == 0o300))
        #expect(try count(path, "new") == 1)
    }

    @Test func cancellingARekeyLeavesTheStoreAsItWas() throws {
        let path = try makeStore()
        struct Cancelled: Error {}
        #expect(throws: Cancelled.self) {
            try StoreRekey.run(path: path, from: Passphrase("old"), to: Passphrase("new")) { _ in
                throw Cancelled()
            }
        }
        #expect(try count(path, "old") == 2000)
        #expect(try folder.contents() == ["a.db"])
    }

    @Test func aCopyHasItsOwnPassphrase() throws {
        let path = try makeStore(wal: true)
        let copy = folder.file("copy.db")
        let queue = try DatabaseQueue(path: path, configuration: .keyed("old"))
        try queue.writeWithoutTransaction {
            try StoreCopy.make(of: $0, at: copy, passphrase: Passphrase("other"))
        }
        #expect(try count(copy, "other") == 2000)
        let error = #expect(throws: StoreError.self) {
            try queue.writeWithoutTransaction {
                try StoreCopy.make(of: $0, at: copy, passphrase: Passphrase("other"))
            }
        }
        #expect(error?.code == .exists)
    }

    @Test func plaintextGoesOutAndComesBack() throws {
        let path = try makeStore()
        let plain = folder.file("plain.sqlite")
        let queue = try DatabaseQueue(path: path, configuration: .keyed("old"))
        try queue.writeWithoutTransaction { try PlaintextExport.writePlaintext(of: $0, at: plain) }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: plain))
        #expect(bytes.starts(with: Data("SQLite format 3\0".utf8)))
        #expect(bytes.range(of: Data("row 1999".utf8)) != nil)
        let back = folder.file("back.db")
        try PlaintextImport.makeStore(from: plain, at: back, passphrase: Passphrase("third"))
        #expect(try count(back, "third") == 2000)
        let reopened = try DatabaseQueue(path: back, configuration: .keyed("third"))
        #expect(try reopened.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } == 42)
    }

    /// Deletes the first row, and makes the next file of what is left.
    private func passOn(
        _ path: String, _ configuration: Configuration, to make: (Database) throws -> Void
    ) throws {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write {
            try $0.execute(sql: "DELETE FROM note WHERE rowid = (SELECT min(rowid) FROM note)")
        }
        try queue.writeWithoutTransaction(make)
        try queue.close()
    }

    /// What a search finds in each of the rows that are left.
    private func found(_ path: String, _ configuration: Configuration) throws -> [String] {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        return try queue.read { db in
            try ["one", "two", "three", "four", "five"].flatMap { word in
                try String.fetchAll(
                    db,
                    sql:
                        "SELECT body FROM note WHERE rowid IN (SELECT rowid FROM noteText WHERE noteText MATCH ?)",
                    arguments: [word])
            }
        }
    }

    @Test func aSearchFindsTheSameRowsAfterAnImportAndAnExport() throws {
        let (plain, store, export) = (folder.file("plain.db"), folder.file("a.db"), folder.file("b.sqlite"))
        let queue = try DatabaseQueue(path: plain)
        try queue.write { db in
            // Its rows have no number that an export keeps.
            try db.execute(sql: "CREATE TABLE note (body TEXT)")
            try db.create(virtualTable: "noteText", using: FTS4()) { t in
                t.synchronize(withTable: "note")
                t.column("body")
            }
            for word in ["one", "two", "three", "four", "five"] {
                try db.execute(sql: "INSERT INTO note VALUES (?)", arguments: [word])
            }
        }
        try queue.close()
        try passOn(plain, Configuration()) { _ in
            try PlaintextImport.makeStore(from: plain, at: store, passphrase: Passphrase("old"))
        }
        #expect(try found(store, .keyed("old")) == ["two", "three", "four", "five"])
        try passOn(store, .keyed("old")) { try PlaintextExport.writePlaintext(of: $0, at: export) }
        #expect(try found(export, Configuration()) == ["three", "four", "five"])
        let converted = folder.file("c.db")
        try passOn(store, .keyed("old")) {
            try StoreCopy.makeStore(of: $0, at: converted, passphrase: Passphrase("new"))
        }
        #expect(try found(converted, .keyed("new")) == ["four", "five"])
    }

    /// A trace shows when to write.
    @Test func aConversionOfAStoreThatOthersWriteIsNoDamage() throws {
        let path = try makeStore(rows: 10, wal: true)
        let converted = folder.file("c.db")
        let other = try DatabaseQueue(path: path, configuration: .keyed("old"))
        let queue = try DatabaseQueue(path: path, configuration: .keyed("old"))
        try queue.writeWithoutTransaction { db throws in
            db.trace { event in
                // The transaction that reads the rows begins after this, and after the pages were checked.
                guard "\(event)".hasPrefix("BEGIN") else { return }
                try? other.write { try $0.execute(sql: "INSERT INTO t VALUES (x'01', 'late')") }
            }
            try StoreCopy.makeStore(of: db, at: converted, passphrase: Passphrase("new"))
            db.trace(options: [])
        }
        #expect(try count(converted, "new") ?? 0 > 10)
    }

    @Test func aPlaintextExportRemovesWhatAKilledOneLeft() throws {
        let queue = try DatabaseQueue(path: makeStore(rows: 1), configuration: .keyed("old"))
        let number = "0123456789abcdef"
        let leftovers = ["plain.sqlite.export-\(number)", "plain.sqlite.export-\(number)-journal"]
        let others = [
            "plain.sqlite.export-notes", "plain.sqlite.export-\(number).txt", "b.sqlite.export-\(number)",
            "plain.sqlite.export-1", "plain.sqlite.export-20261130",
        ]
        for name in leftovers + others { try Data([1]).write(to: URL(fileURLWithPath: folder.file(name))) }
        try queue.writeWithoutTransaction {
            try PlaintextExport.writePlaintext(of: $0, at: folder.file("plain.sqlite"))
        }
        #expect(try folder.contents() == (["a.db", "plain.sqlite"] + others).sorted())
    }

    @Test func anExportLeavesTheFilesOfAnotherOneAlone() throws {
        let path = try makeStore(rows: 1)
        let plain = folder.file("plain.sqlite")
        let queue = try DatabaseQueue(path: path, configuration: .keyed("old"))
        let other = try DatabaseQueue(path: path, configuration: .keyed("old"))
        let error = #expect(throws: StoreError.self) {
            try queue.writeWithoutTransaction { source in
                try PlaintextExport.writePlaintext(of: source, at: plain) { copy in
                    try other.writeWithoutTransaction {
                        try PlaintextExport.writePlaintext(of: $0, at: plain)
                    }
                    // The copy is there, although it was in the way.
                    #expect(try Int.fetchOne(copy, sql: "SELECT count(*) FROM t") == 1)
                    #expect(try folder.contents().count == 3)
                }
            }
        }
        // The second one was faster.
        #expect(error?.code == .exists)
        #expect(try folder.contents() == ["a.db", "plain.sqlite"])
    }

    @Test func importingAnEncryptedFileAsPlaintextIsRefused() throws {
        let path = try makeStore()
        #expect(throws: StoreError.self) {
            try PlaintextImport.makeStore(from: path, at: folder.file("b.db"), passphrase: Passphrase("x"))
        }
        #expect(try folder.contents() == ["a.db"])
    }

    @Test func backupBetweenEncryptedAndPlaintextIsRefused() throws {
        let path = try makeStore()
        let queue = try DatabaseQueue(path: path, configuration: .keyed("old"))
        let plain = try DatabaseQueue(path: folder.file("plain.db"))
        let error = #expect(throws: StoreError.self) {
            try queue.writeWithoutTransaction { source in
                try plain.writeWithoutTransaction { try source.backup(to: $0) }
            }
        }
        #expect(error?.code == .encryptionMismatch)
    }

    @Test func aCompactCopyOpensWithTheSlotsOfItsStore() throws {
        let store = try KeyringStore()
        let queue = try DatabaseQueue(path: store.path, configuration: .keyed("first"))
        let recovery = Secret(try RecoveryKey.generate())
        try store.keyring.add(recovery, unlockingWith: .text("first"))
        let path = store.folder.file("copy.db")
        try queue.vacuum(into: path)
        try queue.close()
        // What a backup is for: the store and its keyring are gone.
        for name in try store.folder.contents() where name.hasPrefix("notes.db") {
            try FileManager.default.removeItem(atPath: store.folder.file(name))
        }
        #expect(try store.folder.contents() == ["copy.db", "copy.db.keys", "copy.db.keys.bak"])
        for secret in [try Secret.text("first"), recovery] {
            var configuration = Configuration()
            configuration.useKeySlot(secret)
            let copy = try DatabaseQueue(path: path, configuration: configuration)
            #expect(try copy.read { try String.fetchOne($0, sql: "SELECT title FROM note") } == "kept")
        }
    }

    @Test func aStoreWithoutItsKeyringGetsNoCompactCopy() throws {
        let store = try KeyringStore()
        let queue = try DatabaseQueue(path: store.path, configuration: .keyed("first"))
        try FileManager.default.moveItem(atPath: store.keyring.path, toPath: store.folder.file("away"))
        let before = try store.folder.contents()
        let error = #expect(throws: StoreError.self) { try queue.vacuum(into: store.folder.file("copy.db")) }
        #expect(error?.code == .keyringMissing)
        #expect(try store.folder.contents() == before)
    }
}
