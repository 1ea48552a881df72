import CipherStore
import Foundation
import SyncWire
import Synchronization
import Testing

@testable import SyncEngine
@testable import SyncHTTP

/// Uploads that would keep others waiting for too long.
@Suite(.serialized) struct PortionedUploadTests {
    /// A server that takes no time at all over a bundle.
    private var hurried: HubServer.Limits {
        var limits = HubServer.Limits()
        limits.applicationSeconds = 0
        return limits
    }

    @Test func aLargePushGoesInPortionsAndEachIsThereAtOnce() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        try await RunningServer.serving(hub) { server in
            var options = HTTPTransport.Options.hasty
            options.changeCountMax = 300
            let phone = try await stores.join(try server.invite(), "phone.db", options: options)
            try phone.insert(1000, "phone")
            let transport = try RemoteBook(phone).transport(options: options)
            let report = try await phone.sync(with: transport)
            #expect(report.pushed?.rowCount == 1000)
            #expect(try phone.rows() == hub.rows())
            // Each portion ends at a point of the chain, and the server learnt of it with its bundle.
            let ends = try await hub.database.read { db in
                try Int64.fetchAll(
                    db,
                    sql: """
                        SELECT c.oseq FROM _sync_chain AS c JOIN _sync_replica AS p ON p.sid = c.sid
                        WHERE p.rid = ? ORDER BY c.oseq
                        """, arguments: [report.local.data])
            }
            #expect(ends.count >= 4)
            #expect(try await phone.sync(with: transport).pushed == nil)
        }
    }

    @Test func aDeviceWithBoundsCannotHoldUpOthers() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        let proxy = CuttingProxy(to: nil)
        defer { proxy.close() }
        try await RunningServer.serving(hub, limits: hurried, behind: proxy) { server in
            let till = try await stores.join(try server.invite(tables: ["note"]), "till.db")
            try till.insert(20, "till")
            let before = try hub.rows()
            let transport = try RemoteBook(till).transport(options: .hasty)
            let code = await code { _ = try await till.push(to: transport) }
            #expect(code == .tooMuchAtOnce)
            #expect(try hub.rows() == before)
            // Nothing of it waits there for its rest.
            let count = try await hub.database.read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM _sync_inbox")
            }
            #expect(count == 0)
        }
        try await RunningServer.serving(hub, behind: proxy) { _ in
            // The same device, and a server with time.
            let till = try stores.open("till.db")
            let report = try await till.sync(with: RemoteBook(till).transport(options: .hasty))
            #expect(report.pushed?.rowCount == 20)
            #expect(try till.rows() == hub.rows())
        }
    }

    /// A device without bounds may write everything anyway.
    @Test(arguments: [10, 40_000]) func aDeviceWithoutBoundsMayAskForMoreTime(byteCount: Int) async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        try await RunningServer.serving(hub, limits: hurried) { server in
            var options = HTTPTransport.Options.hasty
            // In one request, and in several.
            options.uploadByteCount = 64 << 10
            let phone = try await stores.join(try server.invite(), "phone.db", options: options)
            try phone.insertLarge(4, byteCount: byteCount)
            let report = try await phone.sync(with: RemoteBook(phone).transport(options: options))
            #expect(report.pushed?.rowCount == 4)
            #expect(try phone.rows() == hub.rows())
        }
    }
}
