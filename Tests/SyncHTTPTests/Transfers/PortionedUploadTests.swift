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
            // What it can't divide has more time now.
            let device = try #require(try server.register.devices().first)
            let store = try #require(server.server?.stores.first)
            let seconds = store.state.withLock { $0.long.seconds(of: device.id, usual: 2) }
            #expect(seconds == 16)
        }
        try await RunningServer.serving(hub, behind: proxy) { _ in
            // The same device, and a server with time.
            let till = try stores.open("till.db")
            let report = try await till.sync(with: RemoteBook(till).transport(options: .hasty))
            #expect(report.pushed?.rowCount == 20)
            #expect(try till.rows() == hub.rows())
        }
    }

    @Test func theTimeOfADeviceIsDoubledUpToABound() {
        var long = LongApplications()
        func seconds(_ usual: Double) -> Double { long.seconds(of: 1, usual: usual) }
        var found = [seconds(2)]
        for _ in 0..<5 {
            long.noteRefusal(of: 1)
            found.append(seconds(2))
        }
        #expect(found == [2, 4, 8, 16, 16, 16])
        #expect(seconds(0) == 0 && seconds(0.5) == 4 && seconds(5) == 16 && seconds(60) == 60)
        #expect(long.seconds(of: 2, usual: 2) == 2)
    }

    /// It can't be divided, so it would be refused for ever, with all that the device writes later.
    @Test func oneChangeOfADeviceWithBoundsMayHideAndShowAnyNumberOfRows() async throws {
        let stores = try ServedStores()
        let queue = try DatabaseQueue(
            path: stores.path("hub.db"), configuration: ServedStores.configuration("hub.db"))
        let key = Data(repeating: 1, count: 16)
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE project (id BLOB PRIMARY KEY, name TEXT);
                    CREATE TABLE item (id BLOB PRIMARY KEY, project BLOB REFERENCES project);
                    """)
            try db.execute(sql: "INSERT INTO project VALUES (?, 'first')", arguments: [key])
            for number in UInt8(1)...40 {
                try db.execute(
                    sql: "INSERT INTO item VALUES (?, ?)",
                    arguments: [Data(repeating: number, count: 16), key])
            }
        }
        let hub = try Synchronizer(queue, tables: ["project", "item"], environment: stores.clock.environment)
        @Sendable func itemCount() async throws -> Int? {
            try await hub.database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") }
        }
        try await RunningServer.serving(hub, limits: hurried) { server in
            let till = try await stores.join(try server.invite(tables: ["project"]), "till.db")
            let transport = try RemoteBook(till).transport(options: .hasty)
            _ = try await till.sync(with: transport)
            try await till.database.write { try $0.execute(sql: "DELETE FROM project") }
            _ = try await till.sync(with: transport)
            #expect(try await itemCount() == 0)
            try await till.database.write { db in
                try db.execute(sql: "INSERT INTO project VALUES (?, 'again')", arguments: [key])
            }
            _ = try await till.sync(with: transport)
            #expect(try await itemCount() == 40)
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
