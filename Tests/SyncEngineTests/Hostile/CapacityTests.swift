import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// What peers say is kept only as far as others can be told of it, and replicas that kept something else of it agree.
@Suite struct CapacityTests {
    private let device = AdmissionTests.replica(1_000_000)

    /// A bundle that gives a column of the hub, and the table, other names.
    private func names(_ hub: TestReplica, _ prefix: String, _ count: Int) throws -> Forgery {
        var forgery = try Forgery(hub, device, [], upTo: 1)
        let others = (0..<count).map { "\(prefix)\($0)" }
        forgery.tables.append(
            .init(name: NameDeclarations.columnNames, key: "item", columns: ["x"] + others))
        forgery.tables.append(
            .init(name: NameDeclarations.tableNames, key: "item", columns: ["item"] + others))
        return forgery
    }

    /// What others get to read of a replica's greeting.
    private func greeting(_ replica: TestReplica) throws -> Greeting {
        let frame = try replica.peer.greet().encode()
        return try frame.withUnsafeBytes { try Greeting(frame: $0) }
    }

    // MARK: Names

    @Test func otherNamesBeyondThoseThatOthersReadAreNotKept() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        try hub.execute("INSERT INTO item (id, scope, x) VALUES (?, 'a', 1)", [itemKey(1)])
        try hub.take(names(hub, "n", 1_500), within: nil)
        let counts = try hub.queue.read {
            try Int.fetchAll($0, sql: "SELECT count(*) FROM _sync_alias GROUP BY tbl, col")
        }
        #expect(counts == [AdmissionLimits.otherNameCountMax, AdmissionLimits.otherNameCountMax])
        let digest = try #require(try greeting(hub).facts.digest)
        #expect(digest.tables.contains { $0.names.count > AdmissionLimits.otherNameCountMax })
        try expectExchange(hub, stores)
    }

    /// The name that the sender uses is among those that are not kept.
    @Test func aNameThatIsNotKeptMeansTheColumnInTheBundleThatSaysSo() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        try hub.take(names(hub, "n", 300), within: nil)
        for round in 1...2 {
            let number = Int64(10 * round)
            let stamp = WireStamp(timestamp: number, replica: 0, sequence: number)
            var forgery = try Forgery(
                hub, device, [.init(number: round, base: stamp, values: [0: "a", 1: .integer(7)])],
                upTo: number)
            forgery.tables = [
                .init(name: "item", key: "id", columns: ["scope", "m0", "y"]),
                .init(name: NameDeclarations.columnNames, key: "item", columns: ["m0", "m1", "x"]),
            ]
            try hub.take(forgery, within: nil)
        }
        #expect(try hub.value("SELECT sum(x) FROM item", as: Int.self) == 14)
        #expect(try hub.value("SELECT count(*) FROM _sync_column WHERE name = 'm0'", as: Int.self) == 0)
        try expectExchange(hub, stores)
    }

    @Test func replicasThatHeardOtherNamesFirstAgree() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        let other = try stores.clone(hub, as: "b.db")
        try hub.take(names(hub, "n", 300), within: nil)
        try other.take(names(other, "m", 300), within: nil)
        try hub.execute("INSERT INTO item (id, scope, x) VALUES (?, 'a', 1)", [itemKey(1)])
        try other.execute("INSERT INTO item (id, scope, x) VALUES (?, 'a', 2)", [itemKey(2)])
        try hub.sync(other)
        try other.execute("UPDATE item SET x = x + 1")
        try hub.sync(other)
        #expect(try hub.dump(["item"]) == other.dump(["item"]))
        #expect(try hub.value("SELECT sum(x) FROM item", as: Int.self) == 5)
        try expectHealthy([hub, other])
    }

    /// Each union brings the other names of one column to another one, which has room for some of them only.
    @Test func namesThatAUnionDropsAreNoFaultOfTheStore() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        for prefix in ["p", "q", "r"] {
            var forgery = try Forgery(hub, device, [], upTo: 1)
            forgery.tables = [
                .init(name: "item", key: "id", columns: ["scope", prefix]),
                .init(
                    name: NameDeclarations.columnNames, key: "item",
                    columns: [prefix] + (0..<200).map { "\(prefix)\($0)" }),
            ]
            try hub.take(forgery, within: nil)
        }
        var forgery = try Forgery(hub, device, [], upTo: 1)
        forgery.tables = [
            .init(name: "item", key: "id", columns: ["scope", "q1", "r7"]),
            .init(name: NameDeclarations.columnNames, key: "item", columns: ["q1", "p"]),
            .init(name: NameDeclarations.columnNames, key: "item", columns: ["r7", "p"]),
        ]
        do {
            try hub.take(forgery, within: nil)
        } catch let error as SyncError {
            // Two of its columns are one by now.
            #expect(error.code == .invalidBundle)
        }
        try expectExchange(hub, stores)
    }

    /// An earlier version took them in.
    @Test func aStoreThatHasMoreOtherNamesIsUnderstood() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        try hub.execute("INSERT INTO item (id, scope, x) VALUES (?, 'a', 1)", [itemKey(1)])
        try hub.queue.write {
            try $0.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
                    INSERT INTO _sync_alias (tbl, col, name) SELECT t.tbl, -1, 'n' || i FROM n, _sync_table AS t
                    WHERE t.name = 'item'
                    """)
        }
        #expect(try greeting(hub).facts.digest != nil)
        #expect(try hub.synchronizer.compact().repair.nameCount == 1_100)
        try expectExchange(hub, stores)
    }

    // MARK: Policies

    private func policy(_ table: String, _ column: String, _ kind: String, _ function: String)
        -> BundleHeader.Table
    {
        .init(
            name: PolicyDeclarations.policies, key: table,
            columns: [column, kind, function, "5", "\(device)"])
    }

    /// Each stands in a header with the name of its table.
    @Test func policiesThatWouldFillAHeaderAreRefused() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        let table = String(repeating: "t", count: 16_000)
        let columns = (0..<160).map { "c\($0)" }
        var forgery = try Forgery(hub, device, [])
        forgery.tables.append(.init(name: table, key: "id", columns: columns))
        try hub.take(forgery, within: nil)
        forgery.tables += columns.map { policy(table, $0, "max", "") }
        #expect(try code { try hub.take(forgery, within: nil) } == .capacityExceeded)
        #expect(try hub.value("SELECT count(*) FROM _sync_policy", as: Int.self) == 0)
        try expectExchange(hub, stores)
    }

    @Test func aPolicyWithALongNameOfAFunctionCountsForNone() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        let most = AdmissionLimits.functionNameByteCountMax
        let (short, long) = (String(repeating: "f", count: most), String(repeating: "f", count: most + 1))
        var forgery = try Forgery(hub, device, [])
        forgery.tables += [policy("item", "x", "custom", short), policy("item", "y", "custom", long)]
        try hub.take(forgery, within: nil)
        #expect(
            try hub.synchronizer.policies() == [ColumnPolicy.custom("item", "x", merge: short)])
        #expect(
            try code { try hub.synchronizer.setPolicies([.custom("item", "y", merge: long)]) }
                == .unsuitablePolicy)
        try expectExchange(hub, stores)
    }

    // MARK: Rows that go

    /// Each share of a counter can be large, and the text of all of them larger than SQLite's values.
    @Test(arguments: [1, 2_000_000])
    func whatACounterHasIsKeptOfARowThatGoesUnlessItIsLarge(byteCount: Int) throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        try hub.synchronizer.setPolicies([.counter("item", "x")])
        let other = try stores.clone(hub, as: "other.db")
        try other.execute(
            "INSERT INTO item (id, scope, x) VALUES (?, 'a', CAST(zeroblob(?) AS TEXT))",
            [itemKey(1), byteCount])
        try hub.sync(other)
        try hub.execute("DELETE FROM item")
        _ = try hub.peer.greet()
        let kept = "SELECT count(*) FROM _sync_last WHERE part = \(LastRows.separatePart)"
        #expect(try hub.value(kept, as: Int.self) == (byteCount == 1 ? 1 : 0))
        try hub.sync(other)
        #expect(try other.value("SELECT count(*) FROM item", as: Int.self) == 0)
        try expectHealthy([hub, other])
    }

    // MARK: What replicas know

    /// All of it is read for each greeting.
    @Test func whatOthersAreSaidToKnowIsNotNotedWithoutBound() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        let (speaker, other) = (AdmissionTests.replica(1), AdmissionTests.replica(2))
        func learn(_ db: Database) throws {
            let own = try StoreMetadata.require(db).replicaID()
            var facts = ReplicaFacts()
            facts.known[other] = VersionVector([own: 1])
            facts.acknowledged[other] = VersionVector([own: 1])
            try ReplicaRegister(db: db).learn(facts, from: speaker, knowing: VersionVector([own: 1]), at: 1)
        }
        func count(_ table: String) throws -> Int? {
            try hub.value("SELECT count(*) FROM \(table) WHERE sid < 1000000", as: Int.self)
        }
        let planted = AdmissionLimits.knownEntryCountMax / 4
        try hub.queue.write { db throws in
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(planted))
                    INSERT INTO _sync_known (sid, origin, oseq) SELECT 1000000 + i, 1, 1 FROM n
                    """)
            try learn(db)
        }
        #expect(try count("_sync_known") == 1)
        // Who was never met can say it again.
        try hub.queue.write { db throws in
            try ReplicaRegister(db: db).room.removeExcess(from: planted + 1)
            try learn(db)
        }
        #expect(try count("_sync_known") == 2)
        #expect(try count("_sync_acknowledged") == 1)
        try expectHealthy([hub])
    }

    /// A removed member can leave a file under another name each day.
    @Test func ofReplicasOfRemovedMembersABoundedNumberIsNoted() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        var counts: [Int] = []
        for round in 0..<3 {
            let replicas = Set((0..<600).map { AdmissionTests.replica(1_000 * round + $0) })
            let told = try hub.queue.write { db throws in
                try ToldRemovals.add(db, replicas)
                return try ToldRemovals.load(db)
            }
            #expect(told.isSuperset(of: replicas))
            counts.append(told.count)
        }
        #expect(counts == [600, 600, 600])
    }
}
