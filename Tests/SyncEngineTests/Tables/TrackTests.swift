import CipherStore
import Testing

@testable import SyncEngine

/// How tables begin to be tracked.
@Suite struct TrackTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func tracked(_ replica: TestReplica) throws -> [String] {
        try replica.queue.read { try SyncedTable.loadAll($0).filter(\.isTracked).map(\.name) }
    }

    @Test func outsideOfATransactionEitherAllTablesAreTrackedOrNone() throws {
        let replica = try stores.create(tables: [])
        #expect(throws: (any Error).self) {
            try replica.queue.writeWithoutTransaction { db in
                try replica.synchronizer.track(["note", "missing"], in: db)
            }
        }
        #expect(try tracked(replica).isEmpty)
        try replica.queue.writeWithoutTransaction { try replica.synchronizer.track(["note", "tag"], in: $0) }
        #expect(try tracked(replica).sorted() == ["note", "tag"])
    }

    /// What comes of it could not be written.
    @Test func aTableOfMoreColumnsThanAStatementHasArgumentsIsRefused() throws {
        let replica = try stores.create(tables: [])
        let countMax = try replica.queue.read { db in db.maximumStatementArgumentCount }
        // New engines take more arguments than a table can have columns.
        guard countMax < 2000 else { return }
        let columns = (0..<countMax).map { "c\($0)" }.joined(separator: ", ")
        try replica.execute("CREATE TABLE wide (id BLOB PRIMARY KEY, \(columns))")
        let error = #expect(throws: SyncError.self) { try replica.synchronizer.track(["note", "wide"]) }
        #expect(error?.code == .unsuitableTable)
        #expect(error?.message.contains("rows of \(countMax) at most") == true)
        #expect(try tracked(replica).isEmpty)
    }

    @Test func aTableIsTrackedInTheTransactionThatMakesIt() throws {
        let replica = try stores.create(tables: [])
        struct Undo: Error {}
        func make(_ db: Database) throws {
            try db.execute(sql: "CREATE TABLE part (id BLOB PRIMARY KEY, name TEXT)")
            try db.execute(sql: "INSERT INTO part VALUES (?, 'one')", arguments: [key(1)])
            try replica.synchronizer.track(["part"], in: db)
        }
        #expect(throws: Undo.self) {
            try replica.queue.write { db in
                try make(db)
                throw Undo()
            }
        }
        #expect(try tracked(replica).isEmpty)
        try replica.queue.write { try make($0) }
        #expect(try tracked(replica) == ["part"])
        #expect(try replica.logCount() == 1)
    }

    /// How another program writes.
    enum Writing: CaseIterable {
        case inATransaction, inADeferredTransaction, byItself
    }

    @Test(arguments: Writing.allCases)
    func aConnectionThatWasOpenBeforeTrackingBeganTellsOfReplacedRows(_ writing: Writing) throws {
        let queue = try DatabaseQueue(
            path: stores.path("a.db"), configuration: TestStores.configuration("a.db"))
        try queue.write { try $0.execute(sql: "CREATE TABLE note (id BLOB PRIMARY KEY, slug TEXT UNIQUE)") }
        let other = try DatabaseQueue(
            path: stores.path("a.db"), configuration: TestStores.configuration("a.db"))
        func write(_ number: UInt8) throws {
            try other.writeWithoutTransaction { db in
                let insert = { (db: Database) throws in
                    let statement = try db.cachedStatement(sql: "INSERT OR REPLACE INTO note VALUES (?, 'x')")
                    try statement.execute(arguments: [key(number)])
                }
                guard writing != .byItself else { return try insert(db) }
                try db.inTransaction(writing == .inATransaction ? .immediate : .deferred) {
                    try insert(db)
                    return .commit
                }
            }
        }
        try write(1)
        #expect(try other.read { try Bool.fetchOne($0, sql: "PRAGMA recursive_triggers") } == false)
        let a = try TestReplica(stores, "a.db", queue, tables: ["note"])
        let b = try stores.clone(a, as: "b.db")
        try write(2)
        #expect(try other.read { try Bool.fetchOne($0, sql: "PRAGMA recursive_triggers") } == true)
        try a.queue.write { db in
            try db.execute(
                sql: "UPDATE _sync_log SET ms = ?", arguments: [stores.clock.environment.milliseconds()])
        }
        try a.sync(b)
        for replica in [a, b] {
            #expect(try replica.value("SELECT count(*) FROM note", as: Int.self) == 1)
            #expect(try replica.synchronizer.status().parkedCount == 0)
        }
        #expect(try a.dump(["note"]) == b.dump(["note"]))
    }

    // MARK: Keys that are called as those of the metadata

    private func words() throws -> (TestReplica, TestReplica) {
        let a = try stores.create(
            schema: "CREATE TABLE word (pk BLOB PRIMARY KEY, name TEXT)", tables: ["word"])
        for number in UInt8(1)...2 { try a.execute("INSERT INTO word VALUES (?, 'name')", [key(number)]) }
        return (a, try stores.clone(a, as: "b.db"))
    }

    @Test func whatANewColumnHoldsIsSentThoughAValueWaitsForAnotherRow() throws {
        let (a, b) = try words()
        try b.execute("ALTER TABLE word ADD COLUMN tag TEXT")
        try b.execute("UPDATE word SET tag = 'theirs' WHERE pk = ?", [key(1)])
        try a.sync(b)
        try a.changeUnobserved(
            """
            ALTER TABLE word ADD COLUMN tag TEXT;
            UPDATE word SET tag = 'ours' WHERE pk = x'\(String(repeating: "02", count: 16))';
            """)
        try a.sync(b)
        for replica in [a, b] {
            let tags: String? = try replica.value(
                "SELECT group_concat(tag) FROM (SELECT tag FROM word ORDER BY pk)")
            #expect(tags == "theirs,ours")
        }
    }

    @Test func aRowThatCameUnseenIsFoundByAComparison() throws {
        let (a, b) = try words()
        try a.changeUnobserved(
            """
            UPDATE _sync_state SET applying = 1;
            INSERT INTO word VALUES (x'\(String(repeating: "03", count: 16))', 'unseen');
            UPDATE _sync_state SET applying = 0;
            """)
        #expect(try a.synchronizer.compare(with: b.transport)?.rowCount == 1)
        _ = try a.synchronizer.compare(with: b.transport, repairing: true)
        #expect(try b.value("SELECT count(*) FROM word", as: Int.self) == 3)
    }
}
