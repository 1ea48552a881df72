import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

@Suite struct FolderSyncTests {
    let stores: TestStores
    let folder: FolderTransport

    init() throws {
        stores = try TestStores()
        folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
    }

    @discardableResult
    private func sync(_ replica: TestReplica, _ direction: SyncDirection = .both) throws -> FolderReport {
        stores.clock.advance(milliseconds: 10)
        return try replica.synchronizer.run(direction, folder)
    }

    private func insert(_ replica: TestReplica, _ number: UInt8, _ title: String = "row") throws {
        try replica.execute("INSERT INTO note (id, title) VALUES (?, ?)", [key(number), title])
    }

    private func replicas(_ count: Int) throws -> [TestReplica] {
        let first = try stores.create()
        try insert(first, 1)
        return try [first] + (1..<count).map { try stores.clone(first, as: "r\($0).db") }
    }

    /// The files of the folder, as paths in it.
    private func files(_ suffix: String = "") throws -> [String] {
        (FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? [])
            .filter { $0.contains("/") && $0.hasSuffix(suffix) }.sorted()
    }

    private func path(_ file: String) -> String { folder.path + "/" + file }

    @Test func aFileInThePlaceOfTheFolderIsSaid() throws {
        let replica = try stores.create()
        try Data("title".utf8).write(to: URL(fileURLWithPath: folder.path))
        let error = #expect(throws: StoreError.self) { try sync(replica) }
        #expect(error?.code == .cannotRead && error?.path == folder.path)
        #expect(error?.message == "it is a file, and no folder")
    }

    @Test func whyTheFolderCannotBeMadeIsSaidInWordsOfTheSystem() throws {
        let replica = try stores.create()
        let missing = FolderTransport(
            path: stores.path("none/shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        let error = #expect(throws: StoreError.self) { try replica.synchronizer.run(.both, missing) }
        #expect(error?.message == "cannot make the folder: no such file or directory")
    }

    private func subfolder(_ replica: TestReplica) throws -> String {
        try replica.synchronizer.status().replica.description
    }

    private func expectEqual(_ replicas: [TestReplica]) throws {
        let expected = try replicas[0].dump()
        for replica in replicas.dropFirst() { #expect(try replica.dump() == expected) }
    }

    @Test func threeReplicasConvergeWithNothingButTheFolderBetweenThem() throws {
        let all = try replicas(3)
        for (index, replica) in all.enumerated() {
            try insert(replica, UInt8(10 + index), "of \(index)")
            try replica.execute("UPDATE note SET body = ? WHERE id = ?", ["body \(index)", key(1)])
        }
        for replica in all + all { try sync(replica) }
        try expectEqual(all)
        #expect(try all[0].dump().count == 4)
        let again = try sync(all[1])
        #expect(again.pulled == nil && again.pushed == nil && again.remarks.isEmpty)
        #expect(again.replicas.count == 3)
    }

    @Test func whatIsInTheFolderIsEncryptedAndAnUnchangedFolderIsLeftAlone() throws {
        let all = try replicas(2)
        try insert(all[0], 2, "marker-4711")
        for replica in all { try sync(replica) }
        for file in try files() where FolderPaths.byteCount(path(file)) != nil {
            let data = try Data(contentsOf: URL(fileURLWithPath: path(file)))
            for secret in ["marker-4711", "note", "vector"] {
                #expect(data.range(of: Data(secret.utf8)) == nil, "\(file) shows \(secret)")
            }
        }
        try sync(all[0])
        let before = try files().map { try? Data(contentsOf: URL(fileURLWithPath: path($0))) }
        for replica in all { try sync(replica) }
        #expect(try files().map { try? Data(contentsOf: URL(fileURLWithPath: path($0))) } == before)
    }

    @Test func aReplicaThatHasNothingToSayShowsOnceADayThatItIsThere() throws {
        let all = try replicas(2)
        for replica in all + all { try sync(replica) }
        let name = try all[0].synchronizer.status().replica
        let first = try #require(try all[1].synchronizer.status().peers.first { $0.replica == name })
        let head = path(try subfolder(all[0]) + "/head")
        let before = try Data(contentsOf: URL(fileURLWithPath: head))
        stores.clock.advance(milliseconds: 3_600_000)
        for replica in all { try sync(replica) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: head)) == before)
        // What counts is when it was there, not when its head was read.
        #expect(
            try all[1].synchronizer.status().peers.first { $0.replica == name }?.lastContactMilliseconds
                == first.lastContactMilliseconds)
        stores.clock.advance(milliseconds: 86_400_000)
        for replica in all { try sync(replica) }
        let last = try #require(try all[1].synchronizer.status().peers.first { $0.replica == name })
        #expect(last.lastContactMilliseconds > first.lastContactMilliseconds + 86_400_000)
    }

    @Test func nothingIsPublishedTwice() throws {
        let all = try replicas(3)
        for (index, replica) in all.enumerated() { try insert(replica, UInt8(10 + index)) }
        var pushed: Int64 = 0
        for replica in all + all { pushed += try sync(replica).pushed?.rowCount ?? 0 }
        // The row that all began with, and one of each.
        #expect(pushed == 4)
    }

    @Test func aWipedFolderIsFilledAgain() throws {
        let all = try replicas(3)
        for replica in all { try sync(replica) }
        try insert(all[0], 2)
        try FileManager.default.removeItem(atPath: folder.path)
        for replica in all + all { try sync(replica) }
        try expectEqual(all)
        try FileManager.default.removeItem(atPath: folder.path)
        try insert(all[2], 3)
        for replica in [all[2], all[0], all[1]] { try sync(replica) }
        try expectEqual(all)
    }

    @Test func aDeletedBundleIsReplacedByWhoeverKnowsItsChanges() throws {
        let all = try replicas(2)
        try sync(all[0])
        try insert(all[0], 2)
        try sync(all[0])
        try insert(all[0], 3)
        try sync(all[0])
        let bundles = try files(".bundle")
        #expect(bundles.count == 3)
        for index in 0..<3 {
            let third = try stores.clone(all[1], as: "late\(index).db")
            try insert(all[0], UInt8(10 + index))
            try sync(all[0])
            let present = try files(".bundle")
            try FileManager.default.removeItem(atPath: path(present[index % present.count]))
            try sync(third)
            try sync(all[0])
            try sync(third)
            try expectEqual([all[0], third])
        }
    }

    @Test func aPartialUploadWaitsAndLosesNothing() throws {
        let all = try replicas(2)
        for replica in all { try sync(replica) }
        try insert(all[0], 2)
        try sync(all[0])
        let file = path(
            try #require(try files(".bundle").filter { try $0.hasPrefix(subfolder(all[0])) }.last))
        let whole = try Data(contentsOf: URL(fileURLWithPath: file))
        for count in [0, 1, 100, whole.count / 2, whole.count - 1] {
            try whole.prefix(count).write(to: URL(fileURLWithPath: file))
            let report = try sync(all[1], .pull)
            #expect(report.pulled == nil)
            #expect(report.remarks.contains { $0.contains("not complete yet") })
        }
        try whole.write(to: URL(fileURLWithPath: file))
        #expect(try sync(all[1]).pulled?.rowCount == 1)
        try expectEqual(all)
    }

    @Test func aPartialHeadIsPassedOverAndBundlesSpeakForThemselves() throws {
        let all = try replicas(2)
        for replica in all { try sync(replica) }
        try insert(all[0], 2)
        let head = path(try subfolder(all[0]) + "/head")
        let stale = try Data(contentsOf: URL(fileURLWithPath: head))
        try sync(all[0])
        // The bundle came, the head did not yet.
        try stale.write(to: URL(fileURLWithPath: head))
        #expect(try sync(all[1]).pulled?.rowCount == 1)
        try insert(all[0], 3)
        try sync(all[0])
        try stale.prefix(40).write(to: URL(fileURLWithPath: head))
        #expect(try sync(all[1]).pulled?.rowCount == 1)
        try expectEqual(all)
        // The owner writes a good one again.
        try sync(all[0])
        #expect(try sync(all[1]).remarks.isEmpty)
    }

    @Test func aDamagedBundleIsNamedAndItsOwnerWritesAnother() throws {
        let all = try replicas(2)
        for replica in all { try sync(replica) }
        try insert(all[0], 2)
        try sync(all[0])
        let name = try #require(try files(".bundle").filter { try $0.hasPrefix(subfolder(all[0])) }.last)
        var data = try Data(contentsOf: URL(fileURLWithPath: path(name)))
        data[data.count - 20] ^= 1
        try data.write(to: URL(fileURLWithPath: path(name)))
        let report = try sync(all[1])
        #expect(report.pulled == nil)
        #expect(report.remarks.contains { $0.contains(name) })
        #expect(try sync(all[0]).pushed?.rowCount == 1)
        #expect(try sync(all[1]).pulled?.rowCount == 1)
        try expectEqual(all)
    }

    @Test func conflictingCopiesAndForeignFilesAreLeftAlone() throws {
        let all = try replicas(2)
        for replica in all { try sync(replica) }
        let own = try subfolder(all[0])
        let bundle = try #require(try files(".bundle").first)
        let copies = [
            own + "/head (conflicted copy 2026-01-01)", own + "/head.sync-conflict-20260101-120000-ABCDEFG",
            String(bundle.dropLast(7)) + " (conflicted copy).bundle", own + "/notes.txt",
        ]
        for copy in copies {
            try FileManager.default.copyItem(atPath: path(bundle), toPath: path(copy))
        }
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path("readme.txt")))
        try FileManager.default.createDirectory(
            atPath: path("0123456789abcdef0123456789abcdef"), withIntermediateDirectories: false)
        try insert(all[0], 2)
        for replica in all + all { #expect(try sync(replica).remarks.isEmpty) }
        try expectEqual(all)
        #expect(try Set(files()).isSuperset(of: copies))
    }

    @Test func aWrongPassphraseAndAnotherDatabaseAreRefusedBeforeAnythingIsWritten() throws {
        let all = try replicas(2)
        try sync(all[0])
        let before = try files()
        let wrong = FolderTransport(path: folder.path, passphrase: try Passphrase("other"), cost: .minimum)
        let refused = #expect(throws: StoreError.self) { try all[1].synchronizer.run(.both, wrong) }
        #expect(refused?.code == .wrongPassphrase)
        let stranger = try TestStores(seed: 9).create()
        let other = #expect(throws: SyncError.self) { try stranger.synchronizer.run(.both, folder) }
        #expect(other?.code == .otherStore)
        #expect(try files() == before)
    }

    @Test func bundlesOfAnotherDatabaseUnderTheSamePassphraseAreNotApplied() throws {
        let all = try replicas(2)
        try sync(all[0])
        let others = try TestStores(seed: 9)
        let stranger = try others.create()
        try stranger.execute("INSERT INTO note (id, title) VALUES (?, 'foreign')", [key(9)])
        let elsewhere = FolderTransport(
            path: stores.path("elsewhere"), passphrase: try Passphrase("folder"), cost: .minimum)
        _ = try stranger.synchronizer.run(.both, elsewhere)
        let name = try stranger.synchronizer.status().replica.description
        try FileManager.default.copyItem(atPath: elsewhere.path + "/" + name, toPath: path(name))
        let report = try sync(all[1])
        #expect(report.remarks.contains { $0.contains("another database") })
        #expect(try all[1].value("SELECT count(*) FROM note WHERE title = 'foreign'", as: Int.self) == 0)
    }

    @Test func bundlesAreReplacedByOneOfEverythingWhenTheyOutgrowIt() throws {
        let all = try replicas(2)
        var folder = folder
        folder.compaction.bundleCountMax = 5
        var compactions = 0
        for number in UInt8(2)..<30 {
            try insert(all[Int(number) % 2], number)
            for replica in all {
                stores.clock.advance(milliseconds: 10)
                if try replica.synchronizer.run(.both, folder).isCompacted { compactions += 1 }
            }
            #expect(try files(".bundle").count <= 9)
        }
        #expect(compactions > 2)
        for replica in all { _ = try replica.synchronizer.run(.both, folder) }
        try expectEqual(all)
        let late = try stores.clone(all[0], as: "late.db")
        #expect(try sync(late).pushed == nil)
    }

    @Test func aRestoredFileGetsANewIdentityAndItsLostChangesBack() throws {
        let all = try replicas(2)
        try sync(all[0])
        try FileManager.default.copyItem(atPath: stores.path("r1.db"), toPath: stores.path("backup.db"))
        try insert(all[1], 5, "lost")
        try sync(all[1])
        let queue = try DatabaseQueue(
            path: stores.path("backup.db"), configuration: TestStores.configuration("r1.db"))
        let restored = try TestReplica(stores, "backup.db", queue, tables: [])
        try insert(restored, 6, "kept")
        let old = try restored.synchronizer.status().replica
        #expect(try sync(restored).renewedReplica == old)
        try sync(all[0])
        try expectEqual([restored, all[0]])
        #expect(try restored.dump().count == 3)
    }

    @Test func aCancelledOrStoppedRunIsTakenUpAgain() throws {
        struct Stopped: Error {}
        let all = try replicas(2)
        try insert(all[0], 2)
        #expect(throws: Stopped.self) {
            try all[0].synchronizer.run(.both, folder) { _ in throw Stopped() }
        }
        #expect(try files(".bundle").isEmpty)
        try sync(all[0])
        #expect(throws: Stopped.self) {
            try all[1].synchronizer.run(.both, folder) { _ in throw Stopped() }
        }
        try sync(all[1])
        try expectEqual(all)
        // A bundle that was written, but not listed: the process was killed between.
        try insert(all[0], 3)
        let head = path(try subfolder(all[0]) + "/head")
        let before = try Data(contentsOf: URL(fileURLWithPath: head))
        try sync(all[0])
        try before.write(to: URL(fileURLWithPath: head))
        try sync(all[0])
        try sync(all[1])
        try expectEqual(all)
        let listed = try FolderHead.read(head, folder).bundles.count
        #expect(try files(".bundle").filter { try $0.hasPrefix(subfolder(all[0])) }.count == listed)
    }

    @Test func randomRunsWithLossDelayAndStaleFilesConverge() throws {
        for seed in UInt64(1)...4 {
            var generator = SplitMix64(state: seed)
            let stores = try TestStores(seed: seed)
            let first = try stores.create()
            let all = try [first] + (1..<3).map { try stores.clone(first, as: "r\($0).db") }
            var folder = FolderTransport(
                path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
            folder.compaction.bundleCountMax = 6
            var past: [String: Data] = [:]
            for _ in 0..<60 {
                let replica = all[Int.random(in: 0..<3, using: &generator)]
                stores.clock.advance(milliseconds: 7)
                switch Int.random(in: 0..<6, using: &generator) {
                case 0, 1:
                    let number = UInt8.random(in: 1..<12, using: &generator)
                    try replica.execute(
                        "INSERT OR REPLACE INTO note (id, title) VALUES (?, ?)",
                        [key(number), "\(Int.random(in: 0..<1000, using: &generator))"])
                case 2:
                    try replica.execute(
                        "DELETE FROM note WHERE id = ?", [key(UInt8.random(in: 1..<12, using: &generator))])
                case 3: try disturb(folder.path, &past, &generator)
                default: _ = try replica.synchronizer.run(.both, folder)
                }
            }
            for _ in 0..<4 { for replica in all { _ = try replica.synchronizer.run(.both, folder) } }
            try expectEqual(all)
            #expect(try all[0].state(["note"]) == all[2].state(["note"]), "seed \(seed)")
        }
    }

    /// Does to a file what happens to files on the way.
    private func disturb(
        _ folder: String, _ past: inout [String: Data], _ generator: inout SplitMix64
    ) throws {
        let names = (FileManager.default.enumerator(atPath: folder)?.allObjects as? [String] ?? [])
            .filter { FolderPaths.byteCount(folder + "/" + $0) != nil }.sorted()
        guard let name = names.randomElement(using: &generator) else { return }
        let url = URL(fileURLWithPath: folder + "/" + name)
        let content = try Data(contentsOf: url)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: try FileManager.default.removeItem(at: url)
        case 1: try content.prefix(Int.random(in: 0..<content.count, using: &generator)).write(to: url)
        case 2: if let old = past[name] { try old.write(to: url) }
        default: past[name] = content
        }
    }

    // MARK: Snapshots

    @Test func aNewReplicaBeginsFromASnapshotAndGetsTheRestFromBundles() throws {
        let all = try replicas(2)
        for replica in all { try sync(replica) }
        let missing = #expect(throws: SyncError.self) {
            try Synchronizer.join(
                folder, at: stores.path("new.db"), passphrase: Passphrase("passphrase of new.db"))
        }
        #expect(missing?.code == .snapshotMissing)
        try all[0].synchronizer.publishSnapshot(in: folder)
        try all[0].synchronizer.publishSnapshot(in: folder)
        #expect(try files(".csa").count == 1)
        try insert(all[1], 4, "later")
        try sync(all[1])
        try Synchronizer.join(
            folder, at: stores.path("new.db"), passphrase: Passphrase("passphrase of new.db"),
            environment: stores.clock.environment)
        let new = try stores.open("new.db")
        #expect(try sync(new).pulled?.rowCount == 1)
        try insert(new, 5, "of the new one")
        for replica in [new] + all { try sync(replica) }
        try expectEqual([new] + all)
        #expect(
            try Set(all.map { try $0.synchronizer.status().replica }).contains(
                new.synchronizer.status().replica) == false)
        // The snapshot stays while its owner synchronizes.
        #expect(try files(".csa").count == 1)
    }

    @Test func allFilesOfAFolderHaveOneMode() throws {
        let all = try replicas(1)
        try sync(all[0])
        try all[0].synchronizer.publishSnapshot(in: folder)
        let names = try files(".csa") + files(".bundle") + files("head")
        #expect(names.count == 3)
        for name in names {
            let attributes = try FileManager.default.attributesOfItem(atPath: path(name))
            #expect(attributes[.posixPermissions] as? Int == 0o644, "\(name)")
        }
    }

    @Test func aDamagedSnapshotIsRefusedAndLeavesNoFile() throws {
        let all = try replicas(1)
        try sync(all[0])
        try all[0].synchronizer.publishSnapshot(in: folder)
        let file = path(try #require(try files(".csa").first))
        var data = try Data(contentsOf: URL(fileURLWithPath: file))
        data[data.count / 2] ^= 1
        try data.write(to: URL(fileURLWithPath: file))
        #expect(throws: StoreError.self) {
            try Synchronizer.join(folder, at: stores.path("new.db"), passphrase: Passphrase("x"))
        }
        #expect(!FileManager.default.fileExists(atPath: stores.path("new.db")))
    }
}
