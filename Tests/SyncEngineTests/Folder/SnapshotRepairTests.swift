import CipherStore
import Foundation
import SyncWire
import Synchronization
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

    /// Removes what the author says of its files.
    private func removeHead() throws {
        try FileManager.default.removeItem(atPath: folder.path + "/\(author.replica())/head")
    }

    @Test func oneWhoseHeadIsGoneIsListedAgain() throws {
        let before = try snapshots()
        try removeHead()
        #expect(try !sync(author).isSnapshotRenewed)
        #expect(try snapshots() == before)
        #expect(try joins("new.db"))
    }

    @Test func oneThatIsGoneWithItsHeadIsWrittenAgainAfterAWhile() throws {
        for file in try snapshots() { try FileManager.default.removeItem(atPath: file) }
        try removeHead()
        #expect(try !sync(author).isSnapshotRenewed)
        stores.clock.advance(milliseconds: 600_000)
        let report = try sync(author)
        #expect(report.isSnapshotRenewed && report.remarks.isEmpty)
        #expect(try joins("new.db"))
    }

    @Test func oneThatWasChangedAndWhoseHeadIsGoneIsNotListed() throws {
        let file = try #require(try snapshots().first)
        var content = try Data(contentsOf: URL(fileURLWithPath: file))
        content[content.count / 2] ^= 1
        try content.write(to: URL(fileURLWithPath: file))
        try removeHead()
        stores.clock.advance(milliseconds: 600_000)
        #expect(try sync(author).isSnapshotRenewed)
        #expect(try joins("new.db"))
        try sync(author)
        let after = try snapshots()
        #expect(after.count == 1 && after != [file])
    }

    @Test func oneThatAnotherProcessPublishesMeanwhileStaysListed() throws {
        let process = try stores.open("a.db")
        let place = InterruptedFolder(folder: LocalFolder(path: folder.path))
        let shared = folder
        place.interruption = { try process.synchronizer.publishSnapshot(in: shared) }
        let before = try snapshots()
        try author.insert(9, "more")
        stores.clock.advance(milliseconds: 10)
        let report = try author.synchronizer.run(
            .both, MailboxTransport(mailbox: place, passphrase: try Passphrase("folder"), cost: .minimum))
        #expect(report.pushed != nil && place.interruption == nil)
        let after = try snapshots()
        #expect(after.count == 1 && after != before)
        #expect(try joins("new.db"))
    }

    @Test func aPlaceThatTellsVersionsIsReadWhenOneIsAnother() throws {
        let place = VersionedFolder(path: stores.path("place"))
        var transport = MailboxTransport(mailbox: place, passphrase: try Passphrase("folder"), cost: .minimum)
        transport.acknowledgementSeconds = 3600
        try author.synchronizer.publishSnapshot(in: transport)
        let noted = "SELECT value GLOB '* v1' FROM _sync_setting WHERE name GLOB 'snapshot *place'"
        #expect(try author.value(noted, as: Int.self) == 1)
        func syncNextDay() throws -> FolderReport {
            stores.clock.advance(milliseconds: 86_400_000)
            return try author.synchronizer.run(.both, transport)
        }
        let untouched = try syncNextDay()
        #expect(!untouched.isSnapshotRenewed && place.readCount == 0)
        // Somebody copies all files within the place.
        try place.rewriteSnapshot { _ in }
        for _ in 0..<2 {
            let copied = try syncNextDay()
            #expect(!copied.isSnapshotRenewed && copied.remarks.isEmpty && place.readCount == 1)
        }
        try place.rewriteSnapshot { $0[$0.count / 2] ^= 1 }
        let changed = try syncNextDay()
        #expect(changed.isSnapshotRenewed && changed.remarks.isEmpty && place.readCount == 2)
        try Synchronizer.join(
            transport, at: stores.path("new.db"), passphrase: Passphrase("passphrase of new.db"),
            environment: stores.clock.environment)
    }

    @Test func anotherFileInThePlaceOfOneThatNoHeadNamesIsReadOnce() throws {
        let place = VersionedFolder(path: stores.path("place"))
        let transport = MailboxTransport(mailbox: place, passphrase: try Passphrase("folder"), cost: .minimum)
        try author.synchronizer.publishSnapshot(in: transport)
        let head = FolderPaths(try author.replica()).file(FolderPaths.headName)
        func sync() throws -> FolderHead.File? {
            stores.clock.advance(milliseconds: 10)
            let report = try author.synchronizer.run(.both, transport)
            #expect(!report.isSnapshotRenewed)
            return try FolderHead.read(head, transport).snapshot
        }
        let snapshot = try #require(try sync())
        try place.rewriteSnapshot { $0[$0.count / 2] ^= 1 }
        try place.remove(head)
        for _ in 0..<3 {
            #expect(try sync() == nil)
            #expect(place.readCount == 1)
        }
        // Somebody puts it back.
        try place.rewriteSnapshot { $0[$0.count / 2] ^= 1 }
        for _ in 0..<3 {
            #expect(try sync()?.name == snapshot.name)
            #expect(place.readCount == 2)
        }
        // What lies there is known, whatever the head says.
        try place.remove(head)
        #expect(try sync()?.name == snapshot.name)
        #expect(place.readCount == 2)
        #expect(try stores.clone(author, as: "c.db").value(Self.findings, as: Int.self) == 0)
        #expect(try author.value(Self.findings, as: Int.self) == 1)
    }

    private static let findings = "SELECT count(*) FROM _sync_setting WHERE name GLOB 'checked snapshots *'"

    @Test(arguments: [false, true])
    func aVersionThatWasNotNotedIsTakenFromTheListingOnceTheContentWasRead(isOverwritten: Bool) throws {
        let place = VersionedFolder(path: stores.path("place"))
        var transport = MailboxTransport(mailbox: place, passphrase: try Passphrase("folder"), cost: .minimum)
        transport.acknowledgementSeconds = 3600
        try author.synchronizer.publishSnapshot(in: transport)
        // As an older program leaves it.
        try author.queue.write { db in
            try db.execute(
                sql: """
                    UPDATE _sync_setting SET value = replace(value, ' v1', '') WHERE name GLOB 'snapshot *place'
                    """)
        }
        if isOverwritten { try place.rewriteSnapshot { $0[$0.count / 2] ^= 1 } }
        let early = try author.synchronizer.run(.both, transport)
        #expect(!early.isSnapshotRenewed && place.readCount == 0)
        for _ in 0..<2 {
            stores.clock.advance(milliseconds: 86_400_000)
            let report = try author.synchronizer.run(.both, transport)
            #expect(report.remarks.isEmpty && place.readCount == 1)
            #expect(report.isSnapshotRenewed == isOverwritten)
            if isOverwritten { break }
        }
    }
}

/// A folder that tells the versions of its files, and counts how often snapshots are read.
private final class VersionedFolder: Mailbox {
    private let folder: LocalFolder
    private let versions = Mutex<[MailboxPath: Int]>([:])
    private let reads = Mutex(0)

    init(path: String) { folder = LocalFolder(path: path) }

    var readCount: Int { reads.withLock { $0 } }
    var name: String { folder.name }
    var location: String { folder.location }
    func folders() throws -> [String] { try folder.folders() }

    func files(in name: String) throws -> [MailboxFile] {
        try folder.files(in: name).map { file in
            let path = MailboxPath(folder: name, name: file.name)
            let version = versions.withLock { $0[path] ?? 0 }
            return MailboxFile(name: file.name, byteCount: file.byteCount, version: "v\(version)")
        }
    }

    func open(_ path: MailboxPath) throws -> any MailboxReader {
        if path.name.hasSuffix(".csa") { reads.withLock { $0 += 1 } }
        return try folder.open(path)
    }

    func write(
        _ path: MailboxPath, replacing: Bool,
        _ body: (_ sink: @escaping (Data) throws -> Void) throws -> Void
    ) throws {
        try folder.write(path, replacing: replacing, body)
        versions.withLock { $0[path, default: 0] += 1 }
    }

    func remove(_ path: MailboxPath) throws { try folder.remove(path) }

    /// Writes the only snapshot anew, under the same name.
    func rewriteSnapshot(_ change: (inout Data) -> Void) throws {
        for name in try folders() {
            for file in try folder.files(in: name) where file.name.hasSuffix(".csa") {
                let path = MailboxPath(folder: name, name: file.name)
                var content = try Data(contentsOf: URL(fileURLWithPath: "\(location)/\(path)"))
                change(&content)
                let changed = content
                try write(path, replacing: true) { try $0(changed) }
            }
        }
    }
}
