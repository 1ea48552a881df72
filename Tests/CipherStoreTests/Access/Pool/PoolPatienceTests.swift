import Testing

@testable import CipherStore

/// A lock that is held for a moment, as readers do that meet a commit.
@Suite struct PoolPatienceTests {
    private let folder: TemporaryFolder
    private let other: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        var configuration = Configuration.keyed("secret")
        configuration.journalMode = .wal
        configuration.allowsUnsafeTransactions = true
        other = try DatabaseQueue(path: folder.file("a.db"), configuration: configuration)
        try other.write { try $0.execute(sql: "CREATE TABLE t (a)") }
    }

    private func hold() throws {
        try other.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
    }

    @Test func aPoolThatFailsAtOnceTriesAgainAfterAMoment() throws {
        let other = other
        let tries = LockedBox(0)
        var configuration = Configuration.keyed("secret")
        configuration.patienceWithReaders = { number in
            tries.change { $0 = number + 1 }
            try? other.inDatabase { try $0.execute(sql: "ROLLBACK") }
            return true
        }
        let pool = try DatabasePool(path: folder.file("a.db"), configuration: configuration)
        try hold()
        try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        #expect(tries.value == 1)
    }

    @Test func aPoolFailsWhileAnotherConnectionKeepsTheLock() throws {
        let pool = try DatabasePool(path: folder.file("a.db"), configuration: .keyed("secret"))
        #expect(pool.readerConfiguration.patienceWithReaders == nil)
        try hold()
        let error = #expect(throws: DatabaseError.self) {
            try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        }
        #expect(error?.resultCode == .SQLITE_BUSY)
        try other.inDatabase { try $0.execute(sql: "ROLLBACK") }
        try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
    }
}
