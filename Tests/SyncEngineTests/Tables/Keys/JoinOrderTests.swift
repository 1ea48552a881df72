import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Statements that join a table of the user with the metadata, or with what is kept of it, read one of them once and look the
/// rows of the others up by their keys: whatever type the key has, and whatever old statistics say.
@Suite struct JoinOrderTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private static let types = ["BLOB", "TEXT", "UUID", "UUID COLLATE NOCASE"]

    private func create(_ type: String) throws -> TestReplica {
        let a = try stores.create(
            schema: "CREATE TABLE note (id \(type) PRIMARY KEY, title TEXT, stars INTEGER)", tables: ["note"])
        for number: UInt8 in 1...3 { try a.execute("INSERT INTO note VALUES (\(k(number)), 'title', 1)") }
        try a.queue.write { db in _ = try FoldedStore.fold(db, stores.clock.environment) }
        return a
    }

    private func expectOneReading(_ plans: [[String]]) {
        #expect(!plans.isEmpty)
        for plan in plans {
            let readings = plan.filter { $0.contains("SCAN") && !$0.contains("_sync_state") }
            #expect(readings.count == 1, "\(plan)")
            let searches = plan.filter { $0.contains("(tbl=?") }
            let areByKey = searches.allSatisfy { $0.contains("(tbl=? AND pk=?") }
            #expect(!searches.isEmpty && areByKey, "\(plan)")
            let isIndexMade = plan.contains { $0.contains("AUTOMATIC") }
            #expect(!isIndexMade, "\(plan)")
        }
        expectNoSorter(plans)
    }

    /// A sorter holds all values in memory.
    private func expectNoSorter(_ plans: [[String]]) {
        for plan in plans {
            let isSorted = plan.contains { $0.contains("TEMP B-TREE") }
            #expect(!isSorted, "\(plan)")
        }
    }

    @Test(arguments: types, OldStatistics.allCases)
    func theValuesOfADroppedColumnAreKeptInOneReading(_ type: String, _ statistics: OldStatistics) throws {
        try create(type).queue.write { db in
            try statistics.store(db)
            let table = try #require(SyncedTable.loadAll(db).first)
            let column = try #require(table.presentColumns.first { $0.name == "title" })
            try db.execute(
                sql: "INSERT INTO _sync_shadow (tbl, pk, col, val, why) VALUES (?, ?, ?, 'newer', 'waits')",
                arguments: [table.number, key(2), column.number])
            let found = try db.plans(ofStatementsWith: "INSERT", "JOIN") {
                try Parking.keepDropped(db, column, of: table, unless: "t.\"title\" IS NULL")
            }
            #expect(found.count == 1)
            for plan in found {
                let isRead = plan.contains { $0.contains("SCAN") || $0.contains("AUTOMATIC") }
                #expect(!isRead, "\(plan)")
                let lists = plan.filter { $0.contains("(tbl=?") }
                let areOfKeys = lists.allSatisfy { $0.contains("COVERING INDEX _sync_row_key (tbl=?)") }
                #expect(lists.count == 1 && areOfKeys, "\(plan)")
            }
            expectNoSorter(found)
            let kept = try String.fetchAll(db, sql: "SELECT val || ' ' || why FROM _sync_shadow ORDER BY pk")
            let reason = KeptReason.dropped
            #expect(kept == ["title \(reason)", "newer \(reason)", "title \(reason)"])
        }
    }

    @Test(arguments: types, OldStatistics.allCases)
    func aNewCounterTakesItsBasesInOneReading(_ type: String, _ statistics: OldStatistics) throws {
        try create(type).queue.write { db in
            try statistics.store(db)
            let table = try #require(SyncedTable.loadAll(db).first)
            let column = try #require(table.presentColumns.first { $0.name == "stars" })
            let found = try db.plans(ofStatementsWith: "INSERT", "JOIN") {
                try CounterStore.begin(db, column: column.number, in: table)
            }
            expectOneReading(found.filter { plan in plan.contains { $0.contains("SCAN") } })
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM _sync_part") == 3)
        }
    }

    @Test(arguments: types, OldStatistics.allCases)
    func aTableThatIsTrackedAgainIsComparedInOneReading(_ type: String, _ statistics: OldStatistics) throws {
        let a = try create(type)
        try a.synchronizer.untrack(["note"])
        try a.queue.write { db in
            try statistics.store(db)
            let kept = try #require(SyncedTable.loadAll(db).first)
            let table = SyncedTable(
                number: kept.number, name: "note", key: kept.key, place: .tracked, columns: kept.columns)
            let tracking = TableTracking(db: db, environment: stores.clock.environment)
            let found = try db.plans(ofStatementsWith: "INSERT", "JOIN") {
                try ConflictJournal.appendOwn(
                    db, "t.title", of: 0, in: table.number,
                    rows: tracking.joined(table, kept, with: "CROSS JOIN"), key: "t.id",
                    where: "t.title IS k.title", at: 0)
            }
            expectOneReading(found)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM _sync_conflict") == 3)
        }
    }
}
