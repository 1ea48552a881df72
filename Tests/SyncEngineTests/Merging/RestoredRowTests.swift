import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Deleted rows that are inserted again as a whole, wherever that is done.
@Suite struct RestoredRowTests {
    private func stores(_ schema: String, _ insert: String) throws -> (TestReplica, TestReplica) {
        let stores = try TestStores()
        let a = try stores.create(schema: schema, tables: ["item"])
        try a.execute(insert, [key(1)])
        return (a, try stores.clone(a, as: "b.db"))
    }

    private func pair() throws -> (TestReplica, TestReplica) {
        try stores(
            "CREATE TABLE item (id BLOB PRIMARY KEY, name TEXT NOT NULL, body, n INTEGER NOT NULL)",
            "INSERT INTO item VALUES (?, 'x', 'precious', 1)")
    }

    /// The row as text, with the types of its values.
    private func row(_ replica: TestReplica) throws -> String? {
        try replica.value("SELECT name || '|' || body || '|' || n FROM item", as: String.self)
    }

    @Test(arguments: [true, false], [true, false])
    func aRowComesBackWholeOnEitherSide(deletesFirst: Bool, restoresWhereItWasDeleted: Bool) throws {
        let (a, b) = try pair()
        if deletesFirst { try a.execute("DELETE FROM item") }
        try b.execute("UPDATE item SET name = 'edited'")
        if !deletesFirst { try a.execute("DELETE FROM item") }
        try a.sync(b)
        let place = restoresWhereItWasDeleted ? a : b
        // Of a deletion that is newer and that the editor hears of last, the deleting side alone has the conflict.
        guard try !place.synchronizer.conflicts().isEmpty else {
            #expect(!deletesFirst && !restoresWhereItWasDeleted)
            return
        }
        let result = try place.synchronizer.resolve(.open, by: .restoreLost)
        #expect(result.restoredRowCount == 1)
        #expect(result.restoredValueCount == 3)
        try a.sync(b)
        #expect(try row(a) == "edited|precious|1")
        #expect(try row(b) == "edited|precious|1")
    }

    @Test func aThirdReplicaThatHeardOfTheDeletionRestoresTheWholeRow() throws {
        let (a, b) = try pair()
        let c = try a.stores.clone(a, as: "c.db")
        try a.execute("DELETE FROM item")
        try b.execute("UPDATE item SET name = 'edited'")
        try c.sync(a)
        try c.sync(b, .pull)
        #expect(try c.synchronizer.resolve(.open, by: .restoreLost).restoredValueCount == 3)
        #expect(try row(c) == "edited|precious|1")
    }

    @Test func aRowComesBackWholeFromEachOfItsLives() throws {
        let (a, b) = try pair()
        for name in ["first", "second", "third"] {
            try a.execute("DELETE FROM item")
            try b.execute("UPDATE item SET name = ?", [name])
            try a.sync(b, .pull)
            #expect(try a.synchronizer.resolve(.open, by: .restoreLost).restoredValueCount == 3)
            #expect(try row(a) == "\(name)|precious|1")
            try a.sync(b)
            #expect(try row(b) == row(a))
        }
    }

    @Test func editsOfSeveralReplicasComeBackTogether() throws {
        let (a, b) = try pair()
        let c = try a.stores.clone(a, as: "c.db")
        try a.execute("DELETE FROM item")
        try b.execute("UPDATE item SET name = 'of b'")
        try c.execute("UPDATE item SET n = 3")
        try a.sync(b, .pull)
        try a.sync(c, .pull)
        try a.synchronizer.resolve(.open, by: .restoreLost)
        #expect(try row(a) == "of b|precious|3")
    }

    @Test func valuesThatSomebodyClosedBelongToTheRowStill() throws {
        let (a, b) = try pair()
        try a.execute("DELETE FROM item")
        try b.execute("UPDATE item SET name = 'edited', n = 5")
        try a.sync(b, .pull)
        let conflicts = try a.synchronizer.conflicts()
        #expect(conflicts.count == 2)
        try a.synchronizer.resolve(ConflictFilter(column: "name"), by: .keepCurrent)
        try a.synchronizer.resolve(ConflictFilter(column: "n"), by: .restoreLost)
        #expect(try row(a) == "edited|precious|5")
        let closed = try a.synchronizer.conflicts(.resolved)
        #expect(Set(closed.map(\.resolution)) == [.kept, .restored])
    }

    @Test func everyByteOfTheRestStays() throws {
        let values = [
            "zeroblob(300)", "CAST(x'61006200' AS TEXT)", "CAST(x'80FF61' AS TEXT)", "x''", "''", "1.0", "1",
            "-9223372036854775808", "9e999", "-9e999", "0.1", "1.7976931348623157e308", "NULL", "'a,1=t,''b'",
            "5e-324",
        ]
        for value in values {
            let (a, b) = try stores(
                "CREATE TABLE item (id BLOB PRIMARY KEY, v, w)", "INSERT INTO item VALUES (?, \(value), 0)")
            try a.execute("DELETE FROM item")
            try b.execute("UPDATE item SET w = 1")
            try a.sync(b, .pull)
            try a.synchronizer.resolve(.open, by: .restoreLost)
            let isBack = "w = 1 AND typeof(v) = typeof(\(value)) AND hex(v) = hex(\(value)) AND v IS \(value)"
            #expect(try a.value("SELECT count(*) FROM item WHERE \(isBack)", as: Int.self) == 1, "\(value)")
        }
    }

    @Test func aCounterComesBackAsTheSumOfAllThatWasAdded() throws {
        let (a, b) = try pair()
        try a.synchronizer.setPolicies([.counter("item", "n")])
        try a.sync(b)
        try b.execute("UPDATE item SET n = n + 3")
        try a.execute("UPDATE item SET n = n + 10")
        try a.sync(b)
        #expect(try row(a) == "x|precious|14")
        try a.execute("DELETE FROM item")
        try b.execute("UPDATE item SET n = n + 5")
        try a.sync(b, .pull)
        try a.synchronizer.resolve(.open, by: .restoreLost)
        #expect(try row(a) == "x|precious|19")
    }

    /// What is kept of the counter that there was says nothing of it.
    @Test func aColumnThatCountsOnlySinceTheDeletionComesBackToo() throws {
        let (a, b) = try stores(
            "CREATE TABLE item (id BLOB PRIMARY KEY, name TEXT, n INTEGER NOT NULL, m INTEGER NOT NULL)",
            "INSERT INTO item VALUES (?, 'x', 1, 7)")
        try a.synchronizer.setPolicies([.counter("item", "n")])
        try a.execute("UPDATE item SET n = n + 2")
        try a.sync(b)
        try a.execute("DELETE FROM item")
        _ = try a.peer.greet()
        try a.synchronizer.setPolicies([.counter("item", "m")])
        try b.execute("UPDATE item SET name = 'edited'")
        try a.sync(b, .pull)
        try a.synchronizer.resolve(.open, by: .restoreLost)
        #expect(try a.value("SELECT name || '|' || n || '|' || m FROM item") == "edited|3|7")
    }

    /// What a peer wrote under the later name of a column waits beside the row, and goes with it.
    @Test func aRowComesBackWithWhatAPeerWroteUnderTheNewNameOfAColumn() throws {
        let (a, b) = try pair()
        let c = try a.stores.clone(a, as: "c.db")
        try b.migrate("add") { db in try db.alter(table: "item") { $0.add(column: "text", .text) } }
        try b.execute("UPDATE item SET text = 'of the new name'")
        try a.sync(b, .pull)
        try b.execute("DELETE FROM item")
        try a.sync(b, .pull)
        try a.migrate("rename") { db in
            try db.alter(table: "item") { $0.rename(column: "body", to: "text") }
        }
        try c.execute("UPDATE item SET n = 2")
        try a.sync(c, .pull)
        let result = try a.synchronizer.resolve(.open, by: .restoreLost)
        #expect(result.restoredValueCount == 3)
        #expect(try a.value("SELECT name || '|' || text || '|' || n FROM item") == "x|of the new name|2")
    }

    /// The peer that renamed the column says so in a bundle.
    @Test func aRowComesBackWithWhatAPeerWroteUnderTheNameThatAnotherPeerGaveAColumn() throws {
        let (a, b) = try pair()
        let c = try a.stores.clone(a, as: "c.db")
        try b.migrate("add") { db in try db.alter(table: "item") { $0.add(column: "text", .text) } }
        try b.execute("UPDATE item SET text = 'of the new name'")
        try a.sync(b, .pull)
        try b.execute("DELETE FROM item")
        try a.sync(b, .pull)
        let (kept, all) = try a.queue.read { db in
            let table = try #require(
                try Int64.fetchOne(db, sql: "SELECT tbl FROM _sync_table WHERE name = 'item'"))
            let all = try Int.fetchSet(db, sql: "SELECT col FROM _sync_column WHERE tbl = \(table)")
            return (try LastRows.columns(db, ofTable: table), all)
        }
        #expect(kept == all && all.count == 4)
        try c.migrate("rename") { db in
            try db.alter(table: "item") { $0.rename(column: "body", to: "text") }
        }
        try c.execute("UPDATE item SET n = 2")
        try a.sync(c, .pull)
        try a.synchronizer.resolve(.open, by: .restoreLost)
        #expect(try a.value("SELECT name || '|' || body || '|' || n FROM item") == "x|of the new name|2")
    }

    @Test func rowsThatNobodyElseKnowsAreNotKept() throws {
        let (a, b) = try pair()
        try a.execute("INSERT INTO item VALUES (?, 'new', 1, 1)", [key(2)])
        try a.execute("DELETE FROM item WHERE id = ?", [key(2)])
        #expect(try a.value("SELECT count(*) FROM _sync_last", as: Int.self) == 0)
        try a.execute("UPDATE item SET id = ?", [key(3)])
        #expect(try a.value("SELECT count(*) FROM _sync_last", as: Int.self) == 1)
        try a.sync(b)
        #expect(try a.dump(["item"]) == b.dump(["item"]))
    }

    @Test func whatIsKeptIsBoundedByAgeAndSize() throws {
        let (a, b) = try pair()
        try a.execute("DELETE FROM item")
        try a.sync(b)
        a.stores.clock.advance(milliseconds: 91 * 24 * 3600 * 1000)
        try a.queue.write { db in
            try db.execute(sql: "UPDATE _sync_last SET at = 1700000000000")
            try LastRows(db).prune(now: a.stores.clock.environment.milliseconds())
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM _sync_last") == 0)
            for number in 1...5 {
                try db.execute(
                    sql: "INSERT INTO _sync_last VALUES (?, 1, 0, ?, ?, '')",
                    arguments: [number, number, 20 << 20])
            }
            try LastRows(db).prune(now: 10)
            #expect(try Int.fetchAll(db, sql: "SELECT r FROM _sync_last ORDER BY r") == [3, 4, 5])
        }
    }

    /// Who deletes very many rows does not wait for what is not kept anyway.
    @Test func whatIsDeletedAfterManyChangesIsNotKept() throws {
        let (a, _) = try pair()
        try a.queue.write { db in
            let last = try #require(try Int.fetchOne(db, sql: "SELECT folded FROM _sync_state"))
            for (distance, count) in [(LastRows.logCountMax, 0), (LastRows.logCountMax - 1, 1)] {
                try db.inSavepoint {
                    try db.execute(
                        sql: "INSERT INTO _sync_log (seq, tbl, op, pk, mask, ms) VALUES (?, 0, 0, x'', 0, 0)",
                        arguments: [last + distance])
                    try db.execute(sql: "DELETE FROM item")
                    #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM _sync_last") == count)
                    return .rollback
                }
            }
        }
    }

    /// One statement deletes all its rows in one moment.
    @Test func whatOneStatementDeletesIsBoundedToo() throws {
        let (a, _) = try pair()
        try a.queue.write { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10500)
                    INSERT INTO _sync_last SELECT i, 1, 0, 5, 1, '' FROM n
                    """)
            try LastRows(db).prune(now: 10)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM _sync_last") == 10_000)
        }
    }

    @Test func anOlderStoreKeepsDeletedRowsOnceItsTriggersAreMadeAnew() throws {
        let (a, b) = try pair()
        try a.changeUnobserved(
            """
            DROP TRIGGER _sync_d_1;
            CREATE TRIGGER _sync_d_1 AFTER DELETE ON "item"
            WHEN (SELECT applying FROM _sync_state) = 0 AND OLD."id" IS NOT NULL BEGIN
                INSERT INTO _sync_log (tbl, op, pk, mask, ms) SELECT 1, 3, OLD."id", 0, 0;
            END;
            DROP TRIGGER _sync_k_1;
            CREATE TRIGGER _sync_k_1 AFTER UPDATE OF "id" ON "item" BEGIN SELECT 1; END;
            DROP TABLE _sync_last;
            DROP TABLE _sync_original;
            """)
        try a.sync(b)
        try a.execute("DELETE FROM item")
        #expect(try a.value("SELECT count(*) FROM _sync_last", as: Int.self) == 1)
    }

    @Test func anEditThatMeetsADeletionIsOneConflict() throws {
        let (a, b) = try pair()
        try a.execute("DELETE FROM item")
        try b.execute("UPDATE item SET name = 'edited'")
        let report = try a.sync(b)
        #expect(report.conflictCount == 1)
        #expect(report.pulled?.conflictCount == 1)
        #expect(report.pushed?.conflictCount == 1)
        #expect(report.pushed?.sharedConflictCount == 1)
        #expect(try b.synchronizer.conflictCount() == 1)
    }

    @Test func aDeletionThatIsPushedAloneCountsItsConflicts() throws {
        let (a, b) = try pair()
        try a.execute("DELETE FROM item")
        try b.execute("UPDATE item SET name = 'edited'")
        #expect(try a.sync(b, .push).conflictCount == 1)
    }

    /// The rest of the row, which is kept beside the edits, is no conflict of its own.
    @Test func severalEditsThatMeetADeletionAreOneConflictEach() throws {
        let (a, b) = try pair()
        try a.execute("DELETE FROM item")
        try b.execute("UPDATE item SET name = 'edited', body = 'changed'")
        let report = try a.sync(b)
        #expect(report.pulled?.conflictCount == 2)
        #expect(report.pushed?.sharedConflictCount == 2)
        #expect(report.conflictCount == 2)
    }
}
