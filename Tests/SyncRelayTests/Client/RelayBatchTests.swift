import CipherStore
import Foundation
import Synchronization
import Testing

@testable import SyncEngine
@testable import SyncRelay

@Suite struct RelayBatchTests {
    private let folder = String(repeating: "0a", count: 16)
    private let relay = MemoryRelay()
    private let channel = RelayChannel.random()
    private var head: MailboxPath { MailboxPath(folder: folder, name: "head") }

    private func bundle(_ number: Int) -> MailboxPath {
        MailboxPath(folder: folder, name: "\(number).bundle")
    }

    private func write(
        _ mailbox: any Mailbox, _ path: MailboxPath, _ bytes: [UInt8], replacing: Bool = false
    ) throws {
        try mailbox.write(path, replacing: replacing) { try $0(Data(bytes)) }
    }

    private func names(_ mailbox: RelayMailbox) throws -> [String] {
        _ = try mailbox.folders()
        return try mailbox.files(in: folder).map(\.name).sorted()
    }

    @Test func allOrNothingIsShown() throws {
        let (mailbox, other) = (try relay.mailbox(channel), try relay.mailbox(channel))
        for number in 0..<2 { try write(mailbox, bundle(number), [1]) }
        _ = try mailbox.folders()
        let before = mailbox.requestCounts
        let batch = mailbox.batch()
        try write(batch, bundle(2), [1, 2])
        try write(batch, head, [1, 2, 3], replacing: true)
        try batch.remove([bundle(0), bundle(77)])
        #expect(try names(other) == ["0.bundle", "1.bundle"])
        try batch.commit()
        #expect((mailbox.requestCounts - before).description == "1 requests (1 put)")
        #expect(try names(other) == ["1.bundle", "2.bundle", "head"])
        // Versions and moment are known without another look.
        #expect(mailbox.known?.position == 5 && mailbox.seen?.position == 5)
        #expect(try mailbox.files(in: folder).map(\.byteCount).sorted() == [1, 2, 3])
        let read = mailbox.requestCounts
        #expect(try mailbox.open(head).read(upTo: 9) == Data([1, 2, 3]))
        #expect((mailbox.requestCounts - read).total == 0)
        #expect(try mailbox.open(bundle(2)).read(upTo: 9) == Data([1, 2]))
        // A second commit has nothing to do.
        let after = relay.requests.count
        try batch.commit()
        #expect(relay.requests.count == after)
    }

    @Test func whatIsWrittenAndRemovedIsNotThere() throws {
        let (mailbox, other) = (try relay.mailbox(channel), try relay.mailbox(channel))
        try write(mailbox, head, [1], replacing: true)
        _ = try mailbox.folders()
        let batch = mailbox.batch()
        try write(batch, bundle(1), [1])
        try write(batch, head, [2], replacing: true)
        try batch.remove([bundle(1), head])
        try write(batch, bundle(2), [1])
        try batch.commit()
        #expect(try names(other) == ["2.bundle"])
        #expect(mailbox.known == other.known && mailbox.known?.position == 3)
    }

    @Test func whatOthersDidMeanwhileIsLookedAt() throws {
        let (mailbox, other) = (try relay.mailbox(channel), try relay.mailbox(channel))
        _ = try mailbox.folders()
        try write(other, bundle(9), [9])
        let batch = mailbox.batch()
        try write(batch, bundle(1), [1])
        try write(batch, head, [1], replacing: true)
        try batch.commit()
        #expect(mailbox.known == nil)
        #expect(try names(mailbox) == ["1.bundle", "9.bundle", "head"])
        #expect(mailbox.known?.position == 3 && mailbox.takeEvents().isEmpty)
    }

    @Test func aNameThatIsTakenRefusesAll() throws {
        let mailbox = try relay.mailbox(channel)
        try write(mailbox, bundle(1), [1])
        _ = try mailbox.folders()
        let batch = mailbox.batch()
        try write(batch, bundle(1), [2])
        try write(batch, head, [1], replacing: true)
        let error = #expect(throws: MailboxError.self) { try batch.commit() }
        #expect(error?.code == .exists)
        #expect(try names(mailbox) == ["1.bundle"])
    }

    @Test func anAnswerThatIsLostIsAskedForAgain() throws {
        let mailbox = try relay.mailbox(channel)
        try write(mailbox, bundle(0), [1])
        _ = try mailbox.folders()
        let count = Mutex(0)
        relay.lie { request, answer in
            guard request.path.hasSuffix("/changes"),
                count.withLock({
                    $0 += 1
                    return $0
                }) == 1
            else {
                return answer
            }
            throw RelayCarrierFailure(reason: "cut")
        }
        let batch = mailbox.batch()
        try write(batch, bundle(1), [1])
        try write(batch, head, [1], replacing: true)
        try batch.remove(bundle(0))
        try batch.commit()
        // The bundle has an earlier version than the positions seem to say, so nothing is taken for known.
        #expect(mailbox.known == nil && count.withLock { $0 } == 2)
        #expect(try names(mailbox) == ["1.bundle", "head"])
        #expect(try mailbox.open(bundle(1)).read(upTo: 9) == Data([1]))
        #expect(mailbox.takeEvents().isEmpty)
    }

    @Test(arguments: [RelayPosition.max, .min, -1, 0])
    func aPositionThatCannotBeIsNotBelieved(position: RelayPosition) throws {
        let mailbox = try relay.mailbox(channel)
        try write(mailbox, bundle(0), [1])
        _ = try mailbox.folders()
        relay.lie { request, answer in
            guard request.path.hasSuffix("/changes") else { return answer }
            return RelayAnswer(status: 200, headers: [], body: Data("{\"position\":\(position)}".utf8))
        }
        let batch = mailbox.batch()
        try write(batch, bundle(1), [1])
        try write(batch, head, [1], replacing: true)
        try? batch.commit()
        #expect(mailbox.known == nil)
        relay.lie(nil)
        #expect(try names(mailbox) == ["0.bundle", "1.bundle", "head"])
    }

    @Test func whatIsTooLargeToWaitIsWrittenAtOnce() throws {
        let mailbox = try relay.mailbox(channel)
        _ = try mailbox.folders()
        let batch = mailbox.batch()
        try write(batch, bundle(1), [1])
        let piece = Data(count: 1 << 20)
        try batch.write(bundle(2), replacing: false) { sink in for _ in 0..<3 { try sink(piece) } }
        try write(batch, head, [1], replacing: true)
        #expect(relay.channel.files.count == 2)
        try batch.commit()
        #expect(relay.requests.filter { !$0.hasPrefix("GET") }.count == 4)
        #expect(try names(mailbox) == ["1.bundle", "2.bundle", "head"] && mailbox.known?.position == 3)
    }

    @Test func manyRemovalsTakeSeveralRequests() throws {
        let mailbox = try relay.mailbox(channel)
        let paths = (0..<300).map(bundle)
        for path in paths { try write(mailbox, path, [1]) }
        _ = try mailbox.folders()
        let batch = mailbox.batch()
        try write(batch, head, [1], replacing: true)
        let before = mailbox.requestCounts
        try batch.remove(paths)
        try batch.commit()
        #expect((mailbox.requestCounts - before).total == 2)
        #expect(try names(mailbox) == ["head"])
        let error = #expect(throws: MailboxError.self) {
            try batch.remove(MailboxPath(folder: "x", name: "y"))
        }
        #expect(error?.code == .failed)
    }

    /// Whoever looks at a channel between two requests sees no bundle that no head lists.
    @Test func noBundleIsSeenWithoutItsHead() throws {
        let place = NSTemporaryDirectory() + "relay-batch-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: place) }
        var configuration = Configuration()
        configuration.encryption = .required
        configuration.usePassphrase(try Passphrase("store"))
        let queue = try DatabaseQueue(path: "\(place)/a.db", configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT)") }
        let synchronizer = try Synchronizer(queue, tables: ["note"])
        let writer = try relay.mailbox(channel)
        var transport = try channel.key.transport(through: writer)
        transport.compaction.bundleCountMax = 3
        for number in 0..<8 {
            try queue.write { try $0.execute(sql: "INSERT INTO note VALUES (randomblob(16), 'x')") }
            let before = writer.requestCounts
            _ = try synchronizer.run(.both, transport)
            let cost = writer.requestCounts - before
            #expect(cost.put == 1 && cost.remove == 0 && cost.list <= 1, "\(number): \(cost)")
            let other = try relay.mailbox(channel)
            let contents = try FolderContents(channel.key.transport(through: other), store: nil)
            #expect(!contents.bundles.isEmpty && contents.bundles.allSatisfy(\.isListed))
        }
    }
}
