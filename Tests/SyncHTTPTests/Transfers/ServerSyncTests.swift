import CipherStore
import Foundation
import SyncEngine
import Testing

@testable import SyncHTTP

@Suite(.serialized) struct ServerSyncTests {
    private func code(_ body: () async throws -> Void) async -> RemoteError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? RemoteError)?.code
        }
    }

    private func join(_ stores: ServedStores, _ link: InviteLink, _ name: String) async throws -> Synchronizer
    {
        let environment = stores.clock.environment
        let path = stores.path(name)
        try await blocking {
            try Synchronizer.join(
                link, at: path, passphrase: Passphrase("passphrase of \(name)"), options: .hasty,
                environment: environment)
        }
        return try stores.open(name)
    }

    @Test func aDeviceJoinsAndBothSidesGetTheOthersRows() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 30)
        try await RunningServer.serving(hub) { server in
            let phone = try await join(stores, try server.invite(), "phone.db")
            #expect(try phone.titles() == ["from hub.db": 30])
            try phone.insert(5, "phone")
            try hub.insert(7, "hub")
            let report = try await phone.sync(with: RemoteBook(phone).transport(options: .hasty))
            #expect(report.pulled?.rowCount == 7 && report.pushed?.rowCount == 5)
            #expect(try phone.rows() == hub.rows())
            #expect(try hub.titles() == ["from hub.db": 30, "phone": 5, "hub": 7])
            let again = try await phone.sync(with: RemoteBook(phone).transport())
            #expect(again.pulled == nil && again.pushed == nil)
            let device = try #require(try server.register.devices().first)
            #expect(device.label == "phone" && device.replica == again.local)
            let laptop = try await join(stores, try server.invite("laptop"), "laptop.db")
            _ = try await laptop.sync(with: RemoteBook(laptop).transport())
            #expect(try laptop.rows() == hub.rows())
        }
        #expect(try stores.leftovers().isEmpty)
    }

    @Test func aReplicaThatIsThereAlreadyIsEnrolled() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        try hub.clone(to: stores.path("b.db"), passphrase: Passphrase("passphrase of b.db"))
        let other = try stores.open("b.db")
        let stranger = try stores.create("stranger.db", rows: 1)
        try other.insert(2, "b")
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let link = try server.invite()
            await #expect(throws: SyncError.self) { try await blocking { try stranger.enrol(link) } }
            _ = try await blocking { try other.enrol(link) }
            // That has used it up, before anything is synchronized.
            #expect(await code { _ = try await join(stores, link, "thief.db") } == .invalidInvite)
            _ = try await other.sync(with: RemoteBook(other).transport())
            #expect(try other.rows() == hub.rows())
        }
    }

    @Test func anotherCertificateThanTheInvitedOneIsRefused() async throws {
        let stores = try ServedStores()
        let (hub, impostor) = (try stores.create("hub.db"), try stores.create("impostor.db"))
        try await RunningServer.serving(hub) { server in
            let phone = try await join(stores, try server.invite(), "phone.db")
            let book = try RemoteBook(phone)
            try await RunningServer.serving(impostor) { other in
                // The name resolves to somebody else, or somebody is in between.
                let invited = try server.invite("laptop")
                let wrong = InviteLink(
                    address: try ServerAddress(host: "127.0.0.1", port: other.port, trust: server.trust),
                    store: invited.store, secret: invited.secret)
                #expect(await code { _ = try await join(stores, wrong, "laptop.db") } == .wrongCertificate)
                #expect(!FileManager.default.fileExists(atPath: stores.path("laptop.db")))
                let remote = try book.remote()
                let transport = HTTPTransport(
                    remote: Remote(
                        name: "x", address: wrong.address, certificate: remote.certificate),
                    store: try hub.identity().store, key: try book.deviceKey(), folder: stores.folder,
                    options: .hasty)
                #expect(await code { _ = try await phone.sync(with: transport) } == .wrongCertificate)
            }
        }
    }

    @Test func aUsedOrExpiredInvitationIsRefused() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub) { server in
            let link = try server.invite()
            _ = try await join(stores, link, "phone.db")
            #expect(await code { _ = try await join(stores, link, "thief.db") } == .invalidInvite)
            let late = try server.invite("late", milliseconds: 2000)
            stores.clock.advance(milliseconds: 2000)
            #expect(await code { _ = try await join(stores, late, "late.db") } == .invalidInvite)
            #expect(try server.register.devices().count == 1)
        }
        #expect(!FileManager.default.fileExists(atPath: stores.path("thief.db")))
    }

    @Test func aRevokedDeviceIsRefusedAtOnce() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 1)
        try await RunningServer.serving(hub) { server in
            let phone = try await join(stores, try server.invite(), "phone.db")
            let transport = try RemoteBook(phone).transport(options: .hasty)
            let peer = try transport.connect(stores.clock.environment)
            nonisolated(unsafe) let open = peer
            _ = try await blocking { try open.greet() }
            try server.register.revoke("phone")
            // In the session that is open, and in a new one.
            #expect(await code { _ = try await blocking { try open.greet() } } == .revokedDevice)
            peer.close()
            #expect(await code { _ = try await phone.sync(with: transport) } == .revokedDevice)
        }
    }

    @Test func aReadOnlyDeviceReceivesAndSendsNothing() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 1)
        try await RunningServer.serving(hub) { server in
            let phone = try await join(stores, try server.invite(isReadOnly: true), "phone.db")
            #expect(try RemoteBook(phone).remote().isReadOnly)
            try hub.insert(2, "hub")
            try phone.insert(1, "phone")
            let transport = try RemoteBook(phone).transport(options: .hasty)
            #expect(await code { _ = try await phone.push(to: transport) } == .readOnlyDevice)
            // Both ways means the one that there is.
            #expect(try await phone.sync(with: transport).pushed == nil)
            #expect(try phone.titles() == ["from hub.db": 1, "hub": 2, "phone": 1])
            #expect(try hub.titles() == ["from hub.db": 1, "hub": 2])
        }
    }

    @Test func aDeviceOfAnotherStoreIsUnknown() async throws {
        let stores = try ServedStores()
        let (hub, other) = (try stores.create("hub.db"), try stores.create("other.db"))
        try await RunningServer.serving(hub) { server in
            let phone = try await join(stores, try server.invite(), "phone.db")
            try await RunningServer.serving(other, tls: .plaintextOnLoopback) { second in
                let book = try RemoteBook(phone)
                for (store, expected) in [
                    (try hub.identity().store, RemoteError.Code.noSuchStore),
                    (try other.identity().store, .unknownDevice),
                ] {
                    let transport = HTTPTransport(
                        remote: Remote(
                            name: "x", address: try second.address, certificate: nil),
                        store: store, key: try book.deviceKey(), folder: stores.folder, options: .hasty)
                    #expect(await code { _ = try await phone.sync(with: transport) } == expected)
                }
            }
        }
    }

    @Test func aServerThatIsNotThereIsUnreachable() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        var (phone, link): (Synchronizer?, InviteLink?)
        try await RunningServer.serving(hub) { server in
            _ = try await join(stores, try server.invite(), "phone.db")
        }
        phone = try stores.open("phone.db")
        let transport = try RemoteBook(try #require(phone)).transport(options: .hasty)
        let replica = try #require(phone)
        #expect(await code { _ = try await replica.sync(with: transport) } == .unreachable)
        let status = try replica.status()
        #expect(status.remotes.first?.failureCount == 1)
        link = nil
        _ = link
    }
}
