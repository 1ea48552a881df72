import Foundation
import Synchronization
import Testing

@testable import CipherStore

/// What outlives what: statements kept after their connection, connections that
/// were closed, statements and decoders that are used while they are used.
@Suite struct LifetimeTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeDatabase() throws -> Database {
        try Database(path: ":memory:", configuration: Configuration(), keyCache: KeyCache())
    }

    // MARK: Closed connections

    @Test func aStatementKeptBeyondAnOpenTransactionCallsNoHookOfItsConnection() throws {
        var database: Database? = try makeDatabase()
        var statement: Statement? = try database?.makeStatement(sql: "SELECT 1")
        try database?.execute(sql: "CREATE TABLE t (a); BEGIN; INSERT INTO t VALUES (1)")
        let connection = try #require(database)
        connection.dispose()
        connection.transactionEnd.seen = nil
        // The last statement closes the handle, which rolls back.
        statement = nil
        #expect(statement == nil)
        #expect(connection.transactionEnd.seen == nil)
        database = nil
    }

    @Test(arguments: [
        "CREATE TABLE u (a)", "DROP TABLE t", "ALTER TABLE t RENAME TO u", "INSERT INTO t VALUES (1)",
    ])
    func aStatementThatOutlivesItsConnectionFails(sql: String) throws {
        var database: Database? = try makeDatabase()
        try database?.execute(sql: "CREATE TABLE t (a)")
        let statement = try #require(try database?.makeStatement(sql: sql))
        database = nil
        let error = #expect(throws: DatabaseError.self) { try statement.execute() }
        #expect(error?.resultCode == .SQLITE_MISUSE)
    }

    @Test func aClosedConnectionAnswersWithoutItsHandle() throws {
        let db = try makeDatabase()
        try db.execute(sql: "CREATE TABLE t (a); BEGIN; INSERT INTO t VALUES (1)")
        db.dispose()
        #expect(!db.isInsideTransaction)
        #expect(db.lastInsertedRowID == 0)
        #expect(db.changesCount == 0)
        #expect(db.totalChangesCount == 0)
        #expect(db.lastErrorCode == .SQLITE_MISUSE)
        #expect(db.maximumStatementArgumentCount > 0)
        #expect(db.lastError().message == "Connection is closed")
        db.add(function: DatabaseFunction("f") { _ in 1 })
        db.add(collation: DatabaseCollation("c") { _, _ in .orderedSame })
        let error = #expect(throws: DatabaseError.self) { try db.readOnly {} }
        #expect(error?.message == "Connection is closed")
        #expect(throws: DatabaseError.self) { try db.usePassphrase("late") }
    }

    @Test func readsOfAClosedQueueThrow() throws {
        let queue = try DatabaseQueue()
        try queue.close()
        let error = #expect(throws: DatabaseError.self) { try queue.read { _ in } }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.message == "Connection is closed")
    }

    @Test func aClosedConnectionHoldsNoLock() throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let path = folder.file("a.db")
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT)")
            try Item(id: 1, text: "kept").insert(db)
            try db.execute(sql: "BEGIN EXCLUSIVE TRANSACTION")
            db.dispose()
        }
        #expect(try DatabaseQueue(path: path).read { try Item.fetchCount($0) } == 1)
        #expect(throws: DatabaseError.self) { try queue.read { _ in } }
    }

    // MARK: Reentrancy

    struct Item: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "item"
        var id: Int
        var text: String
    }

    @Test func aFunctionInsertsAndDeletesRecordsWhileOneIsInserted() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            db.add(
                function: DatabaseFunction("addNext", argumentCount: 1) { values in
                    let id = Int.fromDatabaseValue(values[0]) ?? 0
                    guard id < 5 else { return nil }
                    try queue.unsafeReentrantWrite { db in
                        try Item(id: id + 1, text: String(repeating: "x", count: 50 + id)).insert(db)
                        try Item(id: id + 100, text: "").delete(db)
                    }
                    return nil
                })
            try db.execute(
                sql: """
                    CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT);
                    CREATE TEMP TRIGGER more BEFORE INSERT ON item BEGIN SELECT addNext(new.id); END;
                    PRAGMA recursive_triggers = ON;
                    """)
            try Item(id: 10, text: "warm").insert(db)
            try Item(id: 10, text: "warm").delete(db)
            try Item(id: 1, text: "first").insert(db)
            let items = try Item.fetchAll(db)
            #expect(items.map(\.id) == [1, 2, 3, 4, 5])
            #expect(items.map(\.text.count) == [5, 51, 52, 53, 54])
            #expect(items.first?.text == "first")
        }
    }

    // MARK: Arguments

    @Test func argumentsThatCannotBeBoundLeaveThoseFromBefore() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a, b)")
            let statement = try db.makeStatement(sql: "INSERT INTO t VALUES (?, ?)")
            try statement.setArguments(["a", "b"])
            let tooLarge = Data(count: 1_100_000_000)
            #expect(throws: DatabaseError.self) { try statement.setArguments(["c", tooLarge]) }
            #expect(statement.arguments == ["a", "b"])
            try statement.execute()
            #expect(try Row.fetchOne(db, sql: "SELECT * FROM t") == ["a": "a", "b": "b"])
        }
    }

    @Test func valuesOfMoreThanTwoGigabytesAreTooBig() throws {
        struct Blob: Encodable, PersistableRecord {
            static let databaseTableName = "t"
            var a: Data
        }
        // Memory that is reserved, and that nobody may touch: the size is refused before a byte is read.
        let (count, flags) = (1 << 31, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE)
        let memory = try #require(mmap(nil, count, PROT_READ, flags, -1, 0))
        try #require(memory != MAP_FAILED)
        let huge = Data(bytesNoCopy: memory, count: count, deallocator: .unmap)
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE t (a)")
            let statement = try db.makeStatement(sql: "INSERT INTO t VALUES (?)")
            let error = #expect(throws: DatabaseError.self) { try statement.setArguments([huge]) }
            #expect(error?.resultCode == .SQLITE_TOOBIG)
            let failure = #expect(throws: DatabaseError.self) { try Blob(a: huge).insert(db) }
            #expect(failure?.resultCode == .SQLITE_TOOBIG)
        }
    }

    // MARK: Changes of the schema

    @Test func aColumnThatIsGoneWhenTheStatementRunsIsAnError() throws {
        let path = folder.file("a.db")
        let queue = try DatabaseQueue(path: path)
        let other = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2)") }
        try queue.inDatabase { db in
            let fast = try db.makeStatement(sql: "SELECT * FROM t")
            let slow = try db.makeStatement(sql: "SELECT * FROM t")
            let adapter = SuffixRowAdapter(fromIndex: 1)
            #expect(fast.columnNames == ["a", "b"])
            #expect(slow.columnNames == ["a", "b"])
            try other.write {
                try $0.execute(sql: "DROP TABLE t; CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            }
            #expect(throws: (any Error).self) { try Int.fetchAll(fast, adapter: adapter) }
            #expect(fast.columnNames == ["a"])
            #expect(throws: (any Error).self) { try Choice.fetchAll(slow, adapter: adapter) }
        }
    }

    enum Choice: String, DatabaseValueConvertible { case one }

    // MARK: Functions

    @Test(arguments: [ResultCode.SQLITE_OK, .SQLITE_ROW, .SQLITE_DONE])
    func anErrorOfAFunctionIsAnErrorWhateverItsCode(code: ResultCode) throws {
        try DatabaseQueue().read { db in
            db.add(
                function: DatabaseFunction("f") { _ in
                    throw DatabaseError(resultCode: code, message: "failed")
                })
            let error = #expect(throws: DatabaseError.self) { try Row.fetchAll(db, sql: "SELECT f()") }
            #expect(error?.resultCode == .SQLITE_ERROR)
            #expect(error?.message == "failed")
        }
    }

    @Test func theCacheKeepsTextsApartThatLookTheSame() throws {
        try DatabaseQueue().read { db in
            for text in ["\u{E9}", "e\u{301}"] {
                let statement = try db.cachedStatement(sql: "SELECT hex('\(text)')")
                let expected = text.utf8.map { String(format: "%02X", $0) }.joined()
                #expect(try String.fetchOne(statement) == expected)
            }
        }
    }

    // MARK: Decoders

    /// Keeps the container that it is decoded from, which nobody should, after
    /// it has asked for another.
    struct Keeper: FetchableRecord, Decodable {
        enum CodingKeys: String, CodingKey { case id }
        enum OtherKeys: String, CodingKey { case name }
        let container: KeyedDecodingContainer<CodingKeys>
        let name: String

        init(from decoder: any Decoder) throws {
            container = try decoder.container(keyedBy: CodingKeys.self)
            name = try decoder.container(keyedBy: OtherKeys.self).decode(String.self, forKey: .name)
        }
    }

    @Test func aContainerThatWasKeptHasItsDecoder() throws {
        let keepers = try DatabaseQueue().read { db in
            try Keeper.fetchAll(db, sql: "SELECT 1 AS id, 'Arthur' AS name UNION ALL SELECT 2, 'Barbara'")
        }
        #expect(keepers.map(\.name) == ["Arthur", "Barbara"])
        #expect(keepers.allSatisfy { $0.container.codingPath.isEmpty })
    }
}
