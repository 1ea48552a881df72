import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Children that lose their parents, and parents that come back.
@Suite struct ForeignKeyTests {
    private static let trees = """
        CREATE TABLE p (id BLOB PRIMARY KEY, up BLOB REFERENCES p, name);
        """

    private func play(
        _ schema: String, _ tables: [String], start: [String] = [], _ phases: [[ConstraintScenario.Edit]],
        orders: Int = 2
    ) throws -> ConstraintScenario.Outcome {
        try ConstraintScenario(schema: schema, tables: tables, start: start, phases: phases)
            .play(orders: orders)
    }

    @Test func aChainOfOrphansGoesAndComesBack() throws {
        let edits: [[ConstraintScenario.Edit]] = [
            [
                (0, "DELETE FROM p"),
                (1, "INSERT INTO p VALUES (\(k(2)), \(k(1)), 'two')"),
                (1, "INSERT INTO p VALUES (\(k(3)), \(k(2)), 'three')"),
                (2, "INSERT INTO p VALUES (\(k(4)), \(k(1)), 'four')"),
            ]
        ]
        let gone = try play(Self.trees, ["p"], start: ["INSERT INTO p VALUES (\(k(1)), NULL, 'one')"], edits)
        #expect(gone.shown.isEmpty)
        #expect(gone.hidden.count == 3)
        let back = try play(
            Self.trees, ["p"], start: ["INSERT INTO p VALUES (\(k(1)), NULL, 'one')"],
            edits + [[(2, "INSERT INTO p VALUES (\(k(1)), NULL, 'again')")]])
        #expect(back.shown.count == 4)
        #expect(back.hidden.isEmpty)
    }

    @Test func rowsThatReferToThemselvesAndEachOtherAreShown() throws {
        let outcome = try play(
            """
            CREATE TABLE p (id BLOB PRIMARY KEY, q REFERENCES q DEFERRABLE INITIALLY DEFERRED, up REFERENCES p);
            CREATE TABLE q (id BLOB PRIMARY KEY, p REFERENCES p DEFERRABLE INITIALLY DEFERRED);
            """, ["p", "q"],
            [
                [
                    (
                        0,
                        """
                        INSERT INTO p VALUES (\(k(1)), \(k(2)), \(k(1)));
                        INSERT INTO q VALUES (\(k(2)), \(k(1)));
                        INSERT INTO p VALUES (\(k(3)), \(k(4)), NULL);
                        INSERT INTO q VALUES (\(k(4)), \(k(3)));
                        """
                    )
                ],
                [(1, "UPDATE p SET up = \(k(3)) WHERE id = \(k(1))"), (2, "UPDATE p SET up = NULL")],
            ])
        #expect(outcome.shown.count == 4)
        #expect(outcome.hidden.isEmpty)
    }

    @Test func aRowThatLosesBothParentsGoesOnceAndComesBackWhenBothAreBack() throws {
        let schema = """
            CREATE TABLE m (id BLOB PRIMARY KEY);
            CREATE TABLE n (id BLOB PRIMARY KEY);
            CREATE TABLE c (id BLOB PRIMARY KEY, m REFERENCES m, n REFERENCES n, name);
            """
        let start = ["INSERT INTO m VALUES (\(k(1)))", "INSERT INTO n VALUES (\(k(2)))"]
        let edits: [[ConstraintScenario.Edit]] = [
            [
                (0, "DELETE FROM m; DELETE FROM n"),
                (1, "INSERT INTO c VALUES (\(k(3)), \(k(1)), \(k(2)), 'child')"),
            ]
        ]
        let gone = try play(schema, ["m", "n", "c"], start: start, edits)
        #expect(gone.shown.isEmpty)
        #expect(gone.hidden.count == 1)
        let oneIsBack = edits + [[(2, "INSERT INTO m VALUES (\(k(1)))")]]
        let half = try play(schema, ["m", "n", "c"], start: start, oneIsBack)
        #expect(half.shown.count == 1)
        #expect(half.hidden.count == 1)
        let back = try play(
            schema, ["m", "n", "c"], start: start, oneIsBack + [[(0, "INSERT INTO n VALUES (\(k(2)))")]])
        #expect(back.shown.count == 3)
        #expect(back.hidden.isEmpty)
    }

    @Test func aCircleGoesWithTheRowThatOneOfItNeeds() throws {
        let schema = """
            CREATE TABLE root (id BLOB PRIMARY KEY);
            CREATE TABLE p (id BLOB PRIMARY KEY, q REFERENCES q DEFERRABLE INITIALLY DEFERRED, r REFERENCES root);
            CREATE TABLE q (id BLOB PRIMARY KEY, p REFERENCES p DEFERRABLE INITIALLY DEFERRED);
            """
        let start = ["INSERT INTO root VALUES (\(k(9)))"]
        let circle = """
            INSERT INTO p VALUES (\(k(1)), \(k(2)), \(k(9))); INSERT INTO q VALUES (\(k(2)), \(k(1)));
            """
        let gone = try play(
            schema, ["root", "p", "q"], start: start, [[(0, circle), (1, "DELETE FROM root")]])
        #expect(gone.shown.isEmpty)
        #expect(gone.hidden.count == 2)
        let back = try play(
            schema, ["root", "p", "q"], start: start,
            [[(0, circle), (1, "DELETE FROM root")], [(2, "INSERT INTO root VALUES (\(k(9)))")]])
        #expect(back.shown.count == 3)
    }

    @Test(arguments: [
        "", "ON DELETE CASCADE", "ON DELETE RESTRICT", "ON DELETE SET NULL", "ON DELETE NO ACTION",
        "ON DELETE SET DEFAULT", "DEFERRABLE INITIALLY DEFERRED",
    ])
    func everyActionLeavesTheSameRows(_ action: String) throws {
        let schema = """
            CREATE TABLE p (id BLOB PRIMARY KEY, name);
            CREATE TABLE c (id BLOB PRIMARY KEY, p DEFAULT NULL REFERENCES p \(action), second REFERENCES p, name);
            """
        let start = [
            "INSERT INTO p VALUES (\(k(1)), 'one'), (\(k(2)), 'two')",
            "INSERT INTO c VALUES (\(k(3)), NULL, \(k(1)), 'three')",
        ]
        let outcome = try play(
            schema, ["p", "c"], start: start,
            [
                [
                    // 2 goes with what its action does to its children here.
                    (0, "DELETE FROM p WHERE id = \(k(2))"),
                    (1, "INSERT INTO c VALUES (\(k(4)), \(k(2)), \(k(1)), 'four')"),
                    (1, "INSERT INTO c VALUES (\(k(5)), \(k(1)), \(k(2)), 'five')"),
                    (2, "UPDATE c SET p = \(k(2)) WHERE id = \(k(3))"),
                ]
            ], orders: 2)
        #expect(outcome.shown.map { $0.prefix(4) } == ["p #1"])
        #expect(outcome.hidden.count == 3)
    }

    @Test func aKeyToSeveralColumnsOfAParent() throws {
        let schema = """
            CREATE TABLE p (id BLOB PRIMARY KEY, a, b, UNIQUE (a, b));
            CREATE TABLE c (id BLOB PRIMARY KEY, x, y, FOREIGN KEY (x, y) REFERENCES p (a, b));
            """
        let start = ["INSERT INTO p VALUES (\(k(1)), 1, 2)"]
        let edits: [ConstraintScenario.Edit] = [
            (0, "UPDATE p SET b = 3"), (1, "INSERT INTO c VALUES (\(k(2)), 1, 2)"),
            (2, "INSERT INTO c VALUES (\(k(3)), 1, NULL)"),
        ]
        let gone = try play(schema, ["p", "c"], start: start, [edits])
        #expect(gone.shown.map { $0.prefix(4) } == ["p #1", "c #3"])
        let back = try play(
            schema, ["p", "c"], start: start, [edits, [(1, "INSERT INTO p VALUES (\(k(4)), 1, 2)")]])
        #expect(back.hidden.isEmpty)
    }

    @Test func theParentsTypeAndCollationCount() throws {
        // 'ABC' refers to 'abc', and 1 to '1', as SQLite compares them.
        let schema = """
            CREATE TABLE p (id BLOB PRIMARY KEY, code TEXT COLLATE NOCASE UNIQUE);
            CREATE TABLE c (id BLOB PRIMARY KEY, code REFERENCES p (code));
            """
        let start = ["INSERT INTO p VALUES (\(k(1)), 'abc'), (\(k(2)), '1')"]
        let outcome = try play(
            schema, ["p", "c"], start: start,
            [
                [
                    (0, "INSERT INTO c VALUES (\(k(3)), 'ABC')"), (1, "INSERT INTO c VALUES (\(k(4)), 1)"),
                    (2, "UPDATE p SET code = 'Abc' WHERE id = \(k(1))"),
                ]
            ])
        #expect(outcome.hidden.isEmpty)
        #expect(outcome.shown.count == 4)
    }

    @Test func childrenOfAParentWhoseKeyDiffersInCaseFollowIt() throws {
        let id = "'0190F5FE-7C00-7A00-8000-00000000000A'"
        let schema = """
            CREATE TABLE p (id TEXT COLLATE NOCASE PRIMARY KEY);
            CREATE TABLE c (id BLOB PRIMARY KEY, p TEXT REFERENCES p);
            """
        let edits: [ConstraintScenario.Edit] = [
            (0, "INSERT INTO c VALUES (\(k(1)), lower(\(id)))"), (1, "DELETE FROM p"),
        ]
        let gone = try play(schema, ["p", "c"], start: ["INSERT INTO p VALUES (\(id))"], [edits])
        #expect(gone.shown.isEmpty)
        let back = try play(
            schema, ["p", "c"], start: ["INSERT INTO p VALUES (\(id))"],
            [edits, [(2, "INSERT INTO p VALUES (\(id))")]])
        #expect(back.shown.count == 2)
    }

    @Test func childrenOfALoserAreHiddenAndComeWithIt() throws {
        let schema = """
            CREATE TABLE p (id BLOB PRIMARY KEY, name UNIQUE);
            CREATE TABLE c (id BLOB PRIMARY KEY, p REFERENCES p ON DELETE CASCADE);
            """
        let edits: [ConstraintScenario.Edit] = [
            (0, "INSERT INTO p VALUES (\(k(1)), 'x')"), (1, "INSERT INTO p VALUES (\(k(2)), 'x')"),
            (0, "INSERT INTO c VALUES (\(k(3)), \(k(1)))"), (1, "INSERT INTO c VALUES (\(k(4)), \(k(2)))"),
        ]
        let outcome = try play(schema, ["p", "c"], [edits], orders: 3)
        #expect(outcome.shown == ["p #1 \"x\"", "c #3 #1"])
        let back = try play(schema, ["p", "c"], [edits, [(2, "UPDATE p SET name = 'y'")]])
        #expect(back.shown.count == 4)
    }

    @Test func aParentTableThatComesLater() throws {
        let stores = try TestStores()
        let schema = "CREATE TABLE c (id BLOB PRIMARY KEY, p REFERENCES p);"
        let a = try stores.create(
            schema: schema + "CREATE TABLE p (id BLOB PRIMARY KEY);", tables: ["c", "p"])
        let c = try stores.clone(a, as: "c.db")
        try c.migrate("drop") { try $0.drop(table: "p") }
        try a.execute("INSERT INTO p VALUES (?)", [key(1)])
        try a.execute("INSERT INTO c VALUES (?, ?)", [key(2), key(1)])
        try a.sync(c)
        // A table that is not here is not judged.
        #expect(try c.dump(["c"]).count == 1)
        try a.queue.writeWithoutTransaction { db in
            try db.execute(
                sql:
                    "PRAGMA foreign_keys = OFF; INSERT INTO c VALUES (x'05050505050505050505050505050505', x'06'); PRAGMA foreign_keys = ON"
            )
        }
        try a.sync(c)
        #expect(try c.dump(["c"]).count == 2)
        try c.changeUnobserved("CREATE TABLE p (id BLOB PRIMARY KEY)")
        try c.synchronizer.track(["p"])
        try a.sync(c)
        #expect(try c.dump(["p"]).count == 1)
        #expect(try c.dump(["c"]).map { $0.prefix(4) } == ["c x2"])
    }

    @Test func aKeyToATableThatIsNotTrackedIsNotJudged() throws {
        let stores = try TestStores()
        let a = try stores.create(
            schema: """
                CREATE TABLE local (id BLOB PRIMARY KEY);
                CREATE TABLE c (id BLOB PRIMARY KEY, local REFERENCES local);
                """, tables: ["c"])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("INSERT INTO local VALUES (?)", [key(1)])
        try a.execute("INSERT INTO c VALUES (?, ?)", [key(2), key(1)])
        try a.sync(b)
        #expect(try b.dump(["c"]) == a.dump(["c"]))
        #expect(try b.synchronizer.status().parkedCount == 0)
    }

    @Test func anOrphanOfAProgramWithoutForeignKeysIsLeftAloneUntilItIsWritten() throws {
        let stores = try TestStores()
        let a = try stores.create(
            schema: """
                CREATE TABLE p (id BLOB PRIMARY KEY);
                CREATE TABLE c (id BLOB PRIMARY KEY, p REFERENCES p, name);
                """, tables: ["p", "c"])
        let b = try stores.clone(a, as: "b.db")
        try a.queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA foreign_keys = OFF;
                    INSERT INTO c VALUES (x'05050505050505050505050505050505', x'06', 'mine');
                    PRAGMA foreign_keys = ON;
                    """)
        }
        try b.execute("INSERT INTO p VALUES (?)", [key(1)])
        try a.sync(b)
        try a.sync(b)
        #expect(try a.dump(["c"]).count == 1)
        #expect(try b.dump(["c"]).isEmpty)
        #expect(try b.synchronizer.parkedRows().map(\.reason) == [.missingParent])
        // Both agree once the parent is there.
        try b.execute("INSERT INTO c VALUES (?, ?, 'x')", [key(7), key(1)])
        try a.sync(b)
        #expect(try a.dump(["c"]).count == 2)
    }
}
