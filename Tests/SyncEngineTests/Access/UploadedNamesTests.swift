import CipherStore
import SyncWire
import Testing

@testable import SyncEngine

/// Names in bundles of devices that may write some rows of a table only.
@Suite struct UploadedNamesTests {
    /// Swift takes both forms of the name for one text, and SQLite does not.
    @Test func aDeviceAddsNoNameThatLooksLikeAKnownOne() throws {
        let stores = try TestStores()
        let hub = try stores.create("hub.db", schema: rowScopeSchema, tables: ["item"])
        try hub.add(1, "a", x: 10)
        _ = try hub.peer.greet()
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        try hub.queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO _sync_alias (tbl, col, name) SELECT c.tbl, c.col, ? FROM _sync_column AS c
                    JOIN _sync_table AS t ON t.tbl = c.tbl WHERE t.name = 'item' AND c.name = 'x'
                    """, arguments: [composed])
        }
        let scope = SyncScope.rows(of: "item", where: "scope", in: ["a", "b"])
        let bounds = try #require(try hub.synchronizer.bounds(of: scope))
        stores.clock.advance(milliseconds: 1000)
        let now = stores.clock.environment.milliseconds()
        let stamp = WireStamp(timestamp: now << 16, replica: 0, sequence: 1)
        let row = Forgery.Row(number: 20, base: stamp, values: [0: "a"])
        func refusal(_ name: String) throws -> SyncError.Code? {
            var forgery = try Forgery(hub, Identifier128(high: 7, low: 7), [row])
            forgery.tables.append(
                BundleHeader.Table(name: NameDeclarations.columnNames, key: "item", columns: ["x", name]))
            return try code { try hub.take(forgery, within: bounds) }
        }
        #expect(try refusal(decomposed) == .outsideScope)
        #expect(try hub.value("SELECT count(*) FROM _sync_alias", as: Int.self) == 1)
        #expect(try refusal(composed) == nil)
    }
}
