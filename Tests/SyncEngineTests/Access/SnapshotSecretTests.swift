import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// Who opens the files of a folder gets a snapshot of the store, and none of its keys.
@Suite struct SnapshotSecretTests {
    private func secrets(_ queue: DatabaseQueue) throws -> [Int] {
        try queue.read { db in
            try [
                "SELECT count(*) FROM _sync_device_key",
                "SELECT count(*) FROM _sync_setting WHERE name = 'remote nas'",
                "SELECT count(*) FROM _sync_setting WHERE name GLOB 'device.*'",
            ].map { try Int.fetchOne(db, sql: $0) ?? -1 }
        }
    }

    @Test func aSnapshotHoldsNoKeysOfTheStoreThatWroteIt() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.insert(1, "x")
        try a.synchronizer.upgradeMetadata()
        try a.queue.write { db in
            try db.execute(sql: "INSERT INTO _sync_device_key (id, key) VALUES (1, randomblob(32))")
            try db.execute(
                sql: """
                    INSERT INTO _sync_setting (name, value) VALUES
                    ('remote nas', '/media/nas/notes'), ('device.1.replicas', 5), ('device.2.names', 7)
                    """)
        }
        let folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        _ = try a.synchronizer.run(.both, folder)
        try a.synchronizer.publishSnapshot(in: folder)
        let place = LocalFolder(path: folder.path)
        let own = try #require(try place.folders().first)
        let name = try #require(try place.files(in: own).first { $0.name.hasSuffix(".csa") }?.name)
        // As somebody would who wants more than to join.
        try StoreArchive.restore(
            "\(folder.path)/\(own)/\(name)", to: stores.path("restored.db"),
            opening: ArchiveSecret(Passphrase("folder")), passphrase: Passphrase("passphrase of restored.db"))
        let restored = try DatabaseQueue(
            path: stores.path("restored.db"), configuration: TestStores.configuration("restored.db"))
        #expect(try secrets(a.queue) == [1, 1, 2])
        #expect(try secrets(restored) == [0, 0, 0])
        #expect(try restored.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") } == 1)
    }
}
