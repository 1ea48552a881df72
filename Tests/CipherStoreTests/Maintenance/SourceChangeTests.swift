import Foundation
import Testing

@testable import CipherStore

/// Copies of a store that others change meanwhile.
@Suite struct SourceChangeTests {
    let folder: TemporaryFolder
    let path: String
    let queue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("notes.db")
        queue = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE note (body BLOB)")
            for _ in 0..<40 { try db.execute(sql: "INSERT INTO note VALUES (randomblob(3000))") }
        }
    }

    /// What is done by the checkpoint of a VACUUM.
    @Test func aFileThatIsCutOffWhileItsPagesAreReadEndsThere() throws {
        try queue.inDatabase { db in
            let key = try #require(db.encryptionKey)
            let size = key.settings.pageSize
            let file = try DatabaseFile(db.handle)
            let count = try file.byteCount() / size
            try #require(count > 20)
            var numbers: [Int] = []
            try file.forEachPage(size: size) { page, number in
                #expect(page?.count == size)
                numbers.append(number)
                // Another descriptor would drop the locks of the connection.
                if number == 5 { #expect(truncate(path, off_t(10 * size)) == 0) }
            }
            #expect(numbers == Array(1...10))
            let suspects = try StoreVerification.unauthenticPages(
                of: db, key: key, among: [3, 10, 11, count])
            #expect(suspects.isEmpty)
        }
    }

    @Test func onlyThePagesThatAreAskedForAreRead() throws {
        try queue.inDatabase { db in
            let size = try #require(db.encryptionKey).settings.pageSize
            var numbers: [Int] = []
            try DatabaseFile(db.handle).forEachPage(size: size, among: [9, 2, 1_000_000]) { _, number in
                numbers.append(number)
            }
            #expect(numbers == [2, 9])
        }
    }

    @Test func anErrorOfReadingIsNotCalledOneOfWriting() throws {
        for code in [ResultCode.SQLITE_IOERR_READ, .SQLITE_IOERR_SHORT_READ] {
            let error = StoreError.explaining(DatabaseError(resultCode: code), path: path)
            #expect((error as? StoreError)?.code == .cannotRead)
        }
        let error = StoreError.explaining(DatabaseError(resultCode: .SQLITE_IOERR_WRITE), path: path)
        #expect((error as? StoreError)?.code == .cannotWrite)
    }

    private func count(_ path: String, _ passphrase: String) throws -> Int? {
        try DatabaseQueue(path: path, configuration: .keyed(passphrase))
            .read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") }
    }

    /// What others have not committed is not in the copy, and does not keep it from being made.
    @Test(arguments: ["WAL", "DELETE"])
    func aCopyIsMadeWhileAnotherConnectionWrites(mode: String) throws {
        try queue.writeWithoutTransaction { db in
            let answer = try String.fetchOne(db, sql: "PRAGMA journal_mode = \(mode)")
            #expect(answer?.uppercased() == mode)
        }
        let other = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        let (copy, archive) = (folder.file("copy.db"), folder.file("notes.csa"))
        try other.inDatabase { db throws in
            try db.execute(sql: "BEGIN IMMEDIATE; DELETE FROM note")
            try queue.writeWithoutTransaction { source in
                try StoreCopy.make(of: source, at: copy, passphrase: Passphrase("copy"))
                let lock = ArchiveLock(passphrase: try Passphrase("archive"), cost: .minimum)
                try StoreArchive.write(of: source, to: archive, lock: lock)
            }
            try db.execute(sql: "COMMIT")
        }
        let restored = folder.file("restored.db")
        try StoreArchive.restore(
            archive, to: restored, opening: ArchiveSecret(Passphrase("archive")),
            passphrase: Passphrase("new"))
        #expect(try count(copy, "copy") == 40)
        #expect(try count(restored, "new") == 40)
        #expect(try count(path, "secret") == 0)
    }

    /// Without a WAL, a writer that waits for the end of a read lets no other read begin.
    @Test(arguments: [false, true])
    func aCopyIsMadeWhileAnotherConnectionWaitsToCommit(isArchive: Bool) throws {
        let key = try queue.inDatabase { db in
            let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE")
            #expect(mode == "delete")
            return try #require(db.encryptionKey)
        }
        let other = try Database.open(path: path, key: key)
        defer { other.dispose() }
        try other.execute(sql: "BEGIN IMMEDIATE; DELETE FROM note")
        let (copy, archive) = (folder.file("copy.db"), folder.file("notes.csa"))
        var outcome: ResultCode?
        try queue.writeWithoutTransaction { source in
            source.trace(options: .profile) { event in
                // It has begun to read, and checks the pages next.
                guard case .profile(let statement, _) = event, statement.sql == Database.probeSQL,
                    outcome == nil
                else { return }
                do {
                    try other.execute(sql: "COMMIT")
                    outcome = .SQLITE_OK
                } catch {
                    outcome = (error as? DatabaseError)?.resultCode
                }
            }
            defer { source.trace(options: []) }
            if isArchive {
                let lock = ArchiveLock(passphrase: try Passphrase("archive"), cost: .minimum)
                try StoreArchive.write(of: source, to: archive, lock: lock)
            } else {
                try StoreCopy.make(of: source, at: copy, passphrase: Passphrase("copy"))
            }
            try other.execute(sql: "COMMIT")
        }
        #expect(outcome == .SQLITE_BUSY)
        if isArchive {
            try StoreArchive.restore(
                archive, to: copy, opening: ArchiveSecret(Passphrase("archive")),
                passphrase: Passphrase("copy"))
        }
        #expect(try count(copy, "copy") == 40)
        #expect(try count(path, "secret") == 0)
    }

    /// Without a WAL, a damaged page is found in the transaction that would copy it.
    @Test func nothingIsLeftOfACopyOfADamagedStoreWithoutAWAL() throws {
        let size = try queue.inDatabase { db in
            let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE")
            #expect(mode == "delete")
            return try #require(db.encryptionKey).settings.pageSize
        }
        try queue.close()
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        try handle.seek(toOffset: UInt64(6 * size))
        try handle.write(contentsOf: Data(count: size))
        try handle.close()
        let damaged = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        let before = try folder.contents()
        try damaged.writeWithoutTransaction { source in
            let error = #expect(throws: StoreError.self) {
                try StoreCopy.make(of: source, at: folder.file("copy.db"), passphrase: Passphrase("copy"))
            }
            #expect(error?.code == .damaged)
            // The transaction has ended.
            try source.execute(sql: "CREATE TABLE other (a)")
        }
        #expect(try folder.contents() == before)
    }

    /// A damaged page is found in a store with a WAL, too, where it is looked at again with a lock.
    @Test func aDamagedPageIsStillFoundInAStoreWithAWAL() throws {
        let key = try queue.inDatabase { db in
            _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
            return try #require(db.encryptionKey)
        }
        try queue.close()
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        try handle.seek(toOffset: UInt64(6 * key.settings.pageSize))
        try handle.write(contentsOf: Data(count: key.settings.pageSize))
        try handle.close()
        let damaged = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        let copy = folder.file("copy.db")
        let error = damaged.writeWithoutTransaction { source in
            #expect(throws: StoreError.self) {
                try StoreCopy.make(of: source, at: copy, passphrase: Passphrase("copy"))
            }
        }
        #expect(error?.code == .damaged)
        #expect(!FileManager.default.fileExists(atPath: copy))
    }
}
