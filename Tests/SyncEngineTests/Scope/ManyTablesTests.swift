import CipherStore
import Testing

@testable import SyncEngine

/// A device that exchanges many tables of more.
@Suite struct ManyTablesTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    /// How often a replica that exchanges some tables of more reads what is known of single tables, while it gets a bundle.
    private func readings(_ count: Int) throws -> Int {
        let names = (0..<count).map { "t\($0)" }
        let all = names + ["other"]
        let hub = try stores.create(
            "hub\(count).db",
            schema: all.map { "CREATE TABLE \($0) (id BLOB PRIMARY KEY, value INTEGER);" }.joined(),
            tables: all)
        let leaf = try stores.clone(hub, as: "leaf\(count).db")
        for name in all { try hub.put(name, 1, 1) }
        try leaf.exchange(hub, names)
        for name in all { try hub.put(name, 2, 2) }
        var readings = 0
        leaf.queue.inDatabase { db in
            db.trace {
                if "\($0)".contains("SELECT tbl, sid, oseq, floor FROM _sync_coverage") { readings += 1 }
            }
        }
        try leaf.exchange(hub, names, .pull)
        leaf.queue.inDatabase { $0.trace(options: []) }
        for name in names {
            #expect(try leaf.values(name) == [1: 1, 2: 2])
            #expect(try leaf.known(name).covers(hub.known(name)))
        }
        #expect(try leaf.values("other").isEmpty)
        #expect(try leaf.problems() == [])
        return readings
    }

    @Test func whatIsKnownOfSingleTablesIsReadAsOftenForManyAsForFew() throws {
        let (few, many) = (try readings(2), try readings(20))
        #expect(few > 0)
        // SQLite may tell of one reading twice.
        #expect(many <= 2 * few, "\(many), \(few)")
    }
}
