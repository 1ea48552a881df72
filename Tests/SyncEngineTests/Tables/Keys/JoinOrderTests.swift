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

    /// Which tables have few rows, by statistics from before they got more.
    enum Statistics: CaseIterable, Sendable {
        case none, fewRowsInMetadata, fewRowsInTables

        func store(_ db: Database) throws {
            guard self != .none else { return }
            try db.execute(sql: "ANALYZE")
            let rows = try Row.fetchAll(db, sql: "SELECT rowid, tbl, stat FROM sqlite_stat1")
            for row in rows {
                let (number, table, text): (Int64, String, String) = (row[0], row[1], row[2])
                let isMetadata = table.hasPrefix("_sync_") && !table.hasPrefix("_sync_dropped_")
                let count = isMetadata == (self == .fewRowsInMetadata) ? 4 : 1_000_000
                let columnCount = text.split(separator: " ").count - 1
                var numbers = [count]
                if columnCount > 0 {
                    numbers += Array(repeating: min(count, 10), count: columnCount - 1) + [1]
                }
                try db.execute(
                    sql: "UPDATE sqlite_stat1 SET stat = ? WHERE rowid = ?",
                    arguments: [numbers.map(String.init).joined(separator: " "), number])
            }
            // Reads the statistics again.
            try db.execute(sql: "ANALYZE sqlite_master")
        }
    }

    private func create(_ type: String, _ statistics: Statistics) throws -> TestReplica {
        let a = try stores.create(
            schema: "CREATE TABLE note (id \(type) PRIMARY KEY, title TEXT, stars INTEGER)", tables: ["note"])
        for number: UInt8 in 1...3 { try a.execute("INSERT INTO note VALUES (\(k(number)), 'title', 1)") }
        try a.queue.write { db in _ = try FoldedStore.fold(db, stores.clock.environment) }
        return a
    }

    /// How SQLite runs the joins that a block inserts the rows of.
    private func plans(_ db: Database, _ body: () throws -> Void) throws -> [[String]] {
        var statements: Set<String> = []
        db.trace { event in
            statements.insert(event.expandedDescription.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        try body()
        db.trace(options: [])
        return try statements.filter { $0.hasPrefix("INSERT") && $0.contains("JOIN") }.map { sql in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)").map { row -> String in row["detail"] }
        }
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
    }

    @Test(arguments: types, Statistics.allCases)
    func theValuesOfADroppedColumnAreKeptInOneReading(_ type: String, _ statistics: Statistics) throws {
        try create(type, statistics).queue.write { db in
            try statistics.store(db)
            let table = try #require(SyncedTable.loadAll(db).first)
            let column = try #require(table.presentColumns.first { $0.name == "title" })
            let found = try plans(db) {
                try Parking.keepDropped(db, column, of: table, unless: "t.\"title\" IS NULL")
            }
            expectOneReading(found)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM _sync_shadow") == 3)
        }
    }

    @Test(arguments: types, Statistics.allCases)
    func aNewCounterTakesItsBasesInOneReading(_ type: String, _ statistics: Statistics) throws {
        try create(type, statistics).queue.write { db in
            try statistics.store(db)
            let table = try #require(SyncedTable.loadAll(db).first)
            let column = try #require(table.presentColumns.first { $0.name == "stars" })
            let found = try plans(db) { try CounterStore.begin(db, column: column.number, in: table) }
            expectOneReading(found.filter { plan in plan.contains { $0.contains("SCAN") } })
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM _sync_part") == 3)
        }
    }

    @Test(arguments: types, Statistics.allCases)
    func aTableThatIsTrackedAgainIsComparedInOneReading(_ type: String, _ statistics: Statistics) throws {
        let a = try create(type, statistics)
        try a.synchronizer.untrack(["note"])
        try a.queue.write { db in
            try statistics.store(db)
            let kept = try #require(SyncedTable.loadAll(db).first)
            let table = SyncedTable(
                number: kept.number, name: "note", key: kept.key, place: .tracked, columns: kept.columns)
            let tracking = TableTracking(db: db, environment: stores.clock.environment)
            let found = try plans(db) {
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
