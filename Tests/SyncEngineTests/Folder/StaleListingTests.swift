import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Places that answer from the listing that they know, as buckets and relays do.
@Suite struct StaleListingTests {
    @Test func aSnapshotThatAnotherProcessPublishesDuringALongPushStaysListed() throws {
        let stores = try TestStores()
        let folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        let author = try stores.create()
        try author.execute("INSERT INTO note (id, title) VALUES (?, 'row')", [key(1)])
        _ = try author.synchronizer.run(.both, folder)
        let process = try stores.open("a.db")
        let place = ListedFolder(folder: LocalFolder(path: folder.path))
        place.interruption = {
            stores.clock.advance(milliseconds: 61_000)
            try process.synchronizer.publishSnapshot(in: folder)
        }
        try author.insert(9, "more")
        stores.clock.advance(milliseconds: 10)
        let report = try author.synchronizer.run(
            .both, MailboxTransport(mailbox: place, passphrase: try Passphrase("folder"), cost: .minimum))
        #expect(report.pushed != nil && place.interruption == nil)
        try Synchronizer.join(
            folder, at: stores.path("new.db"), passphrase: Passphrase("passphrase of new.db"),
            environment: stores.clock.environment)
    }

    @Test func aSnapshotThatIsNotListedYetIsLeftForAWhile() throws {
        let stores = try TestStores()
        let folder = FolderTransport(
            path: stores.path("shared"), passphrase: try Passphrase("folder"), cost: .minimum)
        let author = try stores.create()
        try author.execute("INSERT INTO note (id, title) VALUES (?, 'row')", [key(1)])
        _ = try author.synchronizer.run(.both, folder)
        let process = try stores.open("a.db")
        let place = ListedFolder(folder: LocalFolder(path: folder.path))
        // The snapshot is there, and the head that lists it is about to be written.
        place.interruptedName = FolderPaths.headName
        place.interruption = {
            stores.clock.advance(milliseconds: 10)
            try process.insert(2, "more")
            _ = try process.synchronizer.run(.both, folder)
        }
        try author.synchronizer.publishSnapshot(
            in: MailboxTransport(mailbox: place, passphrase: try Passphrase("folder"), cost: .minimum))
        #expect(place.interruption == nil)
        try Synchronizer.join(
            folder, at: stores.path("new.db"), passphrase: Passphrase("passphrase of new.db"),
            environment: stores.clock.environment)
        // One that was given up goes at last.
        let own = FolderPaths(try author.replica())
        let lost = own.file(FolderPaths.snapshotName(stores.clock.environment.milliseconds(), 7))
        let path = folder.path + "/" + lost.description
        try Data([1]).write(to: URL(fileURLWithPath: path))
        _ = try author.synchronizer.run(.both, folder)
        #expect(FileManager.default.fileExists(atPath: path))
        stores.clock.advance(milliseconds: 600_000)
        _ = try author.synchronizer.run(.both, folder)
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}

/// A folder in which heads are as they were when its folders were listed, and which is interrupted before a file is written.
private final class ListedFolder: Mailbox, @unchecked Sendable {
    private let folder: LocalFolder
    /// Used by the thread of one synchronization.
    private var heads: [MailboxPath: Data] = [:]
    var interruption: (() throws -> Void)?
    /// How the name of that file ends.
    var interruptedName = ".bundle"

    init(folder: LocalFolder) { self.folder = folder }

    var name: String { folder.name }
    var location: String { folder.location }

    func folders() throws -> [String] {
        let folders = try folder.folders()
        heads = [:]
        for name in folders {
            let path = MailboxPath(folder: name, name: FolderPaths.headName)
            guard let reader = try? folder.open(path), reader.byteCount > 0 else { continue }
            heads[path] = try reader.read(upTo: reader.byteCount)
        }
        return folders
    }

    func files(in name: String) throws -> [MailboxFile] { try folder.files(in: name) }

    func open(_ path: MailboxPath) throws -> any MailboxReader {
        if let head = heads[path] { return BytesReader(head) }
        return try folder.open(path)
    }

    func write(
        _ path: MailboxPath, replacing: Bool,
        _ body: (_ sink: @escaping (Data) throws -> Void) throws -> Void
    ) throws {
        if path.name.hasSuffix(interruptedName), let interruption {
            self.interruption = nil
            try interruption()
        }
        try folder.write(path, replacing: replacing, body)
        heads[path] = nil
    }

    func remove(_ path: MailboxPath) throws { try folder.remove(path) }
}

private final class BytesReader: MailboxReader {
    private var rest: Data
    let byteCount: Int

    init(_ bytes: Data) {
        rest = bytes
        byteCount = bytes.count
    }

    func read(upTo count: Int) throws -> Data {
        let piece = Data(rest.prefix(count))
        rest = Data(rest.dropFirst(count))
        return piece
    }
}
