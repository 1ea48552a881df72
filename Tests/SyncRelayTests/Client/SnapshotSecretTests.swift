import CipherStore
import Foundation
import SyncEngine
import Testing

@testable import SyncRelay

/// Who opens the files of a mailbox gets a snapshot of the store, and none of its keys.
@Suite struct SnapshotSecretTests {
    @Test func aSnapshotInAMailboxHoldsNoKeysOfItsStore() throws {
        let folder = NSTemporaryDirectory() + "relay-snapshot-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var configuration = Configuration()
        configuration.encryption = .required
        configuration.usePassphrase(try Passphrase("store"))
        let queue = try DatabaseQueue(path: folder + "/a.db", configuration: configuration)
        let synchronizer = try Synchronizer(queue)
        try RelayBook(synchronizer).save(
            KnownRelay(name: "relay", address: RelayAddress(host: "relay.example"), channel: .random()))
        try queue.write { db in
            try db.execute(sql: "INSERT INTO _sync_device_key (id, key) VALUES (1, randomblob(32))")
        }
        let place = LocalFolder(path: folder + "/place")
        let transport = MailboxTransport(mailbox: place, passphrase: try Passphrase("folder"), cost: .minimum)
        try synchronizer.publishSnapshot(in: transport)
        let own = try #require(try place.folders().first)
        let name = try #require(try place.files(in: own).first { $0.name.hasSuffix(".csa") }?.name)
        // As somebody would who wants more than to join.
        try StoreArchive.restore(
            "\(place.path)/\(own)/\(name)", to: folder + "/b.db",
            opening: ArchiveSecret(Passphrase("folder")),
            passphrase: Passphrase("store"))
        func secrets(_ queue: DatabaseQueue) throws -> [Int] {
            try queue.read { db in
                try [
                    "SELECT count(*) FROM _sync_setting WHERE name LIKE 'relay %'",
                    "SELECT count(*) FROM _sync_device_key",
                ].map { try Int.fetchOne(db, sql: $0) ?? 0 }
            }
        }
        #expect(try secrets(queue) == [1, 1])
        #expect(
            try secrets(DatabaseQueue(path: folder + "/b.db", configuration: configuration)) == [0, 0])
    }
}
