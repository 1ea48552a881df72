import CipherStore
import SyncWire
import Testing

@testable import SyncEngine

/// What a bundle of many tables makes a store look up.
@Suite struct ManyTablesTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    /// The statements that a replica runs which exchanges some tables of more, while it gets a bundle.
    ///
    /// - parameter extra: What the schema has for each of these tables.
    private func statements(_ count: Int, extra: (String) -> String = { _ in "" }) throws -> [String] {
        let names = (0..<count).map { "t\($0)" }
        let all = names + ["other"]
        let hub = try stores.create(
            "hub\(count).db",
            schema: "CREATE TABLE mine (value);"
                + all.map { "CREATE TABLE \($0) (id BLOB PRIMARY KEY, value INTEGER);" }.joined()
                + names.map(extra).joined(),
            tables: all)
        let leaf = try stores.clone(hub, as: "leaf\(count).db")
        for name in all { try hub.put(name, 1, 1) }
        try leaf.exchange(hub, names)
        for name in all { try hub.put(name, 2, 2) }
        var statements: [String] = []
        leaf.queue.inDatabase { db in db.trace { statements.append("\($0)") } }
        try leaf.exchange(hub, names, .pull)
        leaf.queue.inDatabase { $0.trace(options: []) }
        for name in names {
            #expect(try leaf.values(name) == [1: 1, 2: 2])
            #expect(try leaf.known(name).covers(hub.known(name)))
        }
        #expect(try leaf.values("other").isEmpty)
        #expect(try leaf.problems() == [])
        return statements
    }

    @Test func whatIsKnownOfSingleTablesIsReadAsOftenForManyAsForFew() throws {
        let counts = try [2, 20].map { count in
            try statements(count).count { $0.contains("SELECT tbl, sid, oseq, floor FROM _sync_coverage") }
        }
        #expect(counts[0] > 0)
        // SQLite may tell of one reading twice.
        #expect(counts[1] <= 2 * counts[0], "\(counts)")
    }

    @Test func theTriggersOfAllTablesAreReadAsOftenForManyAsForFew() throws {
        let counts = try [2, 20].map { count in
            try statements(count) { name in
                """
                CREATE TRIGGER \(name)_log AFTER INSERT ON \(name) BEGIN
                    INSERT INTO mine VALUES (NEW.value);
                END;
                """
            }.count { $0.contains("rowid AS number FROM main.sqlite_master") }
        }
        #expect(counts[0] > 0)
        #expect(counts[1] <= 2 * counts[0], "\(counts)")
    }

    @Test func theTablesOfWhichTheSenderHoldsSomeRowsAreThoseThatItNames() {
        let names = ["apple", "old", "KEPT", "o\u{308}ld", "\u{F6}ld", "kept"]
        var facts = ReplicaFacts()
        facts.partials = [
            .init(names: ["Kept", "OLD"], since: VersionVector(), own: VersionVector()),
            .init(names: ["\u{F6}LD"], since: VersionVector(), own: VersionVector()),
        ]
        let replica = Identifier128(high: 1, low: 1)
        let header = BundleHeader(
            store: replica, sender: replica, base: VersionVector(), target: VersionVector(),
            replicas: [replica], tables: names.map { .init(name: $0, key: "id", columns: []) }, facts: facts)
        let found = BundleContext.partialTables(of: header)
        #expect(found == [1, 2, 4, 5])
        #expect(found == Set(names.indices.filter { facts.partials.find([names[$0]]) != nil }))
    }
}
