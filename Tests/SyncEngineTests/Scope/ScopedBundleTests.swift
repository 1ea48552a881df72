import CipherStore
import Foundation
import SyncWire
import Synchronization
import Testing

@testable import SyncEngine

/// Bundles of some tables, and ways that can't carry them.
@Suite struct ScopedBundleTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func hubAndLeaf() throws -> (hub: TestReplica, leaf: TestReplica) {
        let hub = try stores.createScoped("hub.db")
        return (hub, try stores.clone(hub, as: "leaf.db"))
    }

    /// What is known moves with the rows, or not at all.
    @Test func aBundleThatIsCutMovesNoVector() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.put("apple", 1, 1)
        try hub.put("cedar", 1, 1)
        let frames = try hub.bundle(TransferRequest(base: leaf.vector(), tables: [["apple"]]))
        _ = try leaf.peer.greet()
        let before = try leaf.everything()
        for count in 0..<frames.count {
            #expect(throws: WireError.self) { try leaf.apply(Array(frames.prefix(count))) }
            #expect(try leaf.everything() == before)
        }
        try leaf.apply(frames)
        #expect(try leaf.contents() == ["apple 1=1"])
        #expect(try leaf.coverage().parts.count == 1)
    }

    @Test func aFileHoldsTheTablesThatWereChosen() throws {
        let (hub, leaf) = try hubAndLeaf()
        for table in scopedTables { try hub.put(table, 1, 1) }
        let path = stores.path("apple.bundle")
        let summary = try hub.synchronizer.writeBundle(
            to: path, since: .nothing, scope: .tables(["APPLE"]), .plaintext)
        #expect(summary.rowCount == 1)
        #expect(try leaf.synchronizer.applyBundle(at: path, .plaintext).applied?.rowCount == 1)
        #expect(try leaf.synchronizer.applyBundle(at: path, .plaintext).applied == nil)
        #expect(try leaf.contents() == ["apple 1=1"])
        let error = #expect(throws: SyncError.self) {
            try hub.synchronizer.writeBundle(
                to: stores.path("x"), since: .nothing, scope: .tables(["nothing"]), .plaintext)
        }
        #expect(error?.code == .noSuchTable)
        #expect(!FileManager.default.fileExists(atPath: stores.path("x")))
        // One that builds on what is not here: that was known of one table, and is said of all.
        try leaf.exchange(hub, ["apple"])
        try hub.put("apple", 2, 2)
        try hub.synchronizer.writeBundle(
            to: stores.path("1.bundle"), since: .vector(leaf.known("apple")), scope: .tables(["apple"]),
            .plaintext)
        let refusal = #expect(throws: SyncError.self) {
            try leaf.synchronizer.applyBundle(at: stores.path("1.bundle"), .plaintext)
        }
        #expect(refusal?.code == .missingChanges)
        try hub.synchronizer.writeBundle(
            to: stores.path("2.bundle"), since: .vector(leaf.vector()), scope: .tables(["apple"]), .plaintext)
        let third = try stores.clone(leaf, as: "third.db")
        let applied = try third.synchronizer.applyBundle(at: stores.path("2.bundle"), .plaintext).applied
        #expect(applied?.rowCount == 2)
        #expect(try third.contents() == ["apple 1=1 2=2"])
    }

    @Test func theCheckFindsWhatCanNotBeKnown() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.put("apple", 1, 1)
        try hub.put("cedar", 1, 1)
        try leaf.exchange(hub, ["apple"])
        #expect(try leaf.problems() == [])
        for (change, word) in [
            ("UPDATE _sync_coverage SET tbl = 99", "not known"),
            ("UPDATE _sync_coverage SET oseq = 0", "are known"),
            ("UPDATE _sync_coverage SET floor = oseq + 1", "never known"),
            (
                "UPDATE _sync_coverage SET sid = (SELECT self FROM _sync_state), oseq = 1000",
                "did not make"
            ),
        ] {
            try leaf.queue.inDatabase { db in
                try db.inTransaction {
                    try db.execute(sql: change)
                    let problems = try MetadataCheck.problems(of: db, isDeep: false)
                    #expect(problems.contains { $0.message.contains(word) }, "\(change): \(problems)")
                    return .rollback
                }
            }
        }
    }

    @Test func aBundleOfPartsIsRefusedByWhoMissesItsBase() throws {
        let (hub, leaf) = try hubAndLeaf()
        let third = try stores.clone(hub, as: "third.db")
        try hub.put("apple", 1, 1)
        try hub.put("cedar", 1, 1)
        try leaf.exchange(hub, ["apple"])
        try hub.put("apple", 2, 2)
        let frames = try hub.bundle(
            TransferRequest(
                base: leaf.vector(), parts: leaf.peer.greet().facts.parts, tables: [["apple"]]))
        let error = #expect(throws: SyncError.self) { try third.apply(frames) }
        #expect(error?.code == .invalidBundle)
        #expect(try third.contents() == [])
        try leaf.apply(frames)
        let before = try leaf.coverage().parts
        try leaf.apply(frames)
        #expect(try leaf.contents() == ["apple 1=1 2=2"])
        let after = try leaf.coverage().parts
        #expect(after == before)
    }

    @Test func aBundleThatClaimsLessThanItHoldsIsRefused() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.put("apple", 1, 1)
        try hub.put("cedar", 1, 1)
        // A program that skips the section of parts sees stamps above the target.
        let frames = try hub.bundle(TransferRequest(base: leaf.vector(), tables: [["apple"]]))
        let header = try frames[0].withUnsafeBytes { try BundleParts.header(of: $0) }
        #expect(header.target.sequences.isEmpty && header.facts.parts.count == 1)
        #expect(header.tables.map(\.name) == ["apple"])
        var facts = header.facts
        facts.parts = []
        let forged = Mutex<[[UInt8]]>([])
        var writer = try BundleWriter(
            header: BundleHeader(
                store: header.store, sender: header.sender, base: header.base, target: header.target,
                replicas: header.replicas, tables: header.tables, facts: facts)
        ) { frame in forged.withLock { $0.append(Array(frame)) } }
        key(1).withUnsafeBytes {
            writer.beginRow(
                table: 0, key: $0, isTextKey: false, life: 1,
                base: WireStamp(timestamp: 1 << 40, replica: 0, sequence: 1), mask: nil, cellCount: 0)
        }
        writer.value(.integer(1))
        try writer.endRow()
        try writer.finish()
        #expect(throws: SyncError.self) { try leaf.apply(forged.withLock { $0 }) }
        #expect(try leaf.contents() == [])
    }

    @Test func bundlesOfAllTablesSayNothingOfParts() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.put("apple", 1, 1)
        let frames = try hub.bundle(since: leaf.vector())
        let header = try frames[0].withUnsafeBytes { try BundleParts.header(of: $0) }
        #expect(header.facts.parts.isEmpty && header.facts.acknowledged.isEmpty)
        #expect(header.target == (try hub.vector()))
    }

    private func folder() throws -> FolderTransport {
        try FileManager.default.createDirectory(
            atPath: stores.path("folder"), withIntermediateDirectories: true)
        return FolderTransport(
            path: stores.path("folder"), passphrase: try Passphrase("of the folder"), cost: .minimum)
    }

    @Test func waysThatCanNotBringSomeTablesOnlyRefuse() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.put("apple", 1, 1)
        try hub.put("cedar", 1, 1)
        let folder = try folder()
        try leaf.synchronizer.setScope(.tables(["apple"]), ofRemote: folder.name)
        var error = #expect(throws: SyncError.self) { try leaf.synchronizer.run(.both, folder) }
        #expect(error?.code == .scopeUnsupported)
        try leaf.synchronizer.setScope(.everything, ofRemote: folder.name)
        try leaf.exchange(hub, ["apple"])
        error = #expect(throws: SyncError.self) { try leaf.synchronizer.run(.both, folder) }
        #expect(error?.code == .scopeUnsupported)
        try leaf.exchange(hub)
        _ = try leaf.synchronizer.run(.both, folder)
    }

    @Test func aFolderBringsWhatAStoreLacksThatHasSomeTablesOnly() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.put("apple", 1, 1)
        try hub.put("cedar", 1, 1)
        let folder = try folder()
        try leaf.exchange(hub, ["apple"])
        try leaf.put("birch", 1, 1)
        // There is nothing yet, which is no reason not to look.
        _ = try leaf.synchronizer.run(.pull, folder)
        let error = #expect(throws: SyncError.self) { try leaf.synchronizer.run(.both, folder) }
        #expect(error?.code == .scopeUnsupported)
        _ = try hub.synchronizer.run(.both, folder)
        let report = try leaf.synchronizer.run(.both, folder)
        #expect(report.pushed != nil)
        #expect(try leaf.coverage().parts.isEmpty)
        _ = try hub.synchronizer.run(.both, folder)
        for replica in [hub, leaf] {
            #expect(try replica.contents() == ["apple 1=1", "birch 1=1", "cedar 1=1"])
        }
    }

    /// What it has of the one table beyond the others was replaced here.
    @Test func aStoreWhoseTablesHoldNoChangesOfSomeOnlyWritesToAFolder() throws {
        let (hub, leaf) = try hubAndLeaf()
        let third = try stores.clone(hub, as: "third.db")
        try hub.put("apple", 1, 1)
        try hub.put("cedar", 1, 1)
        let folder = try folder()
        try leaf.exchange(hub, ["apple"])
        try leaf.execute("DELETE FROM apple")
        try leaf.put("apple", 2, 2)
        _ = try leaf.synchronizer.run(.both, folder)
        let (known, all) = (try leaf.known("apple"), try leaf.vector())
        #expect(!all.covers(known))
        let report = try third.synchronizer.run(.both, folder)
        #expect(report.remarks.isEmpty)
        #expect(try third.contents() == ["apple 2=2"])
        let learnt = try third.vector()
        #expect(learnt.covers(all) && all.covers(learnt))
        #expect(try third.coverage().parts.isEmpty)
        for replica in [hub, third, leaf] { _ = try replica.synchronizer.run(.both, folder) }
        for replica in [hub, third, leaf] {
            #expect(try replica.contents() == ["apple 2=2", "cedar 1=1"])
            #expect(try replica.problems() == [])
        }
    }

    @Test func aSnapshotClaimsNoChangesOfWhichItHoldsNothing() throws {
        let (hub, leaf) = try hubAndLeaf()
        try hub.put("apple", 1, 1)
        try hub.put("cedar", 1, 1)
        let folder = try folder()
        try leaf.exchange(hub, ["apple"])
        try leaf.execute("DELETE FROM apple")
        #expect(try leaf.coverage().parts.count == 1)
        try leaf.synchronizer.publishSnapshot(in: folder)
        #expect(try leaf.coverage().parts.count == 1)
        try Synchronizer.join(
            folder, at: stores.path("new.db"), passphrase: Passphrase("passphrase of new.db"),
            environment: stores.clock.environment)
        let new = try stores.open("new.db")
        #expect(try new.coverage().parts.isEmpty)
        for replica in [hub, new, leaf, hub] { _ = try replica.synchronizer.run(.both, folder) }
        for replica in [hub, new, leaf] {
            #expect(try replica.contents() == ["cedar 1=1"])
            #expect(try replica.problems() == [])
        }
    }

    /// Expects that a store refuses to put a snapshot into a folder, and leaves nothing there.
    private func expectNoSnapshot(of replica: TestReplica, in folder: FolderTransport) throws {
        let error = #expect(throws: SyncError.self) { try replica.synchronizer.publishSnapshot(in: folder) }
        #expect(error?.code == .scopeUnsupported)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test func storesWithoutAllRowsPublishNoSnapshot() throws {
        let hub = try stores.createWithScopes()
        try hub.add(1, "a")
        try hub.add(2, "b")
        let leaf = try stores.clone(hub, as: "leaf.db")
        let folder = try folder()
        try leaf.synchronizer.setScope(.tables(["item"]), ofRemote: folder.name)
        try expectNoSnapshot(of: leaf, in: folder)
        try leaf.synchronizer.setScope(.everything, ofRemote: folder.name)
        try leaf.choose(["a"], of: hub)
        try leaf.share(hub)
        try expectNoSnapshot(of: leaf, in: folder)
        // The rows of a table that another program dropped are nowhere here.
        let lost = try stores.clone(hub, as: "lost.db")
        try lost.changeUnobserved("DROP TABLE item")
        try expectNoSnapshot(of: lost, in: folder)
        try hub.synchronizer.publishSnapshot(in: folder)
        #expect(try hub.synchronizer.hasSnapshot(in: folder.transport))
    }
}
