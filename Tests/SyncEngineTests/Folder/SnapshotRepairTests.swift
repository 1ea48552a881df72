import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Snapshots that lie damaged in a folder.
@Suite struct SnapshotRepairTests {
    let stores: TestStores
    let folder: FolderTransport
    let author: TestReplica
    let other: TestReplica

    init() throws {
        stores = try TestStores()
        folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        author = try stores.create()
        try author.execute("INSERT INTO note (id, title) VALUES (?, 'row')", [key(1)])
        other = try stores.clone(author, as: "b.db")
        for replica in [author, other] { try sync(replica) }
        try author.synchronizer.publishSnapshot(in: folder)
    }

    @discardableResult
    private func sync(_ replica: TestReplica, _ direction: SyncDirection = .both) throws -> FolderReport {
        stores.clock.advance(milliseconds: 10)
        return try replica.synchronizer.run(direction, folder)
    }

    /// The snapshots, by their places.
    private func snapshots() throws -> [String] {
        let files = FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []
        return files.filter { $0.hasSuffix(".csa") }.map { folder.path + "/" + $0 }
    }

    private func joins(_ name: String) throws -> Bool {
        do {
            try Synchronizer.join(
                folder, at: stores.path(name), passphrase: Passphrase("passphrase of \(name)"),
                environment: stores.clock.environment)
            return true
        } catch is SyncError {
            return false
        }
    }

    @Test(arguments: [0, 1, 1000]) func oneThatWasCutIsWrittenAgainByItsAuthor(byteCount: Int) throws {
        let file = try #require(try snapshots().first)
        try Data(contentsOf: URL(fileURLWithPath: file)).prefix(byteCount).write(
            to: URL(fileURLWithPath: file))
        let told = try sync(other)
        #expect(told.remarks.contains { $0.contains("not complete yet") } && !told.isSnapshotRenewed)
        // Who only takes writes nothing.
        #expect(try sync(author, .pull).remarks.count == 1)
        #expect(try snapshots() == [file])
        let report = try sync(author)
        #expect(report.isSnapshotRenewed && report.remarks.isEmpty)
        let after = try snapshots()
        #expect(after.count == 1 && after != [file])
        for replica in [author, other] {
            let report = try sync(replica)
            #expect(report.remarks.isEmpty && !report.isSnapshotRenewed)
        }
        #expect(try joins("new.db"))
    }

    @Test func oneThatIsGoneIsWrittenAgainAfterAWhile() throws {
        for file in try snapshots() { try FileManager.default.removeItem(atPath: file) }
        // The place may tell of it late.
        let early = try sync(author)
        #expect(!early.isSnapshotRenewed && early.remarks.count == 1)
        let isThere = try joins("early.db")
        #expect(!isThere)
        stores.clock.advance(milliseconds: 600_000)
        let late = try sync(author)
        #expect(late.isSnapshotRenewed && late.remarks.isEmpty)
        #expect(try joins("new.db"))
    }

    @Test func oneInWhichAByteHasChangedIsWrittenAgainAfterADay() throws {
        let file = try #require(try snapshots().first)
        var content = try Data(contentsOf: URL(fileURLWithPath: file))
        content[content.count / 2] ^= 1
        try content.write(to: URL(fileURLWithPath: file))
        // Reading all of it each time would be dear.
        #expect(try !sync(author).isSnapshotRenewed)
        stores.clock.advance(milliseconds: 86_400_000)
        #expect(try !sync(author, .pull).isSnapshotRenewed)
        let report = try sync(author)
        #expect(report.isSnapshotRenewed && report.remarks.isEmpty)
        #expect(try joins("new.db"))
    }

    @Test func aCopyKnowsNothingOfSnapshots() throws {
        let settings = "SELECT count(*) FROM _sync_setting WHERE name GLOB 'snapshot *'"
        #expect(try author.value(settings, as: Int.self) == 1)
        let copy = try stores.clone(author, as: "c.db")
        #expect(try copy.value(settings, as: Int.self) == 0)
    }

    @Test func oneThatIsWholeStays() throws {
        let before = try snapshots()
        for _ in 0..<2 {
            stores.clock.advance(milliseconds: 86_400_000)
            for replica in [author, other] {
                let report = try sync(replica)
                #expect(!report.isSnapshotRenewed && report.remarks.isEmpty)
            }
        }
        #expect(try snapshots() == before && before.count == 1)
    }
}
