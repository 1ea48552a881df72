import CipherStore
import Foundation
import SyncEngine
import Testing

@testable import SyncRelay

/// The relays that a store knows.
@Suite struct RelayBookTests {
    private let folder: String
    private let queue: DatabaseQueue
    private let synchronizer: Synchronizer
    private let book: RelayBook

    init() throws {
        folder = NSTemporaryDirectory() + "relay-book-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var configuration = Configuration()
        configuration.encryption = .required
        configuration.usePassphrase(try Passphrase("store"))
        queue = try DatabaseQueue(path: folder + "/a.db", configuration: configuration)
        synchronizer = try Synchronizer(queue)
        book = RelayBook(synchronizer)
    }

    private func relay(_ name: String, _ host: String) throws -> KnownRelay {
        KnownRelay(name: name, address: try RelayAddress(host: host), channel: .random())
    }

    /// Notes that a synchronization through a relay failed.
    private func noteFailure(of relay: KnownRelay) throws {
        let sql = "INSERT INTO _sync_attempt (name, at, failures, error, skew) VALUES (?, 1, 1, 'failed', 0)"
        try queue.write { try $0.execute(sql: sql, arguments: [relay.address.url]) }
    }

    private func tried() throws -> [String] { try synchronizer.status().remotes.map(\.name) }

    @Test func howItWentWithARelayIsForgottenWithTheLastRelayAtItsAddress() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (one, two) = try (relay("one", "first.example"), relay("two", "first.example"))
        let next = try relay("one", "second.example")
        try book.save(one)
        try book.save(two)
        try noteFailure(of: one)
        // Another channel at the same address, and another address.
        try book.save(relay("one", "first.example"))
        try book.save(next)
        #expect(try tried() == [two.address.url])
        // One that failed gives its place back to the former one.
        try noteFailure(of: next)
        try book.save(one)
        #expect(try tried() == [one.address.url])
        try book.remove("two")
        #expect(try tried() == [one.address.url])
        try book.save(next)
        #expect(try tried() == [])
    }

    @Test func aDamagedEntryIsReplaced() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let relay = try relay("one", "first.example")
        try book.save(relay)
        try queue.write { db in
            try db.execute(sql: "UPDATE _sync_setting SET value = 'damaged' WHERE name = 'relay one'")
        }
        #expect(throws: RelayError.self) { try book.relays() }
        try book.save(relay)
        #expect(try book.relays() == [relay])
    }
}
