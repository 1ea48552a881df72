import CipherStore
import Foundation
import Synchronization
import Testing

@testable import SyncHTTP

/// The snapshot of a database that is on the disk while a device joins.
@Suite(.serialized) struct JoinSnapshotTests {
    private final class Names: Sendable {
        private let names = Mutex<Set<String>>([])

        func note(filesIn folder: String) throws {
            let found = try FileManager.default.contentsOfDirectory(atPath: folder)
            names.withLock { $0.formUnion(found) }
        }

        var all: Set<String> { names.withLock { $0 } }
    }

    /// Whoever gets the folder of a device that was killed meanwhile has a file, and nothing that opens it.
    @Test func nothingOnTheDiskOpensIt() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let names = Names()
            let folder = stores.folder
            var options = HTTPTransport.Options.hasty
            options.onRequest = { try names.note(filesIn: folder) }
            let phone = try await stores.join(server.invite(), "phone.db", options: options)
            #expect(try phone.rows() == hub.rows())
            #expect(names.all.contains { $0.hasPrefix("phone.db.snapshot-") })
            #expect(!names.all.contains { $0.hasSuffix(".key") })
        }
        #expect(try stores.leftovers().isEmpty)
    }

    @Test func whatAKilledJoinLeftIsFoundAndGoesWithTheNextOne() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        let leftover = stores.path("phone.db.snapshot-0123456789abcdef")
        try Data([1]).write(to: URL(fileURLWithPath: leftover))
        #expect(StoreLeftovers.find(beside: stores.path("phone.db")).count == 1)
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            _ = try await stores.join(server.invite(), "phone.db")
        }
        #expect(try stores.leftovers().isEmpty)
    }
}
