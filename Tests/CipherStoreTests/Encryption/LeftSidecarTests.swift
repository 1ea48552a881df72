import Foundation
import Testing

@testable import CipherStore

/// What a database that was removed left beside its place is never replayed over a new one there.
@Suite struct LeftSidecarTests {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("old"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
    }

    /// What makes a database, by what it makes it of.
    enum Way: CaseIterable { case copy, restore, vacuum, plaintextExport, plaintextImport, conversion }

    private func make(_ way: Way, at path: String) throws {
        switch way {
        case .copy:
            try queue.writeWithoutTransaction {
                try StoreCopy.make(of: $0, at: path, passphrase: Passphrase("new"))
            }
        case .restore:
            try StoreArchive.restore(
                folder.file("a.csa"), to: path, opening: ArchiveSecret(Passphrase("archive")),
                passphrase: Passphrase("new"))
        case .vacuum: try queue.vacuum(into: path)
        case .plaintextExport:
            try queue.writeWithoutTransaction { try PlaintextExport.writePlaintext(of: $0, at: path) }
        case .plaintextImport:
            try PlaintextImport.makeStore(
                from: folder.file("plain.db"), at: path, passphrase: Passphrase("new"))
        case .conversion:
            try queue.writeWithoutTransaction {
                try StoreCopy.makeStore(of: $0, at: path, passphrase: Passphrase("new"))
            }
        }
    }

    /// Makes what the ways begin with.
    private func prepare() throws {
        try queue.writeWithoutTransaction { db in
            try PlaintextExport.writePlaintext(of: db, at: folder.file("plain.db"))
            let lock = ArchiveLock(passphrase: try Passphrase("archive"), cost: .minimum)
            try StoreArchive.write(of: db, to: folder.file("a.csa"), lock: lock)
        }
    }

    /// The bytes of a WAL that is not yet in its database.
    private func unfinishedWAL() throws -> Data {
        var configuration = Configuration.keyed("gone")
        configuration.journalMode = .wal
        let gone = try DatabaseQueue(path: folder.file("gone.db"), configuration: configuration)
        try gone.write { try $0.execute(sql: "CREATE TABLE gone (a); INSERT INTO gone VALUES (1)") }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("gone.db-wal")))
        try gone.close()
        try FileManager.default.removeItem(atPath: folder.file("gone.db"))
        return bytes
    }

    @Test(arguments: Way.allCases) func aNewDatabaseIsNotMadeWhereAnotherOneHasItsFiles(way: Way) throws {
        try prepare()
        let before = try folder.contents()
        let owner = folder.file("plain.db")
        // Letters of the other case are the same name on many volumes.
        let suffixes = ["-wal", "-journal", "-shm", ".keys", ".keys.bak", "-WAL", "-Journal", ".KEYS"]
        for suffix in suffixes {
            let error = #expect(throws: StoreError.self) { try make(way, at: owner + suffix) }
            #expect(error?.code == .reservedName && error?.path == owner + suffix)
            #expect(error?.message.contains(owner + (suffix.hasPrefix(".") ? " has" : ",")) == true)
            #expect(try folder.contents() == before)
        }
    }

    @Test func leftoversAreFoundWhereTheStoreWasNamedInLettersOfAnotherCase() throws {
        let path = folder.file("a.db")
        let leftover = folder.file("A.db.rekey-00000000000000ff")
        try Data().write(to: URL(fileURLWithPath: leftover))
        if !FileManager.default.fileExists(atPath: folder.file("A.db")) {
            // The other name is none of the store.
            #expect(StoreLeftovers.find(beside: path) == [])
            try Data().write(to: URL(fileURLWithPath: folder.file("A.db")))
            #expect(StoreLeftovers.find(beside: path) == [])
            // As on a volume that takes both for one.
            try FileManager.default.removeItem(atPath: folder.file("A.db"))
            try FileManager.default.linkItem(atPath: path, toPath: folder.file("A.db"))
        }
        let found = StoreLeftovers.find(beside: path)
        #expect(found.map { URL(fileURLWithPath: $0).lastPathComponent } == ["A.db.rekey-00000000000000ff"])
    }

    @Test func anArchiveIsNotWrittenWhereADatabaseHasItsFiles() throws {
        let lock = ArchiveLock(passphrase: try Passphrase("archive"), cost: .minimum)
        let path = folder.file("a.db-wal")
        try queue.writeWithoutTransaction { db throws in
            let error = #expect(throws: StoreError.self) {
                try StoreArchive.write(of: db, to: path, lock: lock)
            }
            #expect(error?.code == .reservedName && error?.path == path)
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test(arguments: Way.allCases, ["-wal", "-journal", "-shm", ".keys", ".keys.bak"])
    func aNewDatabaseIsNotMadeBesideWhatAnotherOneLeft(way: Way, suffix: String) throws {
        try prepare()
        let path = folder.file("new.db" + suffix)
        let side = URL(fileURLWithPath: path)
        let bytes = try unfinishedWAL()
        #expect(!bytes.isEmpty)
        try bytes.write(to: side)
        let before = try folder.contents()
        let error = #expect(throws: StoreError.self) { try make(way, at: folder.file("new.db")) }
        #expect(error?.code == .exists)
        #expect(error?.path == path)
        // The database may have been moved without it, and needs it, or what the keyring opens.
        #expect(error?.message.contains("remove it") == (suffix == "-shm"))
        #expect(error?.message.contains("move it away") == true)
        #expect(try folder.contents() == before)
        #expect(try Data(contentsOf: side) == bytes)
        try FileManager.default.removeItem(at: side)
        try make(way, at: folder.file("new.db"))
        #expect(try folder.contents().contains("new.db"))
    }
}
