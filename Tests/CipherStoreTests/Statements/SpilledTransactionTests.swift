import Foundation
import Testing

@testable import CipherStore

/// Transactions that are larger than the cache, of which a part is rolled back.
@Suite struct SpilledTransactionTests {
    /// Makes transactions that are partly rolled back, and returns how many of the rows that were committed a copy of the
    /// files lacks: what a crash would leave.
    ///
    /// - parameters:
    ///     - count: How many rows are rolled back.
    ///     - isLate: Whether WAL mode begins when the file is open.
    private func lostCount(rollingBack count: Int, isLate: Bool) throws -> Int {
        let folder = try TemporaryFolder(isInMemory: true)
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase("passphrase") }
        if !isLate { configuration.journalMode = .wal }
        configuration.cacheKibibytes = 4
        let queue = try DatabaseQueue(path: folder.path + "/a.db", configuration: configuration)
        try queue.writeWithoutTransaction { db throws in
            if isLate {
                try db.execute(sql: "PRAGMA journal_mode = WAL")
                let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode")
                try #require(mode == "wal")
            }
            func insert() throws { try db.execute(sql: "INSERT INTO t (b) VALUES (zeroblob(4096))") }
            try db.execute(sql: "CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB)")
            for _ in 0..<2 { try insert() }
            try db.execute(sql: "SAVEPOINT one")
            for _ in 0..<count { try insert() }
            try db.execute(sql: "ROLLBACK TO one")
            try insert()
            try db.execute(sql: "RELEASE one")
            try insert()
        }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: folder.path + "/a.db" + suffix, toPath: folder.path + "/b.db" + suffix)
        }
        let copy = try DatabaseQueue(path: folder.path + "/b.db", configuration: configuration)
        defer { try? copy.close() }
        return try 4 - (copy.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } ?? 0)
    }

    /// Where SQLite would lose it, pages stay in memory until the commit. `SimulationTests` has a history that was lost.
    @Test(arguments: [false, true]) func whatWasCommittedIsThereAfterACrash(isLate: Bool) throws {
        for count in 0..<40 { #expect(try lostCount(rollingBack: count, isLate: isLate) == 0) }
    }

    @Test(arguments: [false, true]) func pagesStayInMemoryWhereSQLiteCouldLoseACommit(isWAL: Bool) throws {
        let folder = try TemporaryFolder(isInMemory: true)
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase("passphrase") }
        if isWAL { configuration.journalMode = .wal }
        let queue = try DatabaseQueue(path: folder.path + "/a.db", configuration: configuration)
        let kept = try queue.inDatabase { try Int.fetchOne($0, sql: "PRAGMA cache_spill") }
        // In the other mode, too: it can become WAL mode at any time.
        #expect((kept ?? 0 >= 50_000) == EngineFeatures.current.losesCommitsAfterPartialRollback)
        try queue.close()
    }

    @Test func pagesOfAttachedFilesStayInMemoryToo() throws {
        let folder = try TemporaryFolder(isInMemory: true)
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("passphrase"))
        try queue.inDatabase { db throws in
            try db.execute(
                sql: "ATTACH ? AS \"an other\" KEY ?", arguments: [folder.file("b.db"), "passphrase"])
            try db.execute(sql: "ATTACH ? AS key", arguments: [folder.file("c.db")])
            let statement = try db.makeStatement(sql: "ATTACH DATABASE ? AS third KEY ''")
            try statement.setArguments([folder.file("d.db")])
            let hasRow = try statement.step()
            #expect(!hasRow)
            try db.execute(
                sql: "ATTACH ? AS ? KEY ''", arguments: [folder.file("e.db"), "from \"a\" value"])
            for schema in ["\"an other\"", "key", "third", "\"from \"\"a\"\" value\""] {
                let kept = try Int.fetchOne(db, sql: "PRAGMA \(schema).cache_spill")
                let isKept = kept ?? 0 >= 50_000
                #expect(isKept == EngineFeatures.current.losesCommitsAfterPartialRollback, "\(schema)")
            }
        }
    }

    /// SQLite counts pages, and forgets how many bytes they were to be when their size changes.
    @Test(arguments: ["512", "(65536)"]) func pagesOfAnotherSizeStayInMemoryToo(size: String) throws {
        let folder = try TemporaryFolder(isInMemory: true)
        let queue = try DatabaseQueue(path: folder.file("a.db"))
        try queue.inDatabase { db throws in
            try db.execute(sql: "ATTACH ? AS b", arguments: [folder.file("b.db")])
            for schema in ["main", "b"] {
                let assignment = size.hasPrefix("(") ? size : " = \(size)"
                try db.execute(sql: "PRAGMA \(schema).page_size\(assignment)")
                if schema == "main" { try db.execute(sql: "VACUUM") }
                try db.execute(sql: "CREATE TABLE \(schema).t (a)")
                let pageSize = try Int.fetchOne(db, sql: "PRAGMA \(schema).page_size") ?? 0
                #expect(size.contains("\(pageSize)"))
                let kept = try Int.fetchOne(db, sql: "PRAGMA \(schema).cache_spill") ?? 0
                // What SQLite adds to each page in memory is a few hundred bytes.
                let isKept = (1 << 27...1 << 28).contains(kept * pageSize)
                #expect(isKept == EngineFeatures.current.losesCommitsAfterPartialRollback, "\(schema)")
            }
        }
    }

    /// Otherwise each page that was not written would be read again for each row, because those that were fill the cache.
    @Test(arguments: [-64, 16]) func theCacheGrowsWithWhatIsWrittenUntilTheTransactionEnds(size: Int) throws {
        let folder = try TemporaryFolder(isInMemory: true)
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("passphrase"))
        func cacheSize() throws -> Int? {
            try queue.unsafeReentrantRead { try Int.fetchOne($0, sql: "PRAGMA cache_size") }
        }
        func insert(_ db: Database, count: Int) throws {
            for _ in 0..<count { try db.execute(sql: "INSERT INTO t VALUES (zeroblob(2000))") }
        }
        try queue.inDatabase { db throws in
            try db.execute(sql: "CREATE TABLE t (a)")
            try db.execute(sql: "PRAGMA cache_size = \(size)")
        }
        let grows = EngineFeatures.current.losesCommitsAfterPartialRollback
        try queue.write { db throws in
            try insert(db, count: 600)
            let kibibytes = try cacheSize() ?? 0
            // One or two rows a page: 1,000 to 2,000 KB are written when it is looked at last.
            #expect(grows ? (-5000..<(-1000)).contains(kibibytes) : kibibytes == size, "\(kibibytes)")
        }
        #expect(try cacheSize() == size)
        // Small transactions leave it as it is, and so does a transaction after which it is another one.
        try queue.write { db throws in
            try insert(db, count: 3)
            let now = try cacheSize()
            #expect(now == size)
        }
        try queue.write { db throws in
            try insert(db, count: 600)
            try db.execute(sql: "PRAGMA cache_size = -512")
        }
        #expect(try cacheSize() == -512)
        // It may grow again after that.
        try queue.write { db throws in
            try insert(db, count: 600)
            try db.execute(sql: "PRAGMA cache_size = -256")
            try insert(db, count: 1000)
            let kibibytes = try cacheSize() ?? 0
            #expect(grows ? kibibytes < -1000 : kibibytes == -256)
        }
        #expect(try cacheSize() == -256)
        try queue.inDatabase { try $0.execute(sql: "PRAGMA cache_size = -512") }
        // One that is rolled back gives it back, too.
        try queue.inTransaction { db in
            try insert(db, count: 600)
            return .rollback
        }
        #expect(try cacheSize() == -512)
    }
}
