import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine
@testable import SyncHTTP

/// Devices that hold some rows of a table only, and get them from a server.
@Suite(.serialized) struct ServedRowsTests {
    private func choose(_ titles: [ScopeValue]?, _ device: Synchronizer, _ transport: HTTPTransport) throws {
        let scope = titles.map { SyncScope.rows(of: "note", where: "title", in: $0) } ?? .everything
        _ = try device.setScope(scope, ofRemote: transport.name)
    }

    @Test func aDeviceHoldsTheRowsThatItChose() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 2)
        try hub.insert(3, "red")
        try hub.insert(4, "blue")
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(try server.invite(), "phone.db")
            let transport = try RemoteBook(phone).transport(options: .hasty)
            try choose(["red"], phone, transport)
            _ = try await phone.sync(with: transport)
            #expect(try phone.titles() == ["red": 3])
            // What is written outside goes to the server, and then out of the way.
            stores.clock.advance(milliseconds: 10)
            try phone.insert(1, "blue")
            try phone.insert(1, "red")
            try hub.insert(1, "red")
            try hub.insert(1, "blue")
            try await hub.database.write {
                try $0.execute(
                    sql:
                        "UPDATE note SET title = 'blue' WHERE id = (SELECT min(id) FROM note WHERE title = 'red')"
                )
            }
            let report = try await phone.sync(with: transport)
            #expect(report.waitingTables.isEmpty && report.divergence == nil)
            let red = try #require(try hub.titles()["red"])
            #expect(try phone.titles() == ["red": red])
            #expect(try hub.titles() == ["from hub.db": 2, "red": red, "blue": 12 - red - 1])
            let again = try await phone.sync(with: transport)
            #expect(again.pulled == nil && again.pushed == nil)
            try choose(["red", "from hub.db"], phone, transport)
            _ = try await phone.sync(with: transport)
            #expect(try phone.titles() == ["from hub.db": 2, "red": red])
            try choose(nil, phone, transport)
            _ = try await phone.sync(with: transport)
            #expect(try phone.rows() == hub.rows())
        }
        #expect(try stores.leftovers().isEmpty)
    }

    @Test func aDeviceOfOtherTablesCanNotAskForRows() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 2)
        try await hub.database.write {
            try $0.execute(sql: "CREATE TABLE tag (id BLOB PRIMARY KEY, word TEXT)")
        }
        try hub.track(["tag"])
        try await RunningServer.serving(hub) { server in
            let till = try await stores.join(try server.invite(tables: ["tag"]), "till.db")
            let transport = try RemoteBook(till).transport(options: .hasty)
            let peer = try transport.connect(stores.clock.environment)
            defer { peer.close() }
            nonisolated(unsafe) let open = peer
            var request = TransferRequest(base: VersionVector(), tables: [["tag"]])
            request.rows = [
                RowRequest(
                    partial: ReplicaFacts.Partial(names: ["note"]), columns: ["title"], values: ["red"],
                    heldValues: [], receiver: try till.identity().replica, revision: 1)
            ]
            let asked = request
            await #expect(throws: SyncError.self) {
                try await blocking { try open.prepareToSend(asked, progress: nil) }
            }
        }
    }
}
