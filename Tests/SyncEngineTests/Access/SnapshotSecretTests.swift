import CipherStore
import Foundation
import SyncMembers
import Testing

@testable import SyncEngine

/// Who opens the files of a folder, or an archive, gets what the store holds, and none of its keys.
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

    // MARK: Archives

    /// Programs of this version that do not know the index would refuse it. Their files have none, and are restored.
    @Test func anArchiveHasNoIndexThatOlderProgramsDoNotKnow() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.insert(1, "x")
        let index = "SELECT count(*) FROM sqlite_master WHERE name = '_sync_hidden_reason'"
        let lock = ArchiveLock(passphrase: try Passphrase("of the archive"), cost: .minimum)
        try a.synchronizer.archive(to: stores.path("a.csa"), lock: lock)
        #expect(try a.value(index, as: Int.self) == 1)
        try StoreArchive.restore(
            stores.path("a.csa"), to: stores.path("raw.db"),
            opening: ArchiveSecret(Passphrase("of the archive")),
            passphrase: Passphrase("passphrase of raw.db"))
        let raw = try DatabaseQueue(
            path: stores.path("raw.db"), configuration: TestStores.configuration("raw.db"))
        #expect(try raw.read { try Int.fetchOne($0, sql: index) } == 0)
        try Synchronizer.restore(
            archive: stores.path("a.csa"), to: stores.path("b.db"),
            opening: ArchiveSecret(Passphrase("of the archive")), passphrase: Passphrase("passphrase of b.db")
        )
        let b = try stores.open("b.db")
        #expect(try b.value(index, as: Int.self) == 1)
        #expect(try b.problems() == [])
        #expect(try a.dump() == b.dump())
    }

    /// Whether each place has something in which a store keeps what it alone may know.
    private func places(_ queue: DatabaseQueue) throws -> [String: Bool] {
        let tables = [
            "_sync_member_key", "_sync_epoch_key", "_sync_device_key", "_sync_server", "_sync_invite",
            "_sync_console",
        ].map { ($0, "SELECT count(*) FROM \($0)") }
        let settings = ["relay relay", "remote nas", "snapshot nas", "checked bundles nas"].map {
            ($0, "SELECT count(*) FROM _sync_setting WHERE name = '\($0)'")
        }
        return try queue.read { db throws in
            var places: [String: Bool] = [:]
            for (name, sql) in tables + settings { places[name] = try Int.fetchOne(db, sql: sql) != 0 }
            return places
        }
    }

    @Test func anArchiveHoldsNoKeysOfTheStoreThatWroteIt() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.insert(1, "x")
        _ = try a.synchronizer.membership.found(MemberName("anna"))
        try a.queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO _sync_device_key (id, key) VALUES (1, randomblob(32));
                    INSERT INTO _sync_server (id, key) VALUES (1, randomblob(32));
                    INSERT INTO _sync_invite (hash, label, readonly, expires) VALUES (randomblob(32), 'x', 0, 1);
                    INSERT INTO _sync_console (hash, expires) VALUES (randomblob(32), 1);
                    INSERT INTO _sync_setting (name, value) VALUES ('relay relay', '{}'),
                        ('remote nas', '/media/nas/notes'), ('snapshot nas', 'x'), ('checked bundles nas', 'x');
                    """)
        }
        let archive = stores.path("a.csa")
        try a.synchronizer.archive(
            to: archive, lock: ArchiveLock(passphrase: Passphrase("archive"), cost: .minimum))
        // As somebody would who wants more than to restore: nothing is removed by this.
        try StoreArchive.restore(
            archive, to: stores.path("opened.db"), opening: ArchiveSecret(Passphrase("archive")),
            passphrase: Passphrase("passphrase of opened.db"))
        let opened = try DatabaseQueue(
            path: stores.path("opened.db"), configuration: TestStores.configuration("opened.db"))
        let (kept, found) = (try places(a.queue), try places(opened))
        #expect(kept.count == 10 && kept.values.allSatisfy { $0 }, "\(kept)")
        #expect(found.count == 10 && !found.values.contains(true), "\(found)")
    }

    @Test func aStoreThatIsRestoredOfAnArchiveHasTheRowsAndTheMembers() throws {
        let stores = try TestStores()
        let a = try stores.create()
        try a.insert(1, "x")
        _ = try a.synchronizer.membership.found(MemberName("anna"))
        let archive = stores.path("a.csa")
        try a.synchronizer.archive(
            to: archive, lock: ArchiveLock(passphrase: Passphrase("archive"), cost: .minimum))
        try Synchronizer.restore(
            archive: archive, to: stores.path("b.db"), opening: ArchiveSecret(Passphrase("archive")),
            passphrase: Passphrase("passphrase of b.db"), environment: stores.clock.environment)
        let b = try stores.open("b.db")
        let (rows, members) = (try b.dump(), try b.synchronizer.membership.state())
        #expect(try a.dump() == rows)
        #expect(try a.synchronizer.membership.state() == members && members != nil)
        #expect(try a.replica() != b.replica())
        let problems = try b.queue.read { try MetadataCheck.problems(of: $0, isDeep: false) }
        #expect(problems.isEmpty)
    }
}
