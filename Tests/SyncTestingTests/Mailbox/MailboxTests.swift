import CipherStore
import Foundation
import SyncEngine
import SyncWire
import TestSupport
import Testing

@testable import SyncTesting

@Suite struct MailboxTests {
    /// A mailbox as each machine sees it.
    private func replicas(
        _ count: Int, _ mailbox: MemoryMailbox, seed: UInt64 = 1
    ) throws -> MailboxReplicas {
        try MailboxReplicas(count, seed: seed) { mailbox.seen(from: $0) }
    }

    /// Whether an error is one that the place may give, and after which all goes on.
    private func isOfPlace(_ error: any Error) -> Bool {
        if let error = error as? MailboxError { return error.code == .unreachable }
        return (error as? StoreError)?.code == .full
    }

    @Test(arguments: Campaign.seeds(2, nightly: 200))
    func replicasConvergeWithNothingLostWhateverTheMailboxDoes(seed: UInt64) throws {
        let mailbox = MemoryMailbox(seed: seed)
        let stores = try replicas(3, mailbox, seed: seed)
        var random = SimulationRandom(seed: seed, part: 7)
        var failures = 0
        // Rows that one replica writes once, and nobody else touches: none may be lost.
        var own: Set<String> = []
        for step in 0..<150 {
            let replica = random.number(below: stores.all.count)
            switch random.number(below: 6) {
            case 0:
                try stores.insert(replica, 100 + step % 150, "own \(step)")
                own.insert("own \(step)")
            case 1: try stores.insert(replica, random.number(below: 12), "shared \(step)")
            case 2:
                try stores.execute(
                    replica, "DELETE FROM note WHERE id = ?",
                    [MailboxReplicas.key(random.number(below: 12))])
            default:
                do {
                    try stores.sync(replica)
                } catch  where isOfPlace(error) {
                    failures += 1
                }
            }
        }
        #expect(failures > 0, "seed \(seed): no call failed")
        mailbox.endFaults()
        #expect(try stores.settle(), "seed \(seed): the exchange has no end")
        #expect(try stores.areEqual(), "seed \(seed)")
        let titles = try stores.all[0].rows().joined(separator: "\n")
        for title in own { #expect(titles.contains(title), "seed \(seed): \(title) is lost") }
        for index in stores.all.indices {
            #expect(
                try stores.factory.check("\(index)") { try MetadataCheck.problems(of: $0, isDeep: true) }
                    .isEmpty, "seed \(seed)")
        }
    }

    /// The same course over a folder and over memory leaves the same rows, and as many files.
    @Test func aFolderAndAMailboxInMemoryHoldTheSame() throws {
        let path = NSTemporaryDirectory() + "mailbox-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        let both: [any Mailbox] = [LocalFolder(path: path), MemoryMailbox(seed: 1, faults: [])]
        var found: [[String]] = []
        for mailbox in both {
            let stores = try MailboxReplicas(2, seed: 3) { _ in mailbox }
            for number in 1..<20 {
                try stores.insert(number % 2, number, "title \(number)")
                try stores.sync(number % 2)
            }
            try stores.all[0].synchronizer.publishSnapshot(in: stores.all[0].transport)
            #expect(try stores.settle() && stores.areEqual())
            let counts = try mailbox.folders().map { folder in
                try mailbox.files(in: folder).map(\.name)
            }.map { names in
                [".bundle", ".csa", "head"].map { end in "\(names.filter { $0.hasSuffix(end) }.count)" }
                    .joined(separator: " ")
            }
            found.append(try stores.all[1].rows() + counts.sorted())
        }
        #expect(found[0].count == 21)
        #expect(found[0] == found[1])
    }

    /// A bundle of the first of two replicas that the second one lacks.
    private func newBundle(_ stores: MailboxReplicas, _ mailbox: MemoryMailbox) throws -> MailboxPath {
        try stores.insert(0, 1)
        #expect(try stores.settle())
        let before = Set(mailbox.paths)
        try stores.insert(0, 2)
        try stores.sync(0)
        return try #require(
            mailbox.paths.first { !before.contains($0) && $0.name.hasSuffix(".bundle") })
    }

    /// No byte of its head stops the synchronization: what it asks for is not done, and the rest goes on.
    @Test func aBundleIsNamedWhicheverByteOfItsHeaderIsDamaged() throws {
        let mailbox = MemoryMailbox(seed: 1, faults: [])
        let stores = try replicas(2, mailbox)
        let bundle = try newBundle(stores, mailbox)
        let content = try #require(mailbox.content(of: bundle))
        for index in 0..<48 {
            var damaged = content
            damaged[index] ^= 0x10
            mailbox.setContent(damaged, of: bundle)
            let report = try stores.sync(1, .pull)
            #expect(report.pulled == nil && report.remarks.contains { $0.contains("\(bundle)") }, "\(index)")
        }
        mailbox.setContent(content, of: bundle)
        #expect(try stores.sync(1).pulled?.rowCount == 1)
    }

    @Test func aDamagedBundleIsNamedAndItsOwnerWritesAnother() throws {
        let mailbox = MemoryMailbox(seed: 1, faults: [])
        let stores = try replicas(2, mailbox)
        let bundle = try newBundle(stores, mailbox)
        var content = try #require(mailbox.content(of: bundle))
        content[content.count - 20] ^= 1
        mailbox.setContent(content, of: bundle)
        let report = try stores.sync(1)
        #expect(report.pulled == nil)
        #expect(report.remarks.contains { $0.contains("\(bundle)") })
        #expect(try stores.sync(0).pushed?.rowCount == 1)
        #expect(try stores.sync(1).pulled?.rowCount == 1)
        #expect(try stores.areEqual())
    }

    @Test func aFileThatIsListedAndNotThereYetIsADelay() throws {
        let mailbox = MemoryMailbox(seed: 1, faults: [])
        let stores = try replicas(2, mailbox)
        let bundle = try newBundle(stores, mailbox)
        let content = mailbox.content(of: bundle)
        mailbox.setContent(nil, of: bundle)
        let report = try stores.sync(1, .pull)
        #expect(report.pulled == nil && !report.remarks.isEmpty)
        mailbox.setContent(content, of: bundle)
        #expect(try stores.sync(1).pulled?.rowCount == 1)
        #expect(try stores.areEqual())
    }

    @Test func aReplicaBeginsFromTheSnapshotOfAMailbox() throws {
        let mailbox = MemoryMailbox(seed: 1, faults: [])
        let stores = try replicas(2, mailbox)
        try stores.insert(0, 1, "first")
        try stores.sync(0)
        try stores.all[0].synchronizer.publishSnapshot(in: stores.all[0].transport)
        let path = stores.factory.folder + "/new.db"
        try Synchronizer.join(
            stores.all[0].transport, at: path, passphrase: stores.factory.secret(),
            environment: stores.clock.environment(of: 9))
        let names = try FileManager.default.contentsOfDirectory(atPath: stores.factory.folder)
        #expect(!names.contains { $0.contains(".archive-") })
        #expect(FileManager.default.fileExists(atPath: path))
        let snapshot = try #require(mailbox.paths.first { $0.name.hasSuffix(".csa") })
        var content = try #require(mailbox.content(of: snapshot))
        content[content.count / 2] ^= 1
        mailbox.setContent(content, of: snapshot)
        #expect(throws: StoreError.self) {
            try Synchronizer.join(
                stores.all[0].transport, at: stores.factory.folder + "/other.db",
                passphrase: stores.factory.secret())
        }
        #expect(!FileManager.default.fileExists(atPath: stores.factory.folder + "/other.db"))
    }

    @Test func aTaskSynchronizesThroughAMailboxUntilItIsCancelled() async throws {
        let stores = try replicas(2, MemoryMailbox(seed: 1, faults: []))
        let (one, other) = (stores.all[0], stores.all[1])
        try stores.insert(0, 1, "first")
        #expect(try await one.synchronizer.push(through: one.transport).pushed?.rowCount == 1)
        #expect(try await other.synchronizer.pull(through: other.transport).pulled?.rowCount == 1)
        try stores.insert(1, 2, "second")
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await other.synchronizer.sync(through: other.transport)
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(try await other.synchronizer.sync(through: other.transport).pushed?.rowCount == 1)
        #expect(try await one.synchronizer.sync(through: one.transport).pulled?.rowCount == 1)
        #expect(try stores.areEqual())
    }

    @Test func filesOfManyOtherDatabasesAreInNobodysWay() throws {
        let mailbox = MemoryMailbox(seed: 1, faults: [])
        let stores = try replicas(2, mailbox)
        try stores.insert(0, 1, "first")
        try stores.sync(0)
        for number in 0..<9 {
            let place = MemoryMailbox(seed: 1, faults: [])
            let strangers = try MailboxReplicas(1, seed: UInt64(number + 2)) { _ in place }
            try strangers.insert(0, 1)
            try strangers.sync(0)
            let head = try #require(place.paths.first { $0.name == "head" })
            // Their folders come first, and each has a key of its own to derive.
            let folder = String(repeating: "0", count: 31) + "\(number)"
            mailbox.setContent(place.content(of: head), of: MailboxPath(folder: folder, name: "head"))
        }
        // As another process has it, which has derived nothing yet.
        let transport = try MailboxReplicas.transport(mailbox.seen(from: 1))
        let report = try stores.all[1].synchronizer.run(.both, transport)
        #expect(report.pulled?.rowCount == 1)
        #expect(report.remarks.count == 9)
    }
}
