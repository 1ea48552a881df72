import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Statements that are about few rows of the metadata read these alone, whatever old statistics say: not all rows that the store
/// knows, nor all that the user's table has.
@Suite struct MetadataJoinTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func create() throws -> TestReplica {
        let a = try stores.create(
            schema: "CREATE TABLE note (id UUID PRIMARY KEY, title TEXT, stars INTEGER)", tables: ["note"])
        for number: UInt8 in 1...3 { try a.execute("INSERT INTO note VALUES (\(k(number)), 'title', 1)") }
        try a.queue.write { db in _ = try FoldedStore.fold(db, stores.clock.environment) }
        return a
    }

    private func expectNoReading(_ plans: [[String]], but list: String = "_sync_state") {
        #expect(!plans.isEmpty)
        for plan in plans {
            let readings = plan.filter { line in
                line.contains("SCAN") && !["_sync_state", list].contains { line.contains($0) }
            }
            #expect(readings.isEmpty, "\(plan)")
        }
    }

    private func inserts(_ db: Database, _ body: () throws -> Void) throws -> [[String]] {
        try db.plans(ofStatementsWith: "INSERT", "JOIN", body)
    }

    @Test(arguments: OldStatistics.allCases) func whatWaitsIsComparedWithItsRowsAlone(
        _ statistics: OldStatistics
    )
        throws
    {
        try create().queue.write { db in
            try statistics.store(db)
            let table = try #require(SyncedTable.loadAll(db).first)
            let column = try #require(table.presentColumns.first { $0.name == "stars" })
            try expectNoReading(
                inserts(db) { try ConflictJournal.appendDifferences(db, of: column, in: table, at: 0) })
            try expectNoReading(
                inserts(db) { try Parking.adoptMissingRows(db, of: table, since: 0) })
        }
    }

    @Test(arguments: OldStatistics.allCases) func countersBeginWithTheRowsThatAreNew(
        _ statistics: OldStatistics
    )
        throws
    {
        try create().queue.write { db in
            try statistics.store(db)
            let table = try #require(SyncedTable.loadAll(db).first)
            let column = try #require(table.presentColumns.first { $0.name == "stars" })
            let isNew = "r.sid = 1 AND r.oseq > 2"
            let found = try inserts(db) {
                try CounterStore.begin(db, column, in: table, ofRowsWhere: isNew)
                try CounterStore.beginParked(db, column.number, of: table.number, ofRowsWhere: isNew)
            }
            expectNoReading(found)
            let areByNumber = found.map { plan in plan.contains { $0.contains("(sid=? AND oseq>?)") } }
            #expect(areByNumber == [true, true], "\(found)")
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM _sync_part") == 1)
        }
    }

    @Test(arguments: OldStatistics.allCases) func deletionsThatAreListedAreLookedUp(
        _ statistics: OldStatistics
    )
        throws
    {
        let a = try create()
        try a.execute("DELETE FROM note WHERE id <> \(k(1))")
        try a.queue.write { db in
            _ = try FoldedStore.fold(db, stores.clock.environment)
            try statistics.store(db)
            try db.execute(
                sql: """
                    CREATE TEMP TABLE listed (tbl INTEGER, pk, PRIMARY KEY (tbl, pk)) WITHOUT ROWID;
                    INSERT INTO listed SELECT tbl, pk FROM _sync_row WHERE pk <> \(k(2));
                    """)
            let last = try #require(try Int64.fetchOne(db, sql: "SELECT max(seq) FROM _sync_log"))
            let found = try inserts(db) { try ChangeLog(db).appendDeletions(ofDeadRowsIn: "listed", at: 0) }
            #expect(!found.isEmpty)
            for plan in found {
                let isByKey = plan.contains { $0.contains("_sync_row_key (tbl=? AND pk=?)") }
                #expect(isByKey, "\(plan)")
            }
            let logged = try DatabaseValue.fetchAll(
                db, sql: "SELECT pk FROM _sync_log WHERE seq > ?", arguments: [last])
            #expect(logged == [key(3).databaseValue])
        }
    }

    @Test(arguments: OldStatistics.allCases) func originalsThatCountNoLongerAreForgotten(
        _ statistics: OldStatistics
    )
        throws
    {
        try create().queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO _sync_original (r, col, hlc, sid, val) SELECT r, 0, hlc, sid, 'counts' FROM _sync_row;
                    INSERT INTO _sync_original (r, col, hlc, sid, val) SELECT r, 1, hlc - 1, sid, 'stale' FROM _sync_row;
                    INSERT INTO _sync_original (r, col, hlc, sid, val) VALUES (99, 0, 1, 1, 'of no row');
                    """)
            try statistics.store(db)
            let found = try db.plans(ofStatementsWith: "DELETE", "_sync_original") {
                try OriginalValues.removeStale(db)
            }
            expectNoReading(found, but: "_sync_original")
            // SQLite has no index for a list of pairs that something is not in.
            let hasList = found.contains { $0.contains { $0.contains("LIST SUBQUERY") } }
            #expect(!hasList, "\(found)")
            let left = try String.fetchAll(db, sql: "SELECT val FROM _sync_original")
            #expect(left == ["counts", "counts", "counts"])
        }
    }

    @Test(arguments: OldStatistics.allCases) func rowsThatAreHeldBackGetAnotherNumberByTheirOwn(
        _ statistics: OldStatistics
    )
        throws
    {
        let a = try create()
        try a.execute("UPDATE note SET stars = 2")
        try a.queue.write { db in
            _ = try FoldedStore.fold(db, stores.clock.environment)
            try statistics.store(db)
            // Of the first row its cell is not known, of the second one both are, and of the third one neither.
            try db.execute(
                sql: """
                    CREATE TEMP TABLE _sync_held (r INTEGER PRIMARY KEY, oseq INTEGER NOT NULL);
                    INSERT INTO _sync_held SELECT r, CASE pk WHEN \(k(1)) THEN 3 WHEN \(k(2)) THEN 6 ELSE 0 END
                    FROM _sync_row;
                    """)
            let own = try StoreMetadata.require(db).selfNumber
            let found = try db.plans(ofStatementsWith: "UPDATE", "oseq") {
                try VersionTable.renumberHeld(db, of: own, as: 99)
                try VersionTable.renumberHeld(db, of: own + 1, as: 100)
            }
            expectNoReading(found)
            let rows = try Int.fetchAll(db, sql: "SELECT oseq FROM _sync_row ORDER BY pk")
            #expect(rows == [1, 2, 99])
            let cells = try Int.fetchAll(
                db, sql: "SELECT c.oseq FROM _sync_cell AS c JOIN _sync_row AS r ON r.r = c.r ORDER BY r.pk")
            #expect(cells == [99, 5, 99])
            try db.execute(sql: "DROP TABLE temp._sync_held")
        }
    }

    @Test(arguments: OldStatistics.allCases) func whatASenderKnowsAndDoesNotMentionIsFoundByItsChanges(
        _ statistics: OldStatistics
    )
        throws
    {
        let a = try create()
        try a.execute("UPDATE note SET stars = 2")
        try a.queue.write { db in
            _ = try FoldedStore.fold(db, stores.clock.environment)
            try statistics.store(db)
            let table = try #require(SyncedTable.loadAll(db).first).number
            let own = try StoreMetadata.require(db).replicaID()
            let resync = try Resync(db)
            try withExtendedLifetime(OwnedValue.make(key(2).databaseValue)) {
                try resync.mention(table, RowKey($0.value))
            }
            var rows: [DatabaseValue] = []
            let found = try db.plans(ofStatementsWith: "SELECT", "_sync_mentioned") {
                rows = try resync.deletedRows([table], knownTo: VersionVector([own: 99])).map(\.key)
            }
            expectNoReading(found, but: "known")
            #expect(rows == [key(1), key(3)].map(\.databaseValue))
            let none = try resync.deletedRows([table + 1], knownTo: VersionVector([own: 99]))
            #expect(none.isEmpty)
            try resync.finish()
        }
    }

    /// Each row of a table looks for its own where the store has many of other tables.
    @Test(
        arguments: OldStatistics.allCases,
        [0, RowCandidates.originalsReadMax - 2, RowCandidates.originalsReadMax])
    func originalsAreReadWhereTheyAreFew(_ statistics: OldStatistics, others: Int) throws {
        try create().queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO _sync_original (r, col, hlc, sid, val) SELECT r, 0, 1, 1, 'mine' FROM _sync_row WHERE pk < \(k(3));
                    INSERT INTO _sync_original (r, col, hlc, sid, val)
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(others))
                    SELECT 1000 + i, 0, 1, 1, 'other' FROM n WHERE i <= \(others);
                    """)
            try statistics.store(db)
            let table = try #require(SyncedTable.loadAll(db).first).number
            let sql = try RowCandidates.rowsWithOriginals(db)
            let keys = try DatabaseValue.fetchSet(db, sql: sql, arguments: [table, 0])
            #expect(keys == [key(1).databaseValue, key(2).databaseValue])
            let none = try DatabaseValue.fetchSet(db, sql: sql, arguments: [table, 1])
            #expect(none.isEmpty)
            let plan = try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)", arguments: [table, 0])
                .map { row -> String in row["detail"] }
            let isRead = plan.contains { $0.contains("SCAN") && $0.contains(" o") }
            #expect(isRead == (others < RowCandidates.originalsReadMax), "\(plan)")
        }
    }

    /// A few rows get their versions one by one, and many by one statement.
    @Test(arguments: [1, 100, 101, 300]) func anyNumberOfRowsIsDeletedInOneFold(count: Int) throws {
        let a = try stores.create(
            schema: "CREATE TABLE note (id UUID PRIMARY KEY, title TEXT, stars INTEGER)", tables: ["note"])
        try a.execute(
            """
            INSERT INTO note (id)
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
            SELECT CAST(printf('%016d', i) AS BLOB) FROM n
            """)
        try a.queue.write { db in _ = try FoldedStore.fold(db, stores.clock.environment) }
        try a.execute("UPDATE note SET stars = 5")
        try a.queue.write { db in _ = try FoldedStore.fold(db, stores.clock.environment) }
        try a.execute("DELETE FROM note WHERE id <= CAST(printf('%016d', \(count)) AS BLOB)")
        try a.queue.write { db in _ = try FoldedStore.fold(db, stores.clock.environment) }
        let dead = try a.value("SELECT count(*) FROM _sync_row WHERE cl = 2 AND oseq > 800", as: Int.self)
        #expect(dead == count)
        let alive = try a.value("SELECT count(*) FROM _sync_row WHERE cl = 1 AND oseq <= 400", as: Int.self)
        #expect(alive == 400 - count)
        let cells = try a.value("SELECT count(*) FROM _sync_cell", as: Int.self)
        #expect(cells == 400 - count)
        #expect(try a.problems() == [])
    }

    /// The tail of the log has no index of rows.
    @Test func whatIsKnownOfRowsIsReadWithOneListOfThoseThatWereWritten() throws {
        let a = try create()
        try a.execute("DELETE FROM note WHERE id = \(k(1))")
        try a.execute("INSERT INTO note (id) VALUES (\(k(4)))")
        try a.queue.read { db in
            let plan = try db.plan(RowKnowledge.sql)
            let lists = plan.filter { $0.contains("LIST SUBQUERY") && !$0.contains("CORRELATED") }
            #expect(lists.count == 2, "\(plan)")
            let rows = try Int.fetchAll(
                db, sql: "SELECT isDeleted FROM (\(RowKnowledge.sql)) ORDER BY recordPrimaryKey")
            #expect(rows == [1, 0, 0, 0])
        }
    }
}
