import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// A head that can't be opened, where there is no other one to tell damage from another passphrase.
@Suite struct DamagedHeadTests {
    private let stores: TestStores
    private let folder: FolderTransport
    private let replicas: [TestReplica]

    init() throws {
        stores = try TestStores()
        folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        let first = try stores.create()
        try first.execute("INSERT INTO note (id, title) VALUES (?, 'row')", [key(1)])
        replicas = [first, try stores.clone(first, as: "other.db")]
        try sync(first)
    }

    private func sync(_ replica: TestReplica) throws {
        stores.clock.advance(milliseconds: 10)
        _ = try replica.synchronizer.run(.both, folder)
    }

    /// The only head in the folder.
    private func head() throws -> String {
        try folder.path + "/" + replicas[0].synchronizer.status().replica.description + "/head"
    }

    private func join() throws {
        try Synchronizer.join(folder, at: stores.path("new.db"), passphrase: Passphrase("x"))
    }

    @Test func itIsNamedAndItsOwnerWritesAnother() throws {
        let head = try head()
        var data = try Data(contentsOf: URL(fileURLWithPath: head))
        // Within the locked key of the file, where it looks as if the passphrase were another one.
        data[60] ^= 1
        try data.write(to: URL(fileURLWithPath: head))
        for replica in replicas {
            let error = #expect(throws: StoreError.self) { try sync(replica) }
            #expect(error?.code == .wrongPassphrase && error?.path == head)
        }
        let joined = #expect(throws: StoreError.self) { try join() }
        #expect(joined?.path == head)
        try FileManager.default.removeItem(atPath: head)
        for replica in replicas + replicas { try sync(replica) }
        #expect(FileManager.default.fileExists(atPath: head))
        #expect(try replicas[0].dump() == replicas[1].dump())
    }

    @Test func whoFindsNoSnapshotIsToldOfIt() throws {
        let head = try head()
        let data = try Data(contentsOf: URL(fileURLWithPath: head))
        try data.prefix(40).write(to: URL(fileURLWithPath: head))
        let error = #expect(throws: SyncError.self) { try join() }
        #expect(error?.code == .snapshotMissing && error?.message.contains(head) == true)
        #expect(error?.message.contains("\(folder.path) holds no snapshot") == true)
    }

    /// A name that was mistyped is told from a place without a snapshot.
    @Test func whoFindsNothingIsToldOfIt() throws {
        let empty = FolderTransport(
            path: stores.path("empty"), passphrase: try Passphrase("folder"), cost: .minimum)
        try FileManager.default.createDirectory(atPath: empty.path, withIntermediateDirectories: false)
        let error = #expect(throws: SyncError.self) {
            try Synchronizer.join(empty, at: stores.path("new.db"), passphrase: Passphrase("x"))
        }
        #expect(error?.code == .snapshotMissing)
        #expect(error?.message == "\(empty.path) holds no files of replicas")
    }
}
