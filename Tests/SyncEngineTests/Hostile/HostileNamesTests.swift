import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Names that are well formed, and were chosen so that something here takes them for others.
@Suite struct HostileNamesTests {
    private let device = AdmissionTests.replica(1_000_000)
    /// An "é" of one code point, and one of two: one text to Swift, two names to SQLite.
    private let composed = "\u{E9}"
    private let decomposed = "e\u{301}"

    private func row(_ number: Int, ofTable table: Int, sequence: Int64) -> Forgery.Row {
        Forgery.Row(
            table: table, number: number, base: WireStamp(timestamp: 1, replica: 0, sequence: sequence),
            values: [0: "a"])
    }

    /// A bundle with a row of each table, which says of each what the device knows of it.
    private func bundle(_ hub: TestReplica, _ tables: [String], from first: Int) throws -> Forgery {
        var forgery = try Forgery(hub, device, [])
        forgery.tables = tables.map { .init(name: $0, key: "id", columns: ["c"]) }
        forgery.rows = tables.indices.map { row(first + $0, ofTable: $0, sequence: Int64(first + $0)) }
        forgery.facts.parts = tables.map { .init(tables: [[$0]], target: VersionVector([device: 5])) }
        return forgery
    }

    @Test func twoTablesWhoseNamesSwiftTakesForOneAreExchanged() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        let other = try stores.clone(hub, as: "b.db")
        try hub.take(bundle(hub, [composed], from: 1), within: nil)
        try hub.take(bundle(hub, [decomposed], from: 2), within: nil)
        let greeting = try hub.peer.greet().encode()
        let read = try greeting.withUnsafeBytes { try Greeting(frame: $0) }
        #expect(read.facts.parts.flatMap(\.tables).count == 2)
        try other.sync(hub)
        #expect(try other.value("SELECT count(DISTINCT tbl) FROM _sync_row", as: Int.self) == 2)
        try expectExchange(hub, stores)
    }

    @Test func aBundleNamesBothAndIsTakenWhole() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        try hub.take(bundle(hub, [composed, decomposed], from: 1), within: nil)
        #expect(try hub.value("SELECT count(DISTINCT tbl) FROM _sync_row", as: Int.self) == 2)
        try expectExchange(hub, stores)
    }

    @Test func rowsOfBothAreAskedForAndHeldBackSeparately() throws {
        let rows = [composed, decomposed].map { StateRows(table: [$0], keys: []) }
        #expect(Set(rows).count == 2)
        #expect(rows[0] == StateRows(table: [composed], keys: []))
        var missing = MissingRows()
        for name in [composed, decomposed] {
            itemKey(1).withUnsafeBytes { missing.add(name, RowKey(bytes: $0, isText: false)) }
        }
        do {
            try missing.requireNone()
            Issue.record("nothing was missing")
        } catch let error as SyncError {
            #expect(error.rows.map(\.table[0].utf8.count).sorted() == [2, 3])
        }
    }

    /// A rename gives temporary names, which begin with U+0001.
    @Test func aRenameGoesOnBesideNamesThatBeginWithAControlCharacter() throws {
        let stores = try TestStores()
        let hub = try stores.create()
        var forgery = try Forgery(hub, device, [])
        let planted = (0..<64).map { "\u{1}\($0)" }
        forgery.tables = [.init(name: "note", key: "id", columns: ["title"] + planted)]
        forgery.tables += planted.map { .init(name: $0, key: "id", columns: ["c"]) }
        forgery.rows = [
            Forgery.Row(
                number: 1, base: WireStamp(timestamp: 1, replica: 0, sequence: 1), values: [0: "a", 1: "b"])
        ]
        forgery.facts.parts = [.init(tables: [["note"]], target: VersionVector([device: 5]))]
        try hub.take(forgery, within: nil)
        try hub.migrate("rename") { db throws in
            try db.alter(table: "note") { $0.rename(column: "title", to: "name") }
            try db.rename(table: "tag", to: "label")
        }
        #expect(try hub.value("SELECT name FROM note", as: String.self) == "a")
        let names = "SELECT count(*) FROM _sync_table WHERE name = 'label' AND tracked = 1"
        #expect(try hub.value(names, as: Int.self) == 1)
        let columns = "SELECT count(*) FROM _sync_column WHERE name = char(1) || '0'"
        #expect(try hub.value(columns, as: Int.self) == 1)
        let other = try stores.clone(hub, as: "b.db")
        try other.execute("UPDATE note SET name = 'c'")
        try hub.sync(other)
        #expect(try hub.value("SELECT name FROM note", as: String.self) == "c")
    }
}
