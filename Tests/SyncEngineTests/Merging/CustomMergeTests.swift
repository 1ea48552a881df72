import CipherStore
import Foundation
import SyncWire
import Synchronization
import TestSupport
import Testing

@testable import SyncEngine

/// Merges by functions of the app.
@Suite struct CustomMergeTests {
    private static func union(_ lost: DatabaseValue, _ won: DatabaseValue) -> DatabaseValue {
        let lines = [lost, won].flatMap { (String.fromDatabaseValue($0) ?? "").split(separator: ",") }
        return Set(lines).sorted().joined(separator: ",").databaseValue
    }

    private func replicas(_ count: Int, seed: UInt64 = 1) throws -> [TestReplica] {
        let stores = try TestStores(seed: seed)
        let first = try stores.create("0.db")
        try first.synchronizer.setPolicies([.custom("note", "body", merge: "union")])
        try first.execute("INSERT INTO note (id, title, body) VALUES (?, 'n', 'a')", [key(1)])
        return try [first] + (1..<count).map { try stores.clone(first, as: "\($0).db") }
    }

    private func exchange(_ left: TestReplica, _ right: TestReplica) throws {
        let environment = left.stores.clock.environment
        _ = try SessionDriver(
            local: StorePeer(
                left.queue, environment, closes: false, policies: left.synchronizer.mergePolicies),
            remote: StorePeer(
                right.queue, environment, closes: false, policies: right.synchronizer.mergePolicies),
            remoteName: right.name, progress: nil
        ).run(.both)
    }

    private func write(_ text: String, _ replica: TestReplica) throws {
        try replica.execute("UPDATE note SET body = ?", [text])
    }

    private func body(_ replica: TestReplica) throws -> String? {
        try replica.value("SELECT body FROM note", as: String.self)
    }

    @Test func theFunctionGetsTheOlderValueFirstAndItsResultIsAnEdit() throws {
        let all = try replicas(2)
        let calls = Mutex<[String]>([])
        all[0].synchronizer.register(mergePolicy: "union") { lost, won, context in
            calls.withLock {
                $0.append("\(lost) \(won) \(context.table) \(context.column) \(context.lost.isLocal)")
            }
            return Self.union(lost, won)
        }
        try write("a,b", all[0])
        try write("a,c", all[1])
        let report = try all[0].sync(all[1])
        #expect(report.conflictCount == 0)
        #expect(calls.withLock { $0 } == [#""a,b" "a,c" note body true"#])
        try all[0].sync(all[1])
        for replica in all { #expect(try body(replica) == "a,b,c") }
        #expect(try all[0].synchronizer.conflictCount() == 0)
        #expect(try all[0].synchronizer.conflicts(.resolved).map(\.resolution) == [.merged])
        #expect(try all[0].state(["note"]) == all[1].state(["note"]))
    }

    @Test func aReplicaWithoutTheFunctionJournalsAsUsual() throws {
        let all = try replicas(2)
        try write("a,b", all[0])
        try write("a,c", all[1])
        try all[0].sync(all[1])
        for replica in all { #expect(try body(replica) == "a,c") }
        #expect(try all[0].synchronizer.conflicts().map(\.lost) == ["a,b".databaseValue])
        #expect(try all[1].synchronizer.policies() == [.custom("note", "body", merge: "union")])
    }

    @Test func anErrorOfTheFunctionKeepsBothValuesAndStopsNothing() throws {
        struct Refusal: Error {}
        let all = try replicas(2)
        all[0].synchronizer.register(mergePolicy: "union") { _, _, _ in throw Refusal() }
        try write("a,b", all[0])
        try write("a,c", all[1])
        try all[1].execute("UPDATE note SET title = 'new'")
        try all[0].sync(all[1])
        for replica in all { #expect(try body(replica) == "a,c") }
        #expect(try all[0].value("SELECT title FROM note", as: String.self) == "new")
        let conflicts = try all[0].synchronizer.conflicts()
        let texts = conflicts.map { "\($0.lost) \($0.reason)" }.sorted()
        #expect(texts == [#""a,b" mergeFailed"#, #""a,c" mergeFailed"#])
    }

    @Test func aResultThatAConstraintRefusesLeavesTheConflictOpen() throws {
        let stores = try TestStores()
        let a = try stores.create(
            schema: "CREATE TABLE item (id BLOB PRIMARY KEY, v TEXT CHECK (length(v) < 4))", tables: ["item"])
        try a.synchronizer.setPolicies([.custom("item", "v", merge: "union")])
        try a.execute("INSERT INTO item VALUES (?, 'a')", [key(1)])
        let b = try stores.clone(a, as: "b.db")
        a.synchronizer.register(mergePolicy: "union") { lost, won, _ in Self.union(lost, won) }
        try a.execute("UPDATE item SET v = 'a,b'")
        try b.execute("UPDATE item SET v = 'a,c'")
        let report = try a.sync(b)
        #expect(report.conflictCount == 1)
        #expect(try a.synchronizer.conflicts().map(\.lost) == ["a,b".databaseValue])
        #expect(try a.dump(["item"]) == b.dump(["item"]))
    }

    /// The newer row comes from a table without the column, so it puts the column back to its default.
    @Test func aDefaultThatReplacesAValueUnseenIsMergedWithIt() throws {
        let stores = try TestStores()
        let a = try stores.create(
            schema: "CREATE TABLE item (id BLOB PRIMARY KEY, v TEXT)", tables: ["item"])
        let b = try stores.clone(a, as: "b.db")
        try a.queue.write { try $0.execute(sql: "ALTER TABLE item ADD COLUMN w TEXT DEFAULT 'd'") }
        try a.synchronizer.setPolicies([.custom("item", "w", merge: "union")])
        a.synchronizer.register(mergePolicy: "union") { lost, won, _ in Self.union(lost, won) }
        try a.execute("INSERT INTO item VALUES (?, 'of a', 'x')", [key(1)])
        try b.execute("INSERT INTO item VALUES (?, 'of b')", [key(1)])
        try a.sync(b)
        #expect(try a.value("SELECT v || ' ' || w FROM item", as: String.self) == "of b d,x")
    }

    /// What a column made of the function's result is this replica's edit, and no value of somebody else's.
    @Test func aResultThatTheColumnMakesAnotherOfIsSentAsItIsShown() throws {
        let stores = try TestStores()
        let a = try stores.create(
            schema: "CREATE TABLE item (id BLOB PRIMARY KEY, v INTEGER)", tables: ["item"])
        try a.synchronizer.setPolicies([.custom("item", "v", merge: "older")])
        let b = try stores.clone(a, as: "b.db")
        try b.changeUnobserved("DROP TABLE item; CREATE TABLE item (id BLOB PRIMARY KEY, v);")
        try b.synchronizer.track(["item"])
        try a.execute("INSERT INTO item VALUES (?, 0)", [key(1)])
        try a.sync(b)
        a.synchronizer.register(mergePolicy: "older") { lost, _, _ in lost }
        try b.execute("UPDATE item SET v = '5'")
        try a.execute("UPDATE item SET v = 5")
        try a.sync(b)
        #expect(try a.sync(b).divergence == nil)
        #expect(try b.value("SELECT typeof(v) FROM item", as: String.self) == "integer")
        #expect(try a.queue.read { try OriginalValues.counts($0).isEmpty })
    }

    @Test(arguments: Campaign.seeds(3, nightly: 60)) func whateverTheOrderTheUnionIsEverywhereInTheEnd(
        seed: UInt64
    ) throws {
        var random = SplitMix64(state: seed)
        let all = try replicas(3, seed: seed)
        for replica in all {
            replica.synchronizer.register(mergePolicy: "union") { lost, won, _ in Self.union(lost, won) }
        }
        var expected: Set<String> = ["a"]
        for step in 0..<40 {
            let one = Int(random.next(below: 3))
            if random.next(below: 2) == 0 {
                expected.insert("w\(step)")
                try write(try #require(try body(all[one])) + ",w\(step)", all[one])
            } else {
                try exchange(all[one], all[(one + 1 + Int(random.next(below: 2))) % 3])
            }
        }
        for _ in 0..<4 {
            try exchange(all[0], all[1])
            try exchange(all[1], all[2])
            try exchange(all[2], all[0])
        }
        for replica in all {
            let lines = try #require(try body(replica)).split(separator: ",").map(String.init)
            #expect(Set(lines) == expected)
            #expect(try replica.synchronizer.conflictCount() == 0)
        }
        #expect(try all[0].state(["note"]) == all[1].state(["note"]))
    }
}
