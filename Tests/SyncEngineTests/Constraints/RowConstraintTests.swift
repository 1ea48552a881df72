import CipherStore
import Testing

@testable import SyncEngine

/// Rows that break a constraint of their own, which only the merge of two writes can make.
@Suite struct RowConstraintTests {
    @Test func aRowThatOnlyTheMergeBreaksIsHiddenWholeUntilItIsWell() throws {
        var scenario = ConstraintScenario(
            schema: "CREATE TABLE t (id BLOB PRIMARY KEY, a, b, note, CHECK (a < b))", tables: ["t"],
            start: ["INSERT INTO t VALUES (\(k(1)), 1, 9, 'n')"],
            phases: [
                [
                    (0, "UPDATE t SET a = 6, note = 'kept'"), (1, "UPDATE t SET b = 4"),
                    (2, "INSERT INTO t VALUES (\(k(2)), 1, 2, 'other')"),
                ]
            ])
        let broken = try scenario.play()
        #expect(broken.shown.map { $0.prefix(4) } == ["t #2"])
        #expect(broken.hidden.count == 1)
        #expect(broken.hidden.first?.contains("a=6,b=4,note='kept'") == true)
        // A row of the same key that is written anew is well.
        scenario.phases.append([(2, "INSERT INTO t VALUES (\(k(1)), 5, 6, 'again')")])
        let well = try scenario.play(orders: 2)
        #expect(well.shown.count == 2)
        #expect(well.hidden.isEmpty)
    }

    @Test func aLaterWriteElsewhereBringsTheRowBack() throws {
        let stores = try TestStores()
        let schema = "CREATE TABLE t (id BLOB PRIMARY KEY, a, b, CHECK (a < b))"
        let a = try stores.create(schema: schema, tables: ["t"])
        try a.execute("INSERT INTO t VALUES (?, 1, 9)", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        let c = try stores.clone(a, as: "c.db")
        try a.execute("UPDATE t SET a = 6")
        try b.execute("UPDATE t SET b = 4")
        try a.sync(b)
        #expect(try a.dump(["t"]).isEmpty)
        // c does not know the two writes; its own is newer than both.
        try c.execute("UPDATE t SET b = 8")
        try c.sync(a)
        try a.sync(b)
        for replica in [a, b, c] {
            #expect(try replica.dump(["t"]).count == 1)
            #expect(try replica.synchronizer.status().parkedCount == 0)
        }
        #expect(try a.dump(["t"]) == c.dump(["t"]))
    }

    @Test func brokenRowsClaimNothing() throws {
        let outcome = try ConstraintScenario(
            schema: "CREATE TABLE t (id BLOB PRIMARY KEY, a, b, name UNIQUE, CHECK (a < b))", tables: ["t"],
            start: ["INSERT INTO t VALUES (\(k(1)), 1, 9, 'x')"],
            phases: [
                [
                    (0, "UPDATE t SET a = 6"), (1, "UPDATE t SET b = 4"),
                    (2, "UPDATE t SET name = 'y'"), (2, "INSERT INTO t VALUES (\(k(2)), 1, 2, 'x')"),
                ]
            ]
        ).play(orders: 2)
        #expect(outcome.shown.map { $0.prefix(4) } == ["t #2"])
    }

    @Test(arguments: [
        "b NOT NULL", "b NOT NULL ON CONFLICT REPLACE DEFAULT 5", "b NOT NULL ON CONFLICT IGNORE",
    ])
    func aNullThatIsNotAllowedHereHidesTheRow(_ column: String) throws {
        let stores = try TestStores()
        let a = try stores.create(
            schema: "CREATE TABLE t (id BLOB PRIMARY KEY, a, b)", tables: ["t"])
        let b = try stores.clone(a, as: "b.db")
        try b.migrate("strict") { db in
            try db.execute(
                sql: """
                    CREATE TABLE new (id BLOB PRIMARY KEY, a, \(column));
                    INSERT INTO new SELECT id, a, b FROM t; DROP TABLE t; ALTER TABLE new RENAME TO t;
                    """)
        }
        try a.execute("INSERT INTO t VALUES (?, 1, NULL), (?, 2, 2)", [key(1), key(2)])
        try a.sync(b)
        #expect(try b.dump(["t"]).count == 1)
        let row = try #require(try b.synchronizer.parkedRows().first)
        #expect(row.reason == .notNull)
        #expect(row.values["a"] == 1.databaseValue && row.values["b"] == .null)
        // An update that can't be written hides what was shown.
        try a.execute("UPDATE t SET a = 7, b = NULL WHERE id = ?", [key(2)])
        try a.sync(b)
        #expect(try b.dump(["t"]).isEmpty)
        try a.execute("UPDATE t SET b = 1")
        try a.sync(b)
        #expect(try a.dump(["t"]) == b.dump(["t"]))
        #expect(try b.synchronizer.status().parkedCount == 0)
    }
}
