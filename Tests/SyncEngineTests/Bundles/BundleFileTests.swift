import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

@Suite struct BundleFileTests {
    let stores: TestStores
    let path: String

    init() throws {
        stores = try TestStores()
        path = stores.path("changes.bundle")
    }

    private func protection(_ text: String = "bundle") throws -> BundleFile.Protection {
        .sealed(ArchiveLock(passphrase: try Passphrase(text), cost: .minimum))
    }

    private func access(_ text: String = "bundle") throws -> BundleFile.Access {
        .sealed(ArchiveSecret(try Passphrase(text)))
    }

    private func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: stores.path(name)))
        return stores.path(name)
    }

    private func pair() throws -> (a: TestReplica, b: TestReplica) {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'first')", [key(1)])
        return (a, try stores.clone(a, as: "b.db"))
    }

    @Test func changesTravelInAFileThatShowsNoneOfThem() throws {
        let (a, b) = try pair()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'marker-4711')", [key(2)])
        try a.execute("UPDATE note SET body = 'changed' WHERE id = ?", [key(1)])
        let summary = try a.synchronizer.writeBundle(to: path, since: .nothing, protection())
        #expect(summary.rowCount == 2)
        #expect(Data(try bytes(path)).range(of: Data("marker-4711".utf8)) == nil)
        #expect(Data(try bytes(path)).range(of: Data("note".utf8)) == nil)
        let report = try b.synchronizer.applyBundle(at: path, access())
        #expect(report.applied?.rowCount == 2)
        #expect(report.applied?.changedRowCount == 2)
        #expect(try a.dump() == b.dump())
    }

    @Test func aRequestGetsABundleOfJustWhatIsMissing() throws {
        let (a, b) = try pair()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'new')", [key(2)])
        let request = stores.path("b.request")
        try b.synchronizer.writeRequest(to: request, protection())
        let information = try BundleFile.inspect(request, access())
        #expect(information.isRequest)
        #expect(information.sender == (try b.synchronizer.status().replica))
        let summary = try a.synchronizer.writeBundle(
            to: path, since: .vector(information.target), protection())
        #expect(summary.rowCount == 1)
        try b.synchronizer.applyBundle(at: path, access())
        #expect(try a.dump() == b.dump())
        // A request changes nothing where it is applied.
        let before = try a.everything()
        #expect(throws: Never.self) { try a.synchronizer.applyBundle(at: request, access()) }
        let changed = try Set(a.everything()).subtracting(before)
            .filter {
                !["_sync_digest", "_sync_known", "_sync_peer", "_sync_replica", "_sync_setting"].contains(
                    where: $0.hasPrefix)
            }
        #expect(changed.isEmpty)
    }

    @Test func theLastThingThatAReplicaWasHeardToKnowIsWhereABundleForItBegins() throws {
        let (a, b) = try pair()
        let receiver = try b.synchronizer.status().replica
        let unknown = #expect(throws: SyncError.self) {
            try a.synchronizer.writeBundle(to: path, since: .replica(receiver), protection())
        }
        #expect(unknown?.code == .noSuchReplica)
        try a.sync(b)
        try b.execute("INSERT INTO note (id, title) VALUES (?, 'of b')", [key(3)])
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'of a')", [key(4)])
        let summary = try a.synchronizer.writeBundle(to: path, since: .replica(receiver), protection())
        #expect(summary.rowCount == 1)
        let back = stores.path("back.bundle")
        try b.synchronizer.applyBundle(at: path, access())
        // The bundle said what its sender knows.
        let sender = try a.synchronizer.status().replica
        try b.synchronizer.writeBundle(to: back, since: .replica(sender), protection())
        #expect(try BundleFile.inspect(back, access()).rowCount == 1)
        try a.synchronizer.applyBundle(at: back, access())
        #expect(try a.dump() == b.dump())
        #expect(try a.dump().count == 3)
    }

    @Test func aSecondApplicationChangesNothing() throws {
        let (a, b) = try pair()
        try a.execute("UPDATE note SET title = 'second'")
        try a.synchronizer.writeBundle(to: path, since: .nothing, protection())
        try b.synchronizer.applyBundle(at: path, access())
        let before = try b.everything()
        #expect(try b.synchronizer.applyBundle(at: path, access()).applied == nil)
        let changed = try Set(b.everything()).subtracting(before)
            .filter {
                !["_sync_digest", "_sync_known", "_sync_peer", "_sync_replica", "_sync_setting"].contains(
                    where: $0.hasPrefix)
            }
        #expect(changed.isEmpty)
    }

    @Test func aBundleThatBuildsOnMissingChangesIsRefusedAndNamesThem() throws {
        let (a, b) = try pair()
        let vector = try a.queue.read { try StoreMetadata.require($0).vector }
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'x')", [key(2)])
        try a.synchronizer.writeBundle(to: stores.path("skipped"), since: .vector(vector), protection())
        let middle = try a.queue.read { try StoreMetadata.require($0).vector }
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'y')", [key(3)])
        try a.synchronizer.writeBundle(to: path, since: .vector(middle), protection())
        let before = try b.dump()
        let error = #expect(throws: SyncError.self) { try b.synchronizer.applyBundle(at: path, access()) }
        #expect(error?.code == .missingChanges)
        let name = try a.synchronizer.status().replica.shortDescription
        #expect(error?.message.contains("change") == true && error?.message.contains(name) == true)
        #expect(try b.dump() == before)
        try b.synchronizer.applyBundle(at: stores.path("skipped"), access())
        try b.synchronizer.applyBundle(at: path, access())
        #expect(try a.dump() == b.dump())
    }

    @Test func aBundleOfAnotherDatabaseIsRefused() throws {
        let (a, _) = try pair()
        let other = try TestStores(seed: 2)
        let stranger = try other.create()
        try a.synchronizer.writeBundle(to: path, since: .nothing, protection())
        let error = #expect(throws: SyncError.self) {
            try stranger.synchronizer.applyBundle(at: path, access())
        }
        #expect(error?.code == .otherStore)
    }

    @Test func aCutOrFlippedFileChangesNothing() throws {
        let (a, b) = try pair()
        for number in UInt8(2)..<40 {
            try a.execute(
                "INSERT INTO note (id, title, body) VALUES (?, 't', randomblob(9000))", [key(number)])
        }
        // A key pair, because passphrases take their time.
        let identity = try ArchiveIdentity.make(file: stores.path("identity"))
        let access = BundleFile.Access.sealed(ArchiveSecret(identity))
        try a.synchronizer.writeBundle(
            to: path, since: .nothing, .sealed(ArchiveLock(recipient: identity.recipient)))
        let whole = try bytes(path)
        let before = try b.dump()
        var generator = SplitMix64(state: 7)
        var broken: [[UInt8]] = [5, 200, 65_000, 65_552 + 178, whole.count - 1].map {
            Array(whole.prefix($0))
        }
        for _ in 0..<6 {
            var copy = whole
            copy[Int.random(in: 0..<whole.count, using: &generator)] ^=
                1 << UInt8.random(in: 0..<8, using: &generator)
            broken.append(copy)
        }
        broken.append(whole + [0])
        for (index, content) in broken.enumerated() {
            let copy = try write(content, to: "broken-\(index)")
            #expect(throws: (any Error).self) { try b.synchronizer.applyBundle(at: copy, access) }
            #expect(throws: (any Error).self) { try BundleFile.inspect(copy, access) }
        }
        #expect(try b.dump() == before)
        try b.synchronizer.applyBundle(at: path, access)
        #expect(try a.dump() == b.dump())
    }

    @Test func plaintextIsWrittenAndReadOnlyWhenAskedFor() throws {
        let (a, b) = try pair()
        try a.execute("UPDATE note SET title = 'marker-4711'")
        try a.synchronizer.writeBundle(to: path, since: .nothing, .plaintext)
        #expect(Data(try bytes(path)).range(of: Data("marker-4711".utf8)) != nil)
        let refused = #expect(throws: StoreError.self) { try b.synchronizer.applyBundle(at: path, access()) }
        #expect(refused?.code == .encryptionMismatch)
        try b.synchronizer.applyBundle(at: path, .plaintext)
        #expect(try a.dump() == b.dump())
        let sealed = stores.path("sealed.bundle")
        try a.synchronizer.writeBundle(to: sealed, since: .nothing, protection())
        let error = #expect(throws: StoreError.self) {
            try b.synchronizer.applyBundle(at: sealed, .plaintext)
        }
        #expect(error?.code == .encryptionMismatch)
    }

    @Test func wrongSecretsAndOtherFilesAreRefused() throws {
        let (a, b) = try pair()
        try a.synchronizer.writeBundle(to: path, since: .nothing, protection())
        let wrong = #expect(throws: StoreError.self) {
            try b.synchronizer.applyBundle(at: path, access("another"))
        }
        #expect(wrong?.code == .wrongPassphrase)
        let archive = stores.path("a.csa")
        try a.synchronizer.archive(
            to: archive, lock: ArchiveLock(passphrase: Passphrase("bundle"), cost: .minimum))
        let kind = #expect(throws: StoreError.self) { try b.synchronizer.applyBundle(at: archive, access()) }
        #expect(kind?.code == .archiveDamaged)
        // And a bundle is no archive.
        #expect(throws: StoreError.self) {
            try Synchronizer.restore(
                archive: path, to: stores.path("c.db"), opening: ArchiveSecret(Passphrase("bundle")),
                passphrase: Passphrase("c"))
        }
        #expect(!FileManager.default.fileExists(atPath: stores.path("c.db")))
        for name in ["missing", "empty"] {
            if name == "empty" { _ = try write([], to: name) }
            #expect(throws: StoreError.self) {
                try b.synchronizer.applyBundle(at: stores.path(name), access())
            }
        }
    }

    @Test func aFileThatIsThereIsKeptAndAFailureLeavesNone() throws {
        let (a, _) = try pair()
        _ = try write([1, 2, 3], to: "changes.bundle")
        let error = #expect(throws: StoreError.self) {
            try a.synchronizer.writeBundle(to: path, since: .nothing, protection())
        }
        #expect(error?.code == .exists)
        #expect(try bytes(path) == [1, 2, 3])
        struct Stopped: Error {}
        #expect(throws: Stopped.self) {
            try a.synchronizer.writeBundle(to: stores.path("stopped"), since: .nothing, protection()) {
                _, _ in
                throw Stopped()
            }
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: stores.folder)
        #expect(!names.contains { $0.hasPrefix("stopped") || $0.hasPrefix("changes.bundle.") })
    }

    @Test func aRestoredFileGetsANewIdentityFromABundleAndItsLostChangesBack() throws {
        let (a, b) = try pair()
        try a.synchronizer.archive(
            to: stores.path("old.csa"), lock: ArchiveLock(passphrase: Passphrase("x"), cost: .minimum))
        try FileManager.default.copyItem(atPath: stores.path("b.db"), toPath: stores.path("backup.db"))
        try b.execute("INSERT INTO note (id, title) VALUES (?, 'lost')", [key(5)])
        try b.sync(a)
        try a.synchronizer.writeBundle(to: path, since: .nothing, protection())
        let restored = try {
            let queue = try DatabaseQueue(
                path: stores.path("backup.db"), configuration: TestStores.configuration("b.db"))
            return try TestReplica(stores, "backup.db", queue, tables: [])
        }()
        try restored.execute("INSERT INTO note (id, title) VALUES (?, 'kept')", [key(6)])
        let old = try restored.synchronizer.status().replica
        let report = try restored.synchronizer.applyBundle(at: path, access())
        #expect(report.renewedReplica == old)
        #expect(
            try restored.value("SELECT group_concat(title) FROM (SELECT title FROM note ORDER BY id)")
                == "first,lost,kept")
    }

    @Test func aFileForARecipientIsOpenedByItsIdentityAlone() throws {
        let (a, b) = try pair()
        let identity = try ArchiveIdentity.make(file: stores.path("identity"))
        try a.execute("UPDATE note SET title = 'for one'")
        try a.synchronizer.writeBundle(
            to: path, since: .nothing, .sealed(ArchiveLock(recipient: identity.recipient)))
        #expect(throws: StoreError.self) { try b.synchronizer.applyBundle(at: path, access()) }
        try b.synchronizer.applyBundle(at: path, .sealed(ArchiveSecret(identity)))
        #expect(try a.dump() == b.dump())
    }
}
