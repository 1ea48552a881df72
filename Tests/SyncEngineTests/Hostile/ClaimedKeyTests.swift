import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// What somebody says that the key of a table is called keeps nobody else from exchanging the table.
@Suite struct ClaimedKeyTests {
    private let device = AdmissionTests.replica(1_000_000)

    /// A bundle with one row of a table that the hub may not have.
    private func bundle(
        _ hub: TestReplica, from device: ReplicaID, key: String, column: String, row: Int
    ) throws -> Forgery {
        let stamp = WireStamp(timestamp: Int64(row), replica: 0, sequence: Int64(row))
        var forgery = try Forgery(
            hub, device,
            [
                .init(
                    table: 1, number: row, base: stamp, values: [0: .integer(Int64(row))],
                    cells: [(1, WireStamp(timestamp: 9, replica: 0, sequence: Int64(row)), .integer(4))])
            ])
        forgery.tables.append(.init(name: "task", key: key, columns: [column, "more"]))
        forgery.facts.parts = [
            .init(tables: [["item"], ["task"]], target: VersionVector([device: Int64(row)]))
        ]
        return forgery
    }

    private func create(_ replica: TestReplica) throws {
        try replica.queue.write { db in
            try db.execute(sql: "CREATE TABLE task (id BLOB PRIMARY KEY, title, more)")
        }
        try replica.synchronizer.track(["task"])
    }

    @Test func aTableThatIsNotHereComesFromThoseWhoCallItsKeyOtherwise() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        let other = try stores.clone(hub, as: "other.db")
        try hub.take(bundle(hub, from: device, key: "title", column: "x", row: 1), within: nil)
        try hub.take(
            bundle(hub, from: AdmissionTests.replica(1), key: "id", column: "title", row: 2), within: nil)
        try create(other)
        try other.sync(hub)
        try create(hub)
        try other.execute("UPDATE task SET more = more + 1")
        try hub.sync(other)
        #expect(try hub.value("SELECT title FROM task WHERE title = 2", as: Int.self) == 2)
        #expect(try hub.value("SELECT sum(more) FROM task", as: Int.self) == 10)
        #expect(try hub.dump(["item", "task"]) == other.dump(["item", "task"]))
        try expectHealthy([hub, other])
    }

    @Test(arguments: [false, true])
    func aColumnThatIsCalledAsTheKeyOfATableIsKeptBesideIt(isThere: Bool) throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        if isThere { try create(hub) }
        var forgery = try bundle(hub, from: device, key: "x", column: "ID", row: 1)
        forgery.tables.append(
            .init(
                name: PolicyDeclarations.policies, key: "task",
                columns: ["ID", "max", "", "5", "\(device)"]))
        try hub.take(forgery, within: nil)
        let other = try stores.clone(hub, as: "other.db")
        if !isThere {
            try create(hub)
            try create(other)
        }
        try hub.execute("UPDATE task SET title = 'a'")
        try hub.sync(other)
        try other.execute("UPDATE task SET more = 5")
        try hub.sync(other)
        #expect(try hub.value("SELECT title || more FROM task", as: String.self) == "a5")
        #expect(try hub.dump(["task"]) == other.dump(["task"]))
        let divergence = try hub.synchronizer.compare(with: other.transport)
        #expect(divergence == nil)
        try expectHealthy([hub, other])
        try expectExchange(hub, stores)
    }

    @Test func aStoreThatHasSuchAColumnIsUnderstood() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        try hub.execute("INSERT INTO item (id, scope, x, y) VALUES (?, 'a', 1, 2)", [itemKey(1)])
        let other = try stores.clone(hub, as: "other.db")
        try hub.queue.write {
            try $0.execute(
                sql: """
                    INSERT INTO _sync_column (tbl, col, name, present)
                    SELECT tbl, 50, 'ID', 0 FROM _sync_table WHERE name = 'item';
                    INSERT INTO _sync_shadow (tbl, pk, col, val, why)
                    SELECT tbl, pk, 50, 5, 'no such column' FROM _sync_row;
                    """)
        }
        try hub.execute("UPDATE item SET x = 3")
        try other.take(hub.everythingAsBundle(), within: nil)
        #expect(try other.value("SELECT x FROM item", as: Int.self) == 3)
        try expectHealthy([hub, other])
    }
}
