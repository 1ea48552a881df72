import CipherStore
import Testing

@testable import SyncEngine

/// What bundles say again and again of policies that are known.
@Suite struct DeclaredPolicyTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    /// How often all policies are read while a replica gets a bundle that declares some.
    private func readings(_ count: Int) throws -> Int {
        let columns = (0..<count).map { "c\($0)" }
        let a = try stores.create(
            "a\(count).db",
            schema: "CREATE TABLE item (id BLOB PRIMARY KEY, \(columns.joined(separator: ", ")))",
            tables: ["item"])
        let b = try stores.clone(a, as: "b\(count).db")
        try a.synchronizer.setPolicies(columns.map { .max("item", $0) })
        try a.execute("INSERT INTO item (id, c0) VALUES (?, 5)", [key(1)])
        try b.sync(a, .pull)
        let learnt = try b.synchronizer.policies()
        #expect(learnt.count == count)
        try a.execute("UPDATE item SET c0 = 7")
        try b.execute("UPDATE item SET c0 = 6")
        var reads = 0
        b.queue.inDatabase { db in
            db.trace {
                let text = "\($0)"
                if text.contains("FROM _sync_policy AS p"), !text.contains("p.tbl = ") { reads += 1 }
            }
        }
        try b.sync(a, .pull)
        b.queue.inDatabase { $0.trace(options: []) }
        #expect(try b.value("SELECT c0 FROM item", as: Int.self) == 7)
        #expect(try b.synchronizer.policies() == learnt)
        #expect(try b.problems() == [])
        return reads
    }

    @Test func allPoliciesAreReadAsOftenForManyDeclarationsAsForFew() throws {
        let (few, many) = (try readings(2), try readings(20))
        // SQLite may tell of one reading twice.
        #expect(many <= 2 * few + 2, "\(many), \(few)")
    }
}
