import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// What happens to rows whose parent was deleted elsewhere, where the app says so.
@Suite struct OrphanPolicyTests {
    private static let schema = """
        CREATE TABLE p (id BLOB PRIMARY KEY, name);
        CREATE TABLE c (id BLOB PRIMARY KEY, p REFERENCES p, name);
        CREATE TABLE d (id BLOB PRIMARY KEY, c NOT NULL REFERENCES c);
        """

    private func scenario(_ policies: [String: OrphanPolicy]) -> ConstraintScenario {
        ConstraintScenario(
            schema: Self.schema, tables: ["p", "c", "d"],
            start: ["INSERT INTO p VALUES (\(k(1)), 'one')", "INSERT INTO p VALUES (\(k(2)), 'two')"],
            phases: [
                [
                    (0, "DELETE FROM p WHERE id = \(k(1))"),
                    (1, "INSERT INTO c VALUES (\(k(3)), \(k(1)), 'three')"),
                    (1, "INSERT INTO d VALUES (\(k(4)), \(k(3)))"),
                    (2, "INSERT INTO c VALUES (\(k(5)), \(k(1)), 'five')"),
                ], [],
            ],
            prepare: { replica in
                for (table, policy) in policies {
                    try replica.synchronizer.setOrphanPolicy(policy, for: table)
                }
            })
    }

    /// Stamps depend on who was first; what is shown does not.
    private func shown(_ scenario: ConstraintScenario) throws -> [String] {
        let outcomes = try scenario.playEach(orders: 3)
        for outcomes in outcomes {
            for outcome in outcomes {
                #expect(outcome.shown == outcomes[0].shown)
                #expect(outcome.hidden == outcomes[0].hidden)
                #expect(outcome.versions == outcomes[0].versions)
                #expect(outcome.shown == outcomes[0].shown)
            }
        }
        #expect(Set(outcomes.map { $0[0].shown }).count == 1)
        return outcomes[0][0].shown
    }

    @Test func orphansAreHeldUnlessSomethingElseIsSaid() throws {
        #expect(try shown(scenario([:])) == ["p #2 \"two\""])
    }

    @Test func orphansAreDeletedWithTheirOwnChildren() throws {
        let scenario = scenario(["c": .delete, "d": .delete])
        #expect(try shown(scenario) == ["p #2 \"two\""])
        #expect(try scenario.playEach(orders: 2).allSatisfy { $0.allSatisfy { $0.hidden.isEmpty } })
    }

    /// What a settlement deletes counts as deleted for the rows that refer to it, though it has no version yet.
    @Test func manyOrphansAreDeletedWithTheirOwnChildren() throws {
        let stores = try TestStores()
        let a = try stores.create(schema: Self.schema, tables: ["p", "c", "d"])
        for number: UInt8 in 1...2 { try a.execute("INSERT INTO p VALUES (?, 'x')", [key(number)]) }
        let b = try stores.clone(a, as: "b.db")
        for replica in [a, b] {
            for table in ["c", "d"] { try replica.synchronizer.setOrphanPolicy(.delete, for: table) }
        }
        for number: UInt8 in 10...99 {
            let parent = key(number % 3 == 0 ? 2 : 1)
            try b.execute("INSERT INTO c VALUES (?, ?, 'x')", [key(number), parent])
            try b.execute("INSERT INTO d VALUES (?, ?)", [key(number + 100), key(number)])
        }
        try a.execute("DELETE FROM p WHERE id = ?", [key(1)])
        try a.sync(b)
        try a.sync(b)
        for replica in [a, b] {
            #expect(try replica.synchronizer.parkedRows().isEmpty)
            #expect(try replica.dump(["p", "c", "d"]).count == 1 + 30 + 30)
            #expect(try replica.problems() == [])
        }
    }

    @Test func anOrphanThatWasDeletedCanBeRestoredAsAWhole() throws {
        let stores = try TestStores()
        let schema = """
            CREATE TABLE p (id BLOB PRIMARY KEY, name);
            CREATE TABLE c (id BLOB PRIMARY KEY, p REFERENCES p, name, body, n INTEGER DEFAULT 0);
            """
        let a = try stores.create(schema: schema, tables: ["p", "c"])
        try a.synchronizer.setPolicies([.counter("c", "n")])
        try a.synchronizer.setOrphanPolicy(.delete, for: "c")
        try a.execute("INSERT INTO p VALUES (?, 'one')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        let c = try stores.clone(a, as: "c.db")
        try b.execute("INSERT INTO c VALUES (?, ?, 'three', 'precious', 4)", [key(3), key(1)])
        try c.sync(b)
        try a.execute("DELETE FROM p")
        try a.sync(b)
        #expect(try a.dump(["c"]).isEmpty)
        try c.execute("UPDATE c SET name = 'edited'")
        try a.sync(c, .pull)
        try a.execute("INSERT INTO p VALUES (?, 'again')", [key(1)])
        #expect(try a.synchronizer.resolve(.open, by: .restoreLost).restoredRowCount == 1)
        #expect(try a.value("SELECT name || '|' || body || '|' || n FROM c") == "edited|precious|4")
        #expect(try a.problems() == [])
    }

    @Test func orphansLoseTheirReference() throws {
        let expected = ["p #2 \"two\"", "c #3 NULL \"three\"", "c #5 NULL \"five\"", "d #4 #3"]
        #expect(try shown(scenario(["c": .setNull])) == expected)
    }

    /// To SQLite both spellings of the key are the parent.
    @Test(arguments: [OrphanPolicy.delete, .setNull])
    func aParentInAnotherCaseIsTheParent(_ policy: OrphanPolicy) throws {
        let stores = try TestStores()
        let schema = """
            CREATE TABLE p (id TEXT PRIMARY KEY COLLATE NOCASE);
            CREATE TABLE c (id BLOB PRIMARY KEY, p TEXT REFERENCES p, name);
            """
        let a = try stores.create(schema: schema, tables: ["p", "c"])
        try a.execute("INSERT INTO p VALUES ('0190F5FE-7C00-7A00-8000-00000000000A')")
        let b = try stores.clone(a, as: "b.db")
        for replica in [a, b] { try replica.synchronizer.setOrphanPolicy(policy, for: "c") }
        try a.execute("DELETE FROM p")
        try b.execute("INSERT INTO c VALUES (?, '0190f5fe-7c00-7a00-8000-00000000000a', 'x')", [key(1)])
        try a.sync(b)
        try a.sync(b)
        for replica in [a, b] {
            #expect(try replica.synchronizer.parkedRows().isEmpty)
            #expect(try replica.dump(["c"]).count == (policy == .delete ? 0 : 1))
        }
    }

    /// The orphan waits because its parent does, until somebody deletes that.
    @Test(arguments: [OrphanPolicy.delete, .setNull], ["NOCASE", "RTRIM", "BINARY"])
    func anOrphanThatWaitsIsWokenByTheDeletionOfItsParentInAnySpelling(
        _ policy: OrphanPolicy, _ collation: String
    ) throws {
        let stores = try TestStores()
        let schema = """
            CREATE TABLE p (id TEXT PRIMARY KEY COLLATE \(collation), u UNIQUE);
            CREATE TABLE c (id BLOB PRIMARY KEY, p TEXT REFERENCES p, name);
            """
        let a = try stores.create(schema: schema, tables: ["p", "c"])
        let b = try stores.clone(a, as: "b.db")
        let c = try stores.clone(a, as: "c.db")
        for replica in [a, b, c] { try replica.synchronizer.setOrphanPolicy(policy, for: "c") }
        try a.execute("INSERT INTO p VALUES ('0190F5FE-7C00-7A00-8000-00000000000A', 'x')")
        try b.execute("INSERT INTO p VALUES ('0190F5FE-7C00-7A00-8000-00000000000B', 'x')")
        try c.sync(b)
        let spelling = ["NOCASE": "lower(id)", "RTRIM": "id || '  '"][collation] ?? "id"
        try c.execute("INSERT INTO c SELECT \(k(1)), \(spelling), 'child' FROM p")
        try a.sync(c, .pull)
        let reasons = try a.synchronizer.parkedRows().map(\.reason)
        #expect(reasons.contains(.missingParent))
        #expect(try a.dump(["c"]) == [])
        try b.execute("DELETE FROM p")
        try a.sync(b)
        #expect(try a.synchronizer.parkedRows().isEmpty)
        #expect(try a.dump(["c"]).count == (policy == .delete ? 0 : 1))
        try a.sync(b)
        #expect(try a.dump(["p", "c"]) == b.dump(["p", "c"]))
        #expect(try a.problems() == [])
    }

    @Test func aRowWhoseKeyRefersToAnotherColumnIsHeld() throws {
        let stores = try TestStores()
        let schema = """
            CREATE TABLE p (id BLOB PRIMARY KEY, name UNIQUE);
            CREATE TABLE c (id BLOB PRIMARY KEY, p REFERENCES p(name));
            """
        let a = try stores.create(schema: schema, tables: ["p", "c"])
        try a.execute("INSERT INTO p VALUES (?, 'one')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        for replica in [a, b] { try replica.synchronizer.setOrphanPolicy(.delete, for: "c") }
        try a.execute("DELETE FROM p")
        try b.execute("INSERT INTO c VALUES (?, 'one')", [key(2)])
        try a.sync(b)
        #expect(try a.synchronizer.parkedRows().map(\.reason) == [.missingParent])
    }

    @Test func whatMustNotBeNullIsHeld() throws {
        let stores = try TestStores()
        let a = try stores.create(schema: Self.schema, tables: ["p", "c", "d"])
        try a.execute("INSERT INTO c VALUES (?, NULL, 'x')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        for replica in [a, b] { try replica.synchronizer.setOrphanPolicy(.setNull, for: "d") }
        try a.execute("DELETE FROM c")
        try b.execute("INSERT INTO d VALUES (?, ?)", [key(2), key(1)])
        try a.sync(b)
        #expect(try a.synchronizer.parkedRows().map(\.reason) == [.missingParent])
        #expect(try b.dump(["d"]).isEmpty)
    }

    @Test func aParentThatHasNotComeYetIsNoDeletedOne() throws {
        let stores = try TestStores()
        let a = try stores.create(
            schema:
                "CREATE TABLE p (id BLOB PRIMARY KEY, u UNIQUE); CREATE TABLE c (id BLOB PRIMARY KEY, p REFERENCES p)",
            tables: ["p", "c"])
        let b = try stores.clone(a, as: "b.db")
        for replica in [a, b] { try replica.synchronizer.setOrphanPolicy(.delete, for: "c") }
        // The parent only waits: another row has its value.
        try a.execute("INSERT INTO p VALUES (?, 'x')", [key(1)])
        try b.execute("INSERT INTO p VALUES (?, 'x')", [key(2)])
        try b.execute("INSERT INTO c VALUES (?, ?)", [key(3), key(2)])
        try a.sync(b)
        try a.execute("UPDATE p SET u = 'y'")
        try a.sync(b)
        #expect(try a.dump(["p", "c"]).count == 3)
        #expect(try a.dump(["p", "c"]) == b.dump(["p", "c"]))
    }

    @Test func aPolicyMeetsTheRowsThatAreHeldAlready() throws {
        let stores = try TestStores()
        let a = try stores.create(schema: Self.schema, tables: ["p", "c", "d"])
        try a.execute("INSERT INTO p VALUES (?, 'one')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        try a.execute("DELETE FROM p")
        try b.execute("INSERT INTO c VALUES (?, ?, 'x')", [key(2), key(1)])
        try a.sync(b)
        #expect(try a.synchronizer.status().parkedCount == 1)
        try a.synchronizer.setOrphanPolicy(.setNull, for: "c")
        #expect(try a.synchronizer.orphanPolicy(for: "c") == .setNull)
        #expect(try a.dump(["c"]).count == 1)
        try a.sync(b)
        #expect(try a.dump(["c"]) == b.dump(["c"]))
    }

    @Test func anOrphanThatIsDeletedFreesItsUniqueValue() throws {
        let scenario = ConstraintScenario(
            schema: """
                CREATE TABLE p (id BLOB PRIMARY KEY);
                CREATE TABLE c (id BLOB PRIMARY KEY, p REFERENCES p, name UNIQUE);
                """, tables: ["p", "c"], start: ["INSERT INTO p VALUES (\(k(1)))"],
            phases: [
                [
                    (0, "DELETE FROM p"), (1, "INSERT INTO c VALUES (\(k(2)), \(k(1)), 'x')"),
                    (2, "INSERT INTO c VALUES (\(k(3)), NULL, 'x')"),
                ], [],
            ], prepare: { try $0.synchronizer.setOrphanPolicy(.delete, for: "c") })
        #expect(try shown(scenario) == ["c #3 NULL \"x\""])
    }

    @Test func aTableThatIsNotTrackedHasNoPolicy() throws {
        let a = try TestStores().create()
        let error = #expect(throws: SyncError.self) {
            try a.synchronizer.setOrphanPolicy(.delete, for: "nothing")
        }
        #expect(error?.code == .noSuchTable)
    }
}
