import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Counters in tables whose columns are called like those of the metadata.
@Suite struct CounterNameTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private static let names = [
        "r", "tbl", "pk", "cl", "hlc", "sid", "oseq", "col", "val", "why", "seq", "op", "mask", "ms", "kind",
        "counter", "at", "rid", "t", "k", "b", "s", "c",
    ]

    /// Makes a replica with a row of two counters.
    private func create(_ name: String) throws -> TestReplica {
        let others = Self.names.filter { $0 != name }.joined(separator: ", ")
        let replica = try stores.create(
            schema: """
                CREATE TABLE note (\(name) BLOB PRIMARY KEY, visits INTEGER DEFAULT 0, \(others), stars INTEGER DEFAULT 0)
                """, tables: ["note"])
        try replica.synchronizer.setPolicies([.counter("note", "stars"), .counter("note", "visits")])
        try insert(1, as: name, into: replica)
        return replica
    }

    private func insert(_ number: UInt8, as name: String, into replica: TestReplica) throws {
        try replica.execute(
            "INSERT OR REPLACE INTO note (\(name), stars, visits) VALUES (?, 5, 7)", [key(number)])
    }

    private func count(_ replicas: [TestReplica]) throws {
        for replica in replicas {
            try replica.execute("UPDATE note SET stars = stars + 1, visits = visits + 10")
        }
    }

    private func expectSame(_ replicas: [TestReplica], _ shown: String) throws {
        for replica in replicas {
            let sums =
                "SELECT group_concat(stars || ' ' || visits, ', ') FROM (SELECT * FROM note ORDER BY 1)"
            #expect(try replica.value(sums, as: String.self) == shown)
            #expect(try replica.problems() == [])
        }
        #expect(try replicas[0].state(["note"]) == replicas[1].state(["note"]))
    }

    @Test(arguments: ["id", "pk", "oseq", "r"]) func replicasCount(_ name: String) throws {
        let a = try create(name)
        let b = try stores.clone(a, as: "b.db")
        try insert(2, as: name, into: a)
        try count([a, b])
        try a.sync(b)
        try expectSame([a, b], "7 27, 6 17")
        try count([a, b])
        try a.sync(b)
        try insert(2, as: name, into: b)
        try b.sync(a)
        try expectSame([a, b], "9 47, 5 7")
    }

    @Test(arguments: ["id", "pk", "oseq", "r"]) func aCounterIsDroppedAndComesBack(_ name: String) throws {
        let a = try create(name)
        let b = try stores.clone(a, as: "b.db")
        try a.migrate("drop") { try $0.alter(table: "note") { $0.drop(column: "stars") } }
        try a.execute("INSERT OR REPLACE INTO note (\(name), visits) VALUES (?, 7)", [key(1)])
        try a.sync(b)
        try a.migrate("again") { try $0.alter(table: "note") { $0.add(column: "stars", .integer) } }
        try count([a, b])
        try a.sync(b)
        try expectSame([a, b], "7 27")
    }

    @Test(arguments: ["id", "pk", "oseq", "r"]) func theTableIsTrackedAgain(_ name: String) throws {
        let a = try create(name)
        let b = try stores.clone(a, as: "b.db")
        try a.synchronizer.untrack(["note"])
        try a.execute("UPDATE note SET sid = 'here', why = 'here'")
        try b.execute("UPDATE note SET sid = 'there', ms = 'there'")
        try a.synchronizer.track(["note"])
        try a.sync(b)
        try expectSame([a, b], "5 7")
        #expect(try a.value("SELECT why || ms FROM note", as: String.self) == "herethere")
    }
}
