import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Rows that claim the same values: the same one stands everywhere.
@Suite struct UniqueConstraintTests {
    private func play(
        _ columns: String, start: [String] = [], _ phases: [[ConstraintScenario.Edit]], orders: Int = 2,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> ConstraintScenario.Outcome {
        try ConstraintScenario(
            schema: "CREATE TABLE t (id BLOB PRIMARY KEY, \(columns)", tables: ["t"], start: start,
            phases: phases
        ).play(orders: orders, sourceLocation: sourceLocation)
    }

    @Test func theOlderOfTwoRowsWithOneValueStands() throws {
        let outcome = try play(
            "name TEXT UNIQUE, note TEXT);",
            [
                [
                    (0, "INSERT INTO t VALUES (\(k(1)), 'red', 'first')"),
                    (1, "INSERT INTO t VALUES (\(k(2)), 'red', 'second')"),
                    (2, "INSERT INTO t VALUES (\(k(3)), 'red', 'third')"),
                ]
            ], orders: 6)
        #expect(outcome.shown == ["t #1 \"red\" \"first\""])
        #expect(outcome.hidden.count == 2)
    }

    @Test func rowsOfOneTimeAreOrderedByReplica() throws {
        // The clock is the same for all: the tie is broken by the replica.
        let stores = try TestStores()
        let scenario = ConstraintScenario(schema: "", tables: ["t"], phases: [])
        let a = try stores.create(
            schema: "CREATE TABLE t (id BLOB PRIMARY KEY, name TEXT UNIQUE)", tables: ["t"])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT INTO t VALUES (?, 'x'), (?, 'y')", [key(1), key(4)])
        try b.execute("INSERT INTO t VALUES (?, 'y'), (?, 'x')", [key(3), key(2)])
        for replica in [a, b] { try replica.changeUnobserved("UPDATE _sync_log SET ms = 1700000000000") }
        try a.sync(b)
        #expect(try scenario.outcome(a) == scenario.outcome(b))
        #expect(try a.dump(["t"]).count == 2)
    }

    @Test func aCompactionShowsWhatHasAPlaceByNow() throws {
        let stores = try TestStores()
        let a = try stores.create(
            schema: "CREATE TABLE t (id BLOB PRIMARY KEY, name TEXT UNIQUE)", tables: ["t"])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT INTO t VALUES (?, 'x')", [key(1)])
        stores.clock.advance(milliseconds: 10)
        try b.execute("INSERT INTO t VALUES (?, 'x')", [key(2)])
        try a.sync(b)
        #expect(try a.dump(["t"]).count == 1)
        try a.execute("UPDATE t SET name = 'y' WHERE id = ?", [key(1)])
        try a.synchronizer.compact()
        #expect(try a.dump(["t"]).count == 2)
    }

    @Test func compositeAndSeveralIndexesAndNulls() throws {
        let outcome = try play(
            "a, b, c UNIQUE, UNIQUE (a, b));",
            [
                [
                    (0, "INSERT INTO t VALUES (\(k(1)), 1, 2, 'p')"),
                    (0, "INSERT INTO t VALUES (\(k(2)), 1, NULL, 'q')"),
                    (1, "INSERT INTO t VALUES (\(k(3)), 1, 2, 'r')"),
                    (1, "INSERT INTO t VALUES (\(k(4)), 1, NULL, NULL)"),
                    (2, "INSERT INTO t VALUES (\(k(5)), 1, NULL, NULL)"),
                    // Collides with two rows at once, of which one is hidden.
                    (2, "INSERT INTO t VALUES (\(k(6)), 5, 5, 'r')"),
                    (2, "INSERT INTO t VALUES (\(k(7)), 1, 2, 'q')"),
                ]
            ])
        #expect(outcome.shown.map { $0.prefix(4) } == ["t #1", "t #2", "t #4", "t #5", "t #6"])
    }

    @Test(arguments: [
        ("name TEXT COLLATE NOCASE UNIQUE);", "'Red'", "'rED'"),
        ("name TEXT COLLATE RTRIM UNIQUE);", "'red'", "'red   '"),
        ("name, UNIQUE (name COLLATE NOCASE));", "'Red'", "'RED'"),
        ("name UNIQUE);", "1", "1.0"),
        ("name UNIQUE ON CONFLICT REPLACE);", "'x'", "'x'"),
        ("name UNIQUE ON CONFLICT IGNORE);", "'x'", "'x'"),
        ("name UNIQUE ON CONFLICT ROLLBACK);", "'x'", "'x'"),
        ("name); CREATE UNIQUE INDEX i ON t (lower(name));", "'Red'", "'RED'"),
        ("name); CREATE UNIQUE INDEX i ON t (name) WHERE name > 5;", "7", "7"),
        ("name UNIQUE) WITHOUT ROWID;", "'x'", "'x'"),
    ])
    func sqliteSaysWhatIsEqual(_ columns: String, _ first: String, _ second: String) throws {
        let outcome = try play(
            columns,
            [
                [
                    (0, "INSERT INTO t VALUES (\(k(2)), \(first))"),
                    (1, "INSERT INTO t VALUES (\(k(1)), \(second))"),
                ],
                [(2, "INSERT INTO t VALUES (\(k(9)), 'something else')")],
            ], orders: 2)
        #expect(outcome.shown.map { $0.prefix(4) } == ["t #2", "t #9"])
        #expect(outcome.hidden.count == 1)
    }

    @Test func valuesOutsideOfAPartialIndexDoNotCollide() throws {
        let outcome = try play(
            "name, gone); CREATE UNIQUE INDEX i ON t (name) WHERE gone IS NULL;",
            [
                [
                    (0, "INSERT INTO t VALUES (\(k(1)), 'x', 1)"),
                    (1, "INSERT INTO t VALUES (\(k(2)), 'x', NULL)"),
                    (2, "INSERT INTO t VALUES (\(k(3)), 'x', NULL)"),
                ],
                [(0, "UPDATE t SET gone = 1 WHERE id = \(k(2))")],
            ], orders: 2)
        #expect(outcome.shown.count == 3)
        #expect(outcome.hidden.isEmpty)
    }

    @Test func theLoserOfALoserStands() throws {
        // 1 beats 2; 2 would have beaten 3.
        let outcome = try play(
            "a UNIQUE, b UNIQUE);",
            [
                [
                    (0, "INSERT INTO t VALUES (\(k(1)), 'p', 'q')"),
                    (1, "INSERT INTO t VALUES (\(k(2)), 'p', 'r')"),
                    (2, "INSERT INTO t VALUES (\(k(3)), 's', 'r')"),
                ]
            ], orders: 3)
        #expect(outcome.shown.map { $0.prefix(4) } == ["t #1", "t #3"])
    }

    @Test func aWinnerThatGivesItsValueUpLetsTheLoserIn() throws {
        let outcome = try play(
            "a UNIQUE, b UNIQUE);",
            [
                [
                    (0, "INSERT INTO t VALUES (\(k(1)), 'p', 'q')"),
                    (1, "INSERT INTO t VALUES (\(k(2)), 'p', 'r')"),
                    (2, "INSERT INTO t VALUES (\(k(3)), 's', 'r')"),
                ],
                // 2 comes back and takes its place from 3.
                [(1, "UPDATE t SET a = 'other' WHERE id = \(k(1))")],
            ], orders: 3)
        #expect(outcome.shown.map { $0.prefix(4) } == ["t #1", "t #2"])
        #expect(outcome.hidden.count == 1)
    }

    @Test func aWinnerThatIsDeletedLetsTheLoserIn() throws {
        let outcome = try play(
            "name UNIQUE);",
            [
                [
                    (0, "INSERT INTO t VALUES (\(k(1)), 'x')"),
                    (1, "INSERT INTO t VALUES (\(k(2)), 'x')"), (2, "INSERT INTO t VALUES (\(k(3)), 'x')"),
                ],
                [(2, "DELETE FROM t WHERE id = \(k(1))")],
            ])
        #expect(outcome.shown == ["t #2 \"x\""])
    }

    @Test func valuesThatTwoRowsSwapHideNothing() throws {
        let outcome = try play(
            "name UNIQUE);",
            start: ["INSERT INTO t VALUES (\(k(1)), 'x'), (\(k(2)), 'y'), (\(k(3)), 'z')"],
            [
                [
                    (0, "UPDATE t SET name = NULL WHERE id = \(k(1))"),
                    (0, "UPDATE t SET name = 'x' WHERE id = \(k(2))"),
                    (0, "UPDATE t SET name = 'y' WHERE id = \(k(3))"),
                    (0, "UPDATE t SET name = 'z' WHERE id = \(k(1))"),
                ]
            ])
        #expect(outcome.shown == ["t #1 \"z\"", "t #2 \"x\"", "t #3 \"y\""])
        #expect(outcome.hidden.isEmpty)
    }

    @Test func anUpdateIntoATakenValueHidesTheYoungerRowWhole() throws {
        let outcome = try play(
            "name UNIQUE, note);",
            start: [
                "INSERT INTO t VALUES (\(k(1)), 'x', 'old')", "INSERT INTO t VALUES (\(k(2)), 'y', 'old')",
            ],
            [
                [
                    (0, "UPDATE t SET name = 'z', note = 'new' WHERE id = \(k(1))"),
                    (1, "UPDATE t SET name = 'z' WHERE id = \(k(2))"),
                    (2, "UPDATE t SET note = 'also new' WHERE id = \(k(2))"),
                ]
            ], orders: 3)
        #expect(outcome.shown == ["t #1 \"z\" \"new\""])
        #expect(outcome.hidden.count == 1)
        #expect(outcome.hidden.first?.contains("note='also new'") == true)
    }

    @Test func aLocalRowYieldsToAnOlderHiddenOne() throws {
        let stores = try TestStores()
        let scenario = ConstraintScenario(schema: "", tables: ["t"], phases: [])
        let a = try stores.create(
            schema: "CREATE TABLE t (id BLOB PRIMARY KEY, a UNIQUE, b UNIQUE)", tables: ["t"])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT INTO t VALUES (?, 1, 1)", [key(1)])
        try b.execute("INSERT INTO t VALUES (?, 1, 2)", [key(2)])
        try a.sync(b)
        // Row 2 is hidden, so 2 is free here; then its rival goes.
        try a.execute("INSERT INTO t VALUES (?, 5, 2)", [key(3)])
        try a.execute("DELETE FROM t WHERE id = ?", [key(1)])
        try a.sync(b)
        #expect(try a.dump(["t"]).map { $0.prefix(6) } == ["t x222"])
        #expect(try scenario.outcome(a) == scenario.outcome(b))
    }

    @Test func keysThatDifferOnlyInCaseCollide() throws {
        let upper = "'0190F5FE-7C00-7A00-8000-00000000000A'"
        let outcome = try ConstraintScenario(
            schema: "CREATE TABLE t (id TEXT PRIMARY KEY COLLATE NOCASE, name TEXT)", tables: ["t"],
            phases: [
                [
                    (0, "INSERT INTO t VALUES (\(upper), 'upper')"),
                    (1, "INSERT INTO t VALUES (lower(\(upper)), 'lower')"),
                ],
                [(2, "UPDATE t SET name = 'edited'")],
                [(1, "DELETE FROM t")],
            ]
        ).play(orders: 2)
        #expect(outcome.shown.count == 1)
        #expect(outcome.shown.first?.contains("\"lower\"") == true)
        #expect(outcome.hidden.isEmpty)
    }

    @Test func aRowOfAForeignKeyKeepsItsClaimWithoutItsParent() throws {
        // The orphan is older than the row that wants its value.
        let outcome = try ConstraintScenario(
            schema: """
                CREATE TABLE p (id BLOB PRIMARY KEY);
                CREATE TABLE t (id BLOB PRIMARY KEY, p REFERENCES p, name UNIQUE);
                """,
            tables: ["p", "t"], start: ["INSERT INTO p VALUES (\(k(1)))"],
            phases: [
                [
                    (0, "INSERT INTO t VALUES (\(k(2)), \(k(1)), 'x')"),
                    (1, "DELETE FROM p"),
                    (2, "INSERT INTO t VALUES (\(k(3)), NULL, 'x')"),
                ],
                [(1, "INSERT INTO t VALUES (\(k(4)), NULL, 'x')")],
            ]
        ).play(orders: 2)
        #expect(outcome.shown.isEmpty)
        #expect(outcome.hidden.count == 3)
    }

    @Test func aRowOfThisStoreAloneIsNeverHidden() throws {
        let stores = try TestStores()
        let a = try stores.create(
            schema: "CREATE TABLE t (id BLOB PRIMARY KEY, name TEXT UNIQUE)", tables: ["t"])
        let b = try stores.clone(a, as: "b.db")
        try b.execute("INSERT INTO t VALUES (?, 'x')", [key(2)])
        try a.execute("INSERT INTO t VALUES (x'01', 'x')")
        try a.sync(b)
        #expect(try a.dump(["t"]) == ["t x1 \"x\""])
        try a.execute("DELETE FROM t WHERE id = x'01'")
        try a.sync(b)
        #expect(try a.dump(["t"]) == b.dump(["t"]))
    }
}
