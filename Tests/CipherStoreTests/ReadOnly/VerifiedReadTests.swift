import CSQLCipher
import Foundation
import Testing

@testable import CipherStore

/// A read is checked when it takes a page from the file, whatever was read before it.
@Suite struct VerifiedReadTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(isInMemory: true) }

    private var path: String { folder.file("a.db") }

    /// A connection to a store whose last page is the end of a large value.
    private func makeQueue(_ mode: Configuration.JournalModeConfiguration = .default) throws -> DatabaseQueue
    {
        var configuration = Configuration.keyed("passphrase")
        configuration.journalMode = mode
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE small (a); INSERT INTO small VALUES (1);
                    CREATE TABLE large (a BLOB)
                    """)
            try db.execute(
                sql: "INSERT INTO large VALUES (?)", arguments: [Data(repeating: 7, count: 40_000)])
        }
        try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try queue.close()
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private func damage() throws {
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: file.seekToEnd() - 4096)
        try file.write(contentsOf: Data(repeating: 0x5A, count: 100))
        try file.close()
    }

    private func small(_ db: Database) throws -> Int? { try Int.fetchOne(db, sql: "SELECT a FROM small") }

    private func large(_ db: Database) throws -> Int? {
        try Data.fetchOne(db, sql: "SELECT a FROM large")?.count
    }

    private func expectDamage(_ reader: some DatabaseReader) {
        let error = #expect(throws: DatabaseError.self) { try reader.read(large) }
        #expect(error?.storeError?.code == .damaged || error?.resultCode == .SQLITE_CORRUPT)
    }

    @Test(arguments: [false, true]) func aDamagedPageIsNoticedAfterReadsOfOthers(isWAL: Bool) throws {
        let queue = try makeQueue(isWAL ? .wal : .default)
        for _ in 0..<3 { #expect(try queue.read(small) == 1) }
        try damage()
        for _ in 0..<3 {
            expectDamage(queue)
            #expect(try queue.read(small) == 1)
            #expect(try queue.read(small) == 1)
        }
        try queue.close()
    }

    @Test func aDamagedPageIsNoticedByTheReadersOfAPool() throws {
        try makeQueue(.wal).close()
        let pool = try DatabasePool(path: path, configuration: .keyed("passphrase"))
        for _ in 0..<3 { #expect(try pool.read(small) == 1) }
        try damage()
        for _ in 0..<2 {
            expectDamage(pool)
            #expect(try pool.read(small) == 1)
        }
        try pool.close()
    }

    @Test func aDamagedPageIsNoticedInTheReadOfATask() async throws {
        let queue = try makeQueue()
        for _ in 0..<3 {
            let value = try await queue.read { try Int.fetchOne($0, sql: "SELECT a FROM small") }
            #expect(value == 1)
        }
        try damage()
        for _ in 0..<2 {
            await #expect(throws: DatabaseError.self) {
                _ = try await queue.read { try Data.fetchOne($0, sql: "SELECT a FROM large") }
            }
        }
        try queue.close()
    }

    @Test func aPageThatWasAuthenticIsCheckedAgainWhenTheFileWasWritten() throws {
        let queue = try makeQueue()
        for _ in 0..<2 { #expect(try queue.read(large) == 40_000) }
        try damage()
        let other = try DatabaseQueue(path: path, configuration: .keyed("passphrase"))
        try other.write { try $0.execute(sql: "UPDATE small SET a = 2") }
        try other.close()
        expectDamage(queue)
        #expect(try queue.read(small) == 2)
        try queue.close()
    }

    @Test func aDamagedPageIsNoticedAfterOtherAccessesHaveReadIt() throws {
        let queue = try makeQueue()
        #expect(try queue.read(small) == 1)
        try damage()
        for _ in 0..<2 {
            // What is read without a snapshot is not verified.
            _ = try? queue.unsafeRead(large)
            expectDamage(queue)
            try? queue.inTransaction { db in
                _ = try? large(db)
                return .rollback
            }
            expectDamage(queue)
        }
        try queue.close()
    }

    /// A program that measures the cache by SQLite's own counter.
    @Test func aCounterThatTheAppResetsHidesNoDamage() throws {
        let queue = try makeQueue()
        func reset(_ db: Database) {
            var current: CInt = 0
            var highest: CInt = 0
            sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_CACHE_MISS, &current, &highest, 1)
        }
        for _ in 0..<3 {
            try queue.read { db throws in
                #expect(try small(db) == 1)
                reset(db)
            }
        }
        try damage()
        for _ in 0..<2 {
            #expect(throws: DatabaseError.self) {
                try queue.read { db in
                    _ = try large(db)
                    reset(db)
                }
            }
        }
        try queue.close()
    }

    @Test func aReadFromTheCacheIsNotCheckedAgain() throws {
        let queue = try makeQueue()
        func mark() throws -> PageMark? {
            try queue.read { db in
                _ = try small(db)
                return db.readOnlyBlocks.verifiedPages
            }
        }
        let marks = try (0..<3).map { _ in try mark() }
        #expect(marks[0] == nil)
        #expect(marks[1] != nil)
        #expect(marks[1] == marks[2])
        #expect(try queue.read(large) == 40_000)
        let later = try mark()
        #expect(later != marks[2])
        try queue.write { try $0.execute(sql: "UPDATE small SET a = 2") }
        let afterAWrite = try mark()
        #expect(afterAWrite == nil)
        try queue.close()
    }

    // MARK: Files that are read as they are

    /// A connection to the damaged store, which SQLite reads as it is.
    private func damagedFileAsItIs() throws -> Database {
        try makeQueue().close()
        try damage()
        return try Database(
            path: path, configuration: .keyed("passphrase"), keyCache: KeyCache(),
            mode: try #require(OpeningMode.immutable(path)))
    }

    private func expectDamage(_ db: Database) {
        db.readOnlyBlocks.beginAccess(isSnapshot: true)
        let error = #expect(throws: DatabaseError.self) { try db.readSnapshot(large) }
        #expect(error?.storeError?.code == .damaged || error?.resultCode == .SQLITE_CORRUPT)
    }

    private func expectReadOfSmall(_ db: Database) throws {
        db.readOnlyBlocks.beginAccess(isSnapshot: true)
        #expect(try db.readSnapshot(small) == 1)
    }

    @Test func aDamagedPageOfAFileThatIsReadAsItIsIsNoticedEachTime() throws {
        let db = try damagedFileAsItIs()
        defer { db.dispose() }
        for _ in 0..<2 {
            for _ in 0..<2 { try expectReadOfSmall(db) }
            for _ in 0..<2 { expectDamage(db) }
        }
        // The error of a block comes before the check.
        for _ in 0..<2 {
            db.readOnlyBlocks.beginAccess(isSnapshot: true)
            #expect(throws: CancellationError.self) {
                try db.readSnapshot { db in
                    _ = try large(db)
                    throw CancellationError()
                }
            }
            expectDamage(db)
        }
    }

    @Test func aDamagedPageOfAFileThatIsReadAsItIsIsNoticedAfterOtherAccesses() throws {
        let db = try damagedFileAsItIs()
        defer { db.dispose() }
        for _ in 0..<2 {
            try expectReadOfSmall(db)
            db.readOnlyBlocks.beginAccess(isSnapshot: false)
            _ = try? large(db)
            expectDamage(db)
        }
        try expectReadOfSmall(db)
        db.readOnlyBlocks.beginAccess(isSnapshot: true)
        let value = try db.readSnapshot { db throws in
            db.afterNextTransaction { db in _ = try? large(db) }
            return try small(db)
        }
        #expect(value == 1)
        expectDamage(db)
    }

    @Test func aDamagedPageOfAFileThatIsReadAsItIsGetsIntoNoBackup() throws {
        let db = try damagedFileAsItIs()
        defer { db.dispose() }
        for number in 0..<2 {
            db.readOnlyBlocks.beginAccess(isSnapshot: false)
            let copy = try DatabaseQueue(
                path: folder.file("copy\(number).db"), configuration: .keyed("passphrase"))
            #expect(throws: DatabaseError.self) { try copy.writeWithoutTransaction { try db.backup(to: $0) } }
            try copy.close()
        }
    }

    @Test func anAuthenticPageOfAFileThatIsReadAsItIsStaysInTheCache() throws {
        try makeQueue().close()
        let db = try Database(
            path: path, configuration: .keyed("passphrase"), keyCache: KeyCache(),
            mode: try #require(OpeningMode.immutable(path)))
        defer { db.dispose() }
        for _ in 0..<2 { try expectReadOfSmall(db) }
        let count = SQLiteHandle.readPageCount(db.handle)
        try expectReadOfSmall(db)
        #expect(SQLiteHandle.readPageCount(db.handle) == count)
    }
}
