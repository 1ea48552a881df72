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

    /// Each has the size of the store.
    @Test func whatAKilledServerLeftIsFoundAndGoesWithTheNextJoin() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        let leftover = stores.path("hub.db.archive-0123456789abcdef")
        // What older versions left is not named after a store, which may be another one in the folder.
        let older = [
            ".snapshot-0123456789abcdef0123456789abcdef", ".snapshot-0123456789abcdef0123456789abcdef.copy",
        ]
        for path in [leftover] + older.map(stores.path) {
            try Data([1]).write(to: URL(fileURLWithPath: path))
        }
        #expect(StoreLeftovers.find(beside: stores.path("hub.db")).count == 1)
        let shown = StoreLeftovers.doubtful(beside: stores.path("hub.db"))
        #expect(shown.map { URL(fileURLWithPath: $0).lastPathComponent } == older)
        // A device that makes its store in the same folder keeps others from removing files there.
        try FileManager.default.createDirectory(
            atPath: stores.path("phone"), withIntermediateDirectories: false)
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            _ = try await stores.join(server.invite(), "phone/phone.db")
        }
        #expect(!FileManager.default.fileExists(atPath: leftover))
        #expect(try stores.leftovers().sorted() == older)
    }
}
