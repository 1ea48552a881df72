import AsyncHTTPClient
import CipherStore
import NIOSSL
import SyncEngine
import Testing

@testable import SyncHTTP

@Suite(.serialized) struct BrokenConnectionTests {
    /// Connections of a TLS handshake take about 2 kB, so these cut in the midst of that, of documents, and of rows.
    static let cuts = [
        [900], [4000, 5000, 6000], [60_000, 9_000, 300_000], [700_000, 800_000, 900_000, 1_000_000],
        [2_500_000, 1_000_000],
    ]

    @Test func aNameThatNobodyKnowsIsSaidInWords() {
        struct FailedLookup: Error, CustomStringConvertible {
            let description = "DNS error: SocketAddressError.UnknownHost: not known (error -2) for host x"
        }
        #expect(RemoteConnection.text(of: FailedLookup()) == "no such host is known")
    }

    @Test func errorsOfLibrariesAreSaidInWords() {
        #expect(
            RemoteConnection.text(of: HTTPClientError.remoteConnectionClosed) == "remote connection closed")
        let handshake = NIOSSLError.handshakeFailed(.sslError([]))
        #expect(RemoteConnection.text(of: handshake) == "no TLS connection came about")
    }

    @Test(arguments: cuts) func aTransferGoesOnWhereItsConnectionBroke(cuts: [Int]) async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub) { server in
            let environment = stores.clock.environment
            let (link, path) = (try server.invite(), stores.path("phone.db"))
            try await blocking {
                try Synchronizer.join(
                    link, at: path, passphrase: Passphrase("passphrase of phone.db"), environment: environment
                )
            }
            let phone = try stores.open("phone.db")
            try hub.insertLarge(60, byteCount: 40_000)
            try phone.insertLarge(60, byteCount: 40_000)
            let book = try RemoteBook(phone)
            let remote = try book.remote()
            let proxy = CuttingProxy(to: server.port, cuts: cuts)
            let transport = HTTPTransport(
                remote: Remote(
                    name: "proxy",
                    address: try ServerAddress(host: "127.0.0.1", port: proxy.port, trust: server.trust),
                    certificate: remote.certificate),
                store: try hub.identity().store, key: try book.deviceKey(), folder: stores.folder,
                options: .hasty)
            let report = try await phone.sync(with: transport)
            #expect(report.pulled?.rowCount == 60 && report.pushed?.rowCount == 60)
            #expect(try phone.rows() == hub.rows())
            #expect(try phone.rows().count == 120)
            #expect(proxy.connectionCount > cuts.count)
            proxy.close()
        }
        #expect(try stores.leftovers().isEmpty)
    }

    @Test func aJoinWhoseConnectionBreaksMakesAWholeStore() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try hub.insertLarge(40, byteCount: 40_000)
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let proxy = CuttingProxy(to: server.port, cuts: [2500, 300_000, 700_000])
            let address = try ServerAddress(host: "127.0.0.1", port: proxy.port, trust: .loopback)
            let link = try server.register.invite(label: "phone", address: address)
            let (environment, path) = (stores.clock.environment, stores.path("phone.db"))
            try await blocking {
                try Synchronizer.join(
                    link, at: path, passphrase: Passphrase("passphrase of phone.db"), options: .hasty,
                    environment: environment)
            }
            #expect(try stores.open("phone.db").rows() == hub.rows())
            #expect(proxy.connectionCount > 3)
            proxy.close()
        }
        #expect(try stores.leftovers().isEmpty)
    }
}
