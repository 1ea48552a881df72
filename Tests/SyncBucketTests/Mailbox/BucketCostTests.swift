import CipherStore
import Foundation
import SyncEngine
import TestSupport
import Testing

@testable import SyncBucket
@testable import SyncTesting

/// What synchronizations ask of a bucket. The server's log is the judge.
@Suite(.s3Server) struct BucketCostTests {
    /// Replicas that share a prefix. For each synchronization there is a process of its own, which has nothing but the
    /// files that earlier ones kept.
    private final class Fleet {
        let server: S3Server
        let stores: MailboxReplicas
        let prefix = "fleet"
        private let folder = NSTemporaryDirectory() + "bucket-cost-" + UUID().uuidString

        init(_ count: Int) throws {
            let server = try S3Server()
            self.server = server
            stores = try MailboxReplicas(count, seed: 1) { _ in MemoryPlaceholder() }
        }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        /// Synchronizes, and says what that took.
        func sync(_ replica: Int) throws -> (counts: BucketRequestCounts, report: FolderReport) {
            try server.reset()
            let mailbox = try server.mailbox(prefix: prefix, cacheFolder: "\(folder)/\(replica)")
            var transport = try MailboxReplicas.transport(mailbox)
            transport.acknowledgementSeconds = 3600
            stores.clock.advance(10)
            let report = try stores.all[replica].synchronizer.run(.both, transport)
            #expect(try server.requests().count == mailbox.requestCounts.total)
            #expect(report.remarks.isEmpty)
            return (mailbox.requestCounts, report)
        }

        /// Synchronizes all until there is nothing to do.
        func settle() throws {
            for _ in 0..<2 { for replica in stores.all.indices { _ = try sync(replica) } }
        }
    }

    /// Stands for the mailbox that each synchronization has of its own.
    private struct MemoryPlaceholder: Mailbox {
        var name: String { "none" }
        var location: String { "none" }
        func folders() throws -> [String] { [] }
        func files(in folder: String) throws -> [MailboxFile] { [] }
        func open(_ path: MailboxPath) throws -> any MailboxReader { throw MailboxError(.missing, "none") }
        func write(
            _ path: MailboxPath, replacing: Bool,
            _ body: (_ sink: @escaping (Data) throws -> Void) throws -> Void
        ) throws {}
        func remove(_ path: MailboxPath) throws {}
    }

    @Test func nothingNewIsOneRequestAndAnEditAreThreeOfItsWriterAndThreeOfEachReader() throws {
        let fleet = try Fleet(6)
        try fleet.stores.insert(0, 1, "first")
        try fleet.settle()
        var lines: [String] = []
        for replica in fleet.stores.all.indices {
            let (counts, report) = try fleet.sync(replica)
            lines.append("nothing new, replica \(replica) of 6: \(counts)")
            #expect(counts.total <= 2 && counts.list == counts.total)
            #expect(report.pulled == nil && report.pushed == nil && report.replicas.count == 6)
        }
        try fleet.stores.insert(0, 2, "second")
        let writer = try fleet.sync(0)
        lines.append("one edit, its writer: \(writer.counts)")
        #expect(writer.counts.total <= 4 && writer.report.pushed?.rowCount == 1)
        for replica in 1..<6 {
            let reader = try fleet.sync(replica)
            lines.append("one edit, reader \(replica): \(reader.counts)")
            #expect(reader.counts.total <= 4 && reader.report.pulled?.rowCount == 1)
        }
        for replica in fleet.stores.all.indices { #expect(try fleet.sync(replica).counts.total <= 2) }
        #expect(try fleet.stores.areEqual())
        print(lines.joined(separator: "\n"))
    }

    /// Six increments are followed by a bundle of everything here.
    @Test func aWriterNeedsFourRequestsAtMostForEachOfManyEdits() throws {
        let fleet = try Fleet(2)
        try fleet.settle()
        var most = BucketRequestCounts()
        var compactions = 0
        for number in 0..<20 {
            try fleet.stores.insert(0, number, "edit \(number)")
            let (counts, report) = try fleet.sync(0)
            if report.isCompacted { compactions += 1 }
            #expect(counts.total <= 4, "edit \(number): \(counts)")
            if counts.total > most.total { most = counts }
        }
        #expect(compactions > 1 && most.delete == 1)
        print("20 edits of one writer with \(compactions) compactions, at most: \(most)")
        #expect(try fleet.sync(1).report.pulled?.rowCount == 20)
        #expect(try fleet.stores.areEqual())
    }

    /// Its replica was killed between the two, and may be away for long.
    @Test func aLargeBundleThatNoHeadListsIsFetchedOnce() throws {
        let fleet = try Fleet(2)
        try fleet.settle()
        // More than caches keep, and than can be compressed away.
        for number in 0..<10 {
            let text = (0..<2_000).map { _ in UUID().uuidString }.joined()
            try fleet.stores.insert(0, number, text)
        }
        let mailbox = try fleet.server.mailbox(prefix: fleet.prefix)
        try fleet.server.fail(.init("500", method: "PUT", match: "head", count: 100))
        let transport = try MailboxReplicas.transport(mailbox)
        #expect(throws: (any Error).self) { try fleet.stores.all[0].synchronizer.run(.both, transport) }
        try fleet.server.fail()
        #expect(try fleet.sync(1).report.pulled?.rowCount == 10)
        for _ in 0..<2 {
            let counts = try fleet.sync(1).counts
            #expect(counts.total <= 2 && counts.list == counts.total, "\(counts)")
        }
        func rememberedCount() throws -> Int? {
            try fleet.stores.all[1].queue.read {
                try Int.fetchOne(
                    $0, sql: "SELECT count(*) FROM _sync_setting WHERE name LIKE 'checked headers %'")
            }
        }
        #expect(try rememberedCount() == 1)
        // Its replica comes back, and removes it.
        _ = try fleet.sync(0)
        _ = try fleet.sync(1)
        #expect(try rememberedCount() == 0 && fleet.stores.areEqual())
    }

    @Test func afterAnHourIsToldWhatWasRead() throws {
        let fleet = try Fleet(2)
        try fleet.settle()
        try fleet.stores.insert(0, 1, "first")
        _ = try fleet.sync(0)
        #expect(try fleet.sync(1).counts.put == 0)
        #expect(try fleet.sync(0).counts.total == 1)
        fleet.stores.clock.advance(3_600_000)
        let told = try fleet.sync(1)
        #expect(told.counts.put == 1 && told.counts.total == 2)
        let heard = try fleet.sync(0)
        #expect(heard.counts.get == 1)
        let peer = try #require(try fleet.stores.all[0].synchronizer.status().peers.first)
        #expect(peer.pendingCount == 0)
    }

    /// A head that was written between the listing and the reading of it names a bundle that the listing lacks.
    @Test func whoIsOvertakenLooksOnceMoreAndComplainsOfNothing() throws {
        let fleet = try Fleet(2)
        try fleet.settle()
        try fleet.stores.insert(0, 1, "first")
        _ = try fleet.sync(0)
        try fleet.stores.insert(0, 2, "second")
        try fleet.server.fail(.init("lag", method: "GET", match: "list-type"))
        // The lagging listing is one from before the first edit or after; nothing of it may end in a remark.
        let report = try fleet.sync(1).report
        #expect(report.pulled?.rowCount == nil || report.pulled?.rowCount == 1)
        _ = try fleet.sync(0)
        #expect(try fleet.sync(1).report.remarks.isEmpty)
        #expect(try fleet.stores.areEqual())
    }

    @Test func aFileThatIsOverwrittenHasAnotherVersionInTheListing() throws {
        let path = MailboxPath(folder: String(repeating: "0a", count: 16), name: "1.csa")
        let server = try S3Server()
        let mailbox = try server.mailbox(prefix: "p")
        func version() throws -> String? { try mailbox.files(in: path.folder).first?.version }
        _ = try mailbox.folders()
        try mailbox.write(path, replacing: true) { try $0(Data([1])) }
        let written = try version()
        _ = try mailbox.folders()
        let listed = try version()
        #expect(written != nil && listed == written && mailbox.requestCounts.list == 2)
        try server.mailbox(prefix: "p").write(path, replacing: true) { try $0(Data([2])) }
        _ = try mailbox.folders()
        let overwritten = try version()
        #expect(overwritten != nil && overwritten != written)
    }

    @Test func aCacheThatIsDamagedIsReadAgain() throws {
        let folder = NSTemporaryDirectory() + "bucket-cache-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = MailboxPath(folder: String(repeating: "0a", count: 16), name: "head")
        let server = try S3Server()
        func mailbox() throws -> BucketMailbox { try server.mailbox(prefix: "p", cacheFolder: folder) }
        func read() throws -> (Data, Int) {
            let mailbox = try mailbox()
            _ = try mailbox.folders()
            return (try mailbox.open(path).read(upTo: 100), mailbox.requestCounts.get)
        }
        try mailbox().write(path, replacing: true) { try $0(Data("head".utf8)) }
        #expect(try read() == (Data("head".utf8), 0))
        let files = try #require(FileManager.default.enumerator(atPath: folder)).compactMap { $0 as? String }
        let file = try #require(files.first { $0.hasSuffix("_head") })
        let whole = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + file))
        for damaged in [whole.dropLast(), whole + [1], Data(), Data("other\n".utf8)] {
            try damaged.write(to: URL(fileURLWithPath: folder + "/" + file))
            let (data, gets) = try read()
            #expect(data == Data("head".utf8) && gets == 1)
        }
        // What somebody else wrote is another version.
        try server.mailbox(prefix: "p").write(path, replacing: true) { try $0(Data("next".utf8)) }
        #expect(try read() == (Data("next".utf8), 1) && read().1 == 0)
        try server.mailbox(prefix: "p").remove(path)
        _ = try mailbox().folders()
        #expect(!FileManager.default.fileExists(atPath: folder + "/" + file))
    }
}
