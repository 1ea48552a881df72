import CipherStore
import Foundation
import SyncEngine
import SyncWire
import Testing

@testable import SyncHTTP

/// When a server's replica gets a new identity, and when not.
@Suite(.serialized) struct IdentityRenewalTests {
    /// A peer with a session.
    private func peer(_ phone: Synchronizer) throws -> HTTPPeer {
        let transport = try RemoteBook(phone).transport(options: .hasty)
        let peer = try transport.connect(phone.surroundings)
        return try #require(peer as? HTTPPeer)
    }

    @Test func aServerRenewsItselfOnlyForWhatItSees() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let phone = try await stores.join(try server.invite(), "phone.db")
            let before = try hub.identity().replica
            nonisolated(unsafe) let peer = try peer(phone)
            let forks = [Fork(replica: before, common: 0)]
            await #expect(throws: RemoteError.self) {
                try await blocking {
                    _ = try peer.meet(phone.localPeer.greet())
                    try peer.renewIdentity(forks)
                }
            }
            #expect(try hub.identity().replica == before)
            peer.close()
        }
    }

    /// The server's file is put back to an older state, and goes on.
    @Test func aServerThatWasRestoredRenewsItselfOnce() async throws {
        let stores = try ServedStores()
        let path = stores.path("hub.db")
        var hub: Synchronizer? = try stores.create("hub.db", rows: 3)
        try hub?.writer.close()
        hub = nil
        let older = try Data(contentsOf: URL(fileURLWithPath: path))
        let first = try stores.open("hub.db")
        try await RunningServer.serving(first, tls: .plaintextOnLoopback) { server in
            let phone = try await stores.join(try server.invite(), "phone.db")
            try first.insert(5, "lost")
            _ = try await phone.sync(with: RemoteBook(phone).transport(options: .hasty))
            #expect(try phone.rows().count == 8)
        }
        try first.writer.close()
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        try older.write(to: URL(fileURLWithPath: path))
        let second = try stores.open("hub.db")
        let former = try second.identity().replica
        try second.insert(2, "again")
        let phone = try stores.open("phone.db")
        try await RunningServer.serving(second, tls: .plaintextOnLoopback) { server in
            // The older state does not know the device.
            try await blocking { _ = try phone.enrol(try server.invite("phone again")) }
            let transport = try RemoteBook(phone).transport(options: .hasty)
            let report = try await phone.sync(with: transport)
            // The report names the new identity.
            #expect(try report.renewedReplicas == [second.identity().replica])
            #expect(report.renewedReplicas != [former])
            #expect(try phone.rows() == second.rows() && phone.rows().count == 10)
            let renewed = try second.identity().replica
            #expect(try await phone.sync(with: transport).renewedReplicas.isEmpty)
            #expect(try second.identity().replica == renewed)
        }
    }
}
