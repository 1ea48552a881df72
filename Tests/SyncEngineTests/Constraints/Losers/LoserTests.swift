import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// A row that waits for a UNIQUE value is tried again when the row was written that it gave way to, and not because of others.
@Suite struct LoserTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    /// Two replicas with rows of the same names, of which those of the second wait, and a row whose name nobody else has.
    private func pair(_ count: Int, trigger: String = "") throws -> (TestReplica, TestReplica) {
        let a = try stores.create(
            schema: "CREATE TABLE t (id BLOB PRIMARY KEY, name UNIQUE, note); \(trigger)", tables: ["t"])
        let b = try stores.clone(a, as: "b.db")
        for (replica, letter) in [(a, "a"), (b, "b")] {
            try replica.execute(
                """
                INSERT INTO t (id, name)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                SELECT CAST(printf('\(letter)%015d', i) AS BLOB), 'n' || i FROM n
                """)
        }
        try a.execute("INSERT INTO t (id, name) VALUES (?, 'free')", [key(1)])
        try a.sync(b)
        #expect(try b.synchronizer.status().parkedCount == Int64(count))
        return (a, b)
    }

    private func rowCount(_ replica: TestReplica) throws -> Int? {
        try replica.value("SELECT count(*) FROM t", as: Int.self)
    }

    /// How often rows are inserted into the table of a replica meanwhile. SQLite may tell of one attempt twice.
    private func insertions(_ replica: TestReplica, _ body: () throws -> Void) throws -> Int {
        var count = 0
        replica.queue.inDatabase { db in
            db.trace { event in
                if "\(event)".hasPrefix("INSERT OR FAIL INTO main.\"t\"") { count += 1 }
            }
        }
        try body()
        replica.queue.inDatabase { $0.trace(options: []) }
        return count
    }

    /// Each bundle puts the trigger out of the way, which is no change of the schema.
    @Test(arguments: [
        "",
        """
        CREATE TRIGGER named AFTER UPDATE OF name ON t WHEN NEW.note IS NOT 'named' BEGIN
            UPDATE t SET note = 'named' WHERE id = NEW.id;
        END;
        """,
    ])
    func noRowIsTriedBecauseOfOthers(trigger: String) throws {
        let (a, b) = try pair(1000, trigger: trigger)
        try a.execute("UPDATE t SET note = 'edited' WHERE name = 'free'")
        try a.execute("INSERT INTO t (id, name) VALUES (?, 'also free')", [key(2)])
        let onPull = try insertions(b) { try b.sync(a, .pull) }
        // The row that came.
        #expect((1...2).contains(onPull), "\(onPull)")
        try b.execute("UPDATE t SET name = 'still free' WHERE name = 'free'")
        let onCompaction = try insertions(b) { try b.synchronizer.compact() }
        #expect(onCompaction == 0)
        #expect(try b.synchronizer.status().parkedCount == 1000)
        let onRetry = try insertions(b) { try b.synchronizer.retryParkedRows() }
        #expect(onRetry >= 1000)
    }

    @Test func aRowIsTriedWhenTheOneWasWrittenThatItGaveWayTo() throws {
        let (a, b) = try pair(50)
        try a.execute("UPDATE t SET name = 'renamed' WHERE name = 'n5'")
        try a.execute("DELETE FROM t WHERE name = 'n6'")
        let onPull = try insertions(b) { try b.sync(a, .pull) }
        #expect((2...4).contains(onPull), "\(onPull)")
        #expect(try rowCount(b) == 52)
        try b.execute("UPDATE t SET name = 'mine' WHERE name = 'n7'")
        try b.execute("DELETE FROM t WHERE name = 'n8'")
        let onCompaction = try insertions(b) { try b.synchronizer.compact() }
        #expect((2...4).contains(onCompaction), "\(onCompaction)")
        #expect(try rowCount(b) == 53)
        try a.sync(b)
        #expect(try a.dump(["t"]) == b.dump(["t"]))
        #expect(try a.problems() == [])
        #expect(try b.problems() == [])
    }

    /// Rows 1 to 6, the oldest first: 2 gave way to 1, 4 to 3, and 6, which has a child, to 5.
    private func six() throws -> (TestReplica, TestReplica) {
        let a = try stores.create(
            schema: """
                CREATE TABLE c (id BLOB PRIMARY KEY, t BLOB REFERENCES t);
                CREATE TABLE t (id BLOB PRIMARY KEY, x UNIQUE, y UNIQUE);
                """, tables: ["c", "t"])
        let b = try stores.clone(a, as: "b.db")
        let rows: [(UInt8, Int, Int)] = [(1, 1, 1), (2, 1, 2), (3, 3, 3), (4, 3, 4), (5, 5, 4), (6, 5, 6)]
        for (number, x, y) in rows {
            try (number % 2 == 0 ? b : a).execute("INSERT INTO t VALUES (?, ?, ?)", [key(number), x, y])
        }
        try b.execute("INSERT INTO c VALUES (?, ?)", [key(60), key(6)])
        try a.sync(b)
        for replica in [a, b] {
            #expect(try losers(replica) == [2: 1, 4: 3, 6: 5])
            #expect(try childCount(replica) == 0)
        }
        return (a, b)
    }

    private func childCount(_ replica: TestReplica) throws -> Int? {
        try replica.value("SELECT count(*) FROM c", as: Int.self)
    }

    /// The rows that wait for a UNIQUE value, and those that they gave way to.
    private func losers(_ replica: TestReplica) throws -> [UInt8: UInt8] {
        let rows = try replica.queue.read { db in
            try Row.fetchAll(db, sql: "SELECT pk, other_pk FROM _sync_hidden WHERE reason = 'unique'")
                .map { (($0[0] as Data?)?.first ?? 0, ($0[1] as Data?)?.first ?? 0) }
        }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    @Test func aRowThatMovesLetsOthersBeTried() throws {
        let (a, b) = try six()
        // 4 comes back and takes its place from 5. So 6 comes back as well, and its child.
        try a.execute("UPDATE t SET x = 8 WHERE id = ?", [key(3)])
        try a.sync(b)
        for replica in [a, b] {
            #expect(try losers(replica) == [2: 1, 5: 4])
            #expect(try childCount(replica) == 1)
        }
        // 2 comes back, 4 goes to where 2 is, and 5 takes its place from 6.
        try b.execute("UPDATE t SET x = 9 WHERE id = ?", [key(1)])
        try a.execute("UPDATE t SET y = 2 WHERE id = ?", [key(4)])
        try a.sync(b)
        for replica in [a, b] {
            #expect(try losers(replica) == [4: 2, 6: 5])
            #expect(try rowCount(replica) == 4)
            #expect(try childCount(replica) == 0)
            #expect(try replica.problems() == [])
        }
    }

    /// By what is noted, 2 waits for a row that is younger and stands in its way in nothing.
    @Test(arguments: [false, true]) func whatAnotherProgramNotedIsPutRight(isRetried: Bool) throws {
        let (a, b) = try six()
        try b.queue.write {
            try $0.execute(
                sql: "UPDATE _sync_hidden SET other_pk = ? WHERE pk = ?", arguments: [key(5), key(2)])
        }
        try a.execute("UPDATE t SET x = 9 WHERE id = ?", [key(1)])
        if isRetried {
            try b.sync(a, .pull)
            try b.synchronizer.retryParkedRows()
            #expect(try losers(b) == [4: 3, 6: 5])
        }
        // 4 takes its place from 5, for which 2 seems to wait.
        try a.execute("UPDATE t SET x = 8 WHERE id = ?", [key(3)])
        try b.sync(a, .pull)
        try b.sync(a)
        for replica in [a, b] {
            #expect(try losers(replica) == [5: 4])
            #expect(try rowCount(replica) == 5)
            #expect(try childCount(replica) == 1)
            #expect(try replica.problems() == [])
        }
    }

    /// What the app copies into the place of a table has no versions when the rows that wait are tried.
    @Test func aRowComesBackThatARebuiltTableHoldsAYoungerOneAgainst() throws {
        let a = try stores.create(schema: "CREATE TABLE t (id BLOB PRIMARY KEY, name UNIQUE)", tables: ["t"])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT INTO t VALUES (?, 'kept'), (?, 'taken')", [key(1), key(2)])
        try b.execute("INSERT INTO t VALUES (?, 'taken')", [key(3)])
        try a.sync(b)
        #expect(try losers(a) == [3: 2])
        try a.queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            try db.inTransaction {
                try db.execute(
                    sql: """
                        CREATE TABLE t2 (id BLOB PRIMARY KEY, name UNIQUE);
                        INSERT INTO t2 SELECT * FROM t WHERE name = 'kept';
                        """)
                try db.execute(sql: "INSERT INTO t2 VALUES (?, 'taken')", arguments: [key(4)])
                try db.drop(table: "t")
                try db.rename(table: "t2", to: "t")
                return .commit
            }
            try db.execute(sql: "PRAGMA foreign_keys = ON")
        }
        try a.sync(b)
        for replica in [a, b] {
            #expect(try replica.dump(["t"]).count == 2)
            #expect(try losers(replica) == [4: 3])
            #expect(try replica.problems() == [])
        }
        #expect(try a.dump(["t"]) == b.dump(["t"]))
    }

    /// A key that is no UUID belongs to one store alone, so its row has no place in the order.
    @Test func aRowIsTriedAgainThatGaveWayToOneWithoutAVersion() throws {
        let a = try stores.create(schema: "CREATE TABLE t (id BLOB PRIMARY KEY, name UNIQUE)", tables: ["t"])
        let b = try stores.clone(a, as: "b.db")
        try b.execute("INSERT INTO t VALUES (x'01', 'taken')")
        try a.execute("INSERT INTO t VALUES (?, 'taken')", [key(1)])
        try b.sync(a)
        #expect(try rowCount(b) == 1)
        let noted = try b.value("SELECT count(*) FROM _sync_hidden WHERE other_pk IS NOT NULL", as: Int.self)
        #expect(noted == 0)
        try b.execute("DELETE FROM t WHERE id = x'01'")
        try b.sync(a)
        #expect(try a.dump(["t"]) == b.dump(["t"]))
        #expect(try rowCount(b) == 1)
    }
}
