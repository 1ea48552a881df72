import CipherStore
import Foundation
import Testing

@testable import SyncEngine

/// What is said of a synchronization before it happens.
@Suite struct SyncPreviewTests {
    let stores: TestStores

    init() throws { stores = try TestStores() }

    private func text(_ tables: [SyncPreview.Table]?) -> [String]? {
        tables?.map { "\($0.name) \($0.rowCount)" }
    }

    /// A replica with changes that have versions, and some that have not; and another one.
    private func changed() throws -> (TestReplica, TestReplica) {
        let a = try stores.create()
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'one')", [key(1)])
        try a.execute("INSERT INTO note (id, title) VALUES (?, 'two')", [key(2)])
        let b = try stores.clone(a, as: "b.db")
        try a.sync(b)
        try a.execute("UPDATE note SET title = 'ONE' WHERE title = 'one'")
        _ = try a.synchronizer.foldedReach()
        try a.execute("UPDATE note SET body = 'more' WHERE title = 'ONE'")
        try a.execute("DELETE FROM note WHERE title = 'two'")
        try a.execute("INSERT INTO tag VALUES (?, 'red')", [UUID().uuidString])
        try b.execute("INSERT INTO note (id, title) VALUES (?, 'three')", [key(3)])
        return (a, b)
    }

    @Test func bothDirectionsAreCountedByTableAndNothingIsWritten() throws {
        let (a, b) = try changed()
        let before = (try a.everything(), try b.everything())
        let preview = try a.synchronizer.preview(with: b.transport)
        #expect(text(preview.outgoing) == ["note 2", "tag 1"])
        #expect(text(preview.incoming) == ["note 1"])
        #expect(preview.incomingChangeCount == nil)
        #expect(try a.everything() == before.0)
        #expect(try b.everything() == before.1)
        let report = try a.sync(b)
        #expect(report.pushed?.rowCount == 3 && report.pulled?.rowCount == 1)
        let after = try a.synchronizer.preview(with: b.transport)
        #expect(after.outgoing == [] && after.incoming == [])
    }

    @Test func oneDirectionAndSomeTablesOnly() throws {
        let (a, b) = try changed()
        let push = try a.synchronizer.preview(.push, with: b.transport)
        #expect(push.incoming == nil && text(push.outgoing) == ["note 2", "tag 1"])
        try a.synchronizer.setScope(.tables(["tag"]), ofRemote: b.transport.name)
        let preview = try a.synchronizer.preview(with: b.transport)
        #expect(text(preview.outgoing) == ["tag 1"])
        #expect(preview.incoming == [])
    }

    @Test func anotherDatabaseIsRefused() throws {
        let (a, _) = try changed()
        let c = try stores.create("c.db")
        let error = try #require(throws: SyncError.self) { try a.synchronizer.preview(with: c.transport) }
        #expect(error.code == .otherStore)
    }

    @Test func ofAFolderTheHeadsAreRead() throws {
        let (a, b) = try changed()
        let folder = FolderTransport(
            path: stores.path("folder"), passphrase: try Passphrase("folder"), cost: .minimum)
        let first = try a.synchronizer.preview(with: folder)
        #expect(text(first.outgoing) == ["note 2", "tag 1"] && first.incomingChangeCount == 0)
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        _ = try b.synchronizer.run(.push, folder)
        let before = try a.everything()
        let preview = try a.synchronizer.preview(with: folder)
        #expect(text(preview.outgoing) == ["note 2", "tag 1"])
        #expect(preview.incoming == nil && (preview.incomingChangeCount ?? 0) > 0)
        #expect(try a.everything() == before)
    }
}
