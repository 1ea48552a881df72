import CipherStore
import Foundation
import SyncEngine
import SyncTesting
import Testing

@testable import SyncRelay

@Suite struct RelayMailboxTests {
    private let path = MailboxPath(folder: String(repeating: "0a", count: 16), name: "head")
    private let relay = MemoryRelay()
    private let channel = RelayChannel.random()

    private func write(_ mailbox: any Mailbox, _ path: MailboxPath, _ bytes: [UInt8]) throws {
        try mailbox.write(path, replacing: true) { try $0(Data(bytes)) }
    }

    private func bytes(_ mailbox: any Mailbox, _ path: MailboxPath) throws -> Data {
        let reader = try mailbox.open(path)
        var data = Data()
        while case let piece = try reader.read(upTo: 1 << 20), !piece.isEmpty { data.append(piece) }
        return data
    }

    private func bundle(_ number: Int) -> MailboxPath {
        MailboxPath(folder: path.folder, name: "\(number).bundle")
    }

    @Test(arguments: MailboxContract.Clause.allCases)
    func aChannelKeepsTheContractOfMailboxes(clause: MailboxContract.Clause) throws {
        try MailboxContract.check(clause, of: relay.mailbox(channel))
    }

    @Test func whatDidNotChangeIsAskedForOnce() throws {
        let mailbox = try relay.mailbox(channel)
        let other = try relay.mailbox(channel)
        for number in 0..<20 { try write(other, bundle(number), [1]) }
        #expect(try mailbox.folders() == [path.folder])
        var before = mailbox.requestCounts
        #expect(try mailbox.folders() == [path.folder] && mailbox.files(in: path.folder).count == 20)
        #expect((mailbox.requestCounts - before).total == 1)
        #expect(relay.requests.last?.contains("after=20&epoch=") == true)
        // One that was read is not read again, and is when there is another version.
        try write(other, path, [1, 2])
        _ = try mailbox.folders()
        before = mailbox.requestCounts
        #expect(try bytes(mailbox, path) == Data([1, 2]) && bytes(mailbox, path) == Data([1, 2]))
        #expect((mailbox.requestCounts - before).get == 1)
        try write(other, path, [3])
        _ = try mailbox.folders()
        #expect(try bytes(mailbox, path) == Data([3]))
        #expect((mailbox.requestCounts - before).get == 2)
    }

    @Test func whatIsWrittenHereIsKnownHere() throws {
        let (mailbox, other) = (try relay.mailbox(channel), try relay.mailbox(channel))
        _ = try mailbox.folders()
        try write(mailbox, path, [1])
        #expect(mailbox.known?.position == 1)
        #expect(try mailbox.files(in: path.folder).map(\.byteCount) == [1])
        // What another one wrote before is still asked for.
        try write(other, bundle(1), [1])
        try write(mailbox, path, [1, 2])
        #expect(mailbox.known?.position == 1 && mailbox.seen?.position == 3)
        #expect(try mailbox.folders().count == 1 && mailbox.files(in: path.folder).count == 2)
        #expect(mailbox.known?.position == 3 && mailbox.takeEvents().isEmpty)
    }

    @Test func aFileThatIsOverwrittenHasAnotherVersionInTheListing() throws {
        let (mailbox, other) = (try relay.mailbox(channel), try relay.mailbox(channel))
        func version() throws -> String? { try mailbox.files(in: path.folder).first?.version }
        _ = try mailbox.folders()
        try write(mailbox, path, [1])
        let written = try version()
        _ = try mailbox.folders()
        let listed = try version()
        #expect(written != nil && listed == written)
        try write(other, path, [2])
        _ = try mailbox.folders()
        let overwritten = try version()
        #expect(overwritten != nil && overwritten != written)
    }

    @Test func aRelayThatWasStartedAgainTellsTheSameVersions() throws {
        let mailbox = try relay.mailbox(channel)
        _ = try mailbox.folders()
        try write(mailbox, path, [1])
        let written = try mailbox.files(in: path.folder).first?.version
        relay.channel.epoch = RelayEpoch.random()
        _ = try mailbox.folders()
        let listed = try mailbox.files(in: path.folder).first?.version
        #expect(mailbox.takeEvents() == [.otherEpoch])
        #expect(written != nil && listed == written)
    }

    @Test func filesOfOthersThatAreRemovedGo() throws {
        let (mailbox, other) = (try relay.mailbox(channel), try relay.mailbox(channel))
        for number in 0..<5 { try write(other, bundle(number), [1]) }
        _ = try mailbox.folders()
        try other.remove([bundle(1), bundle(2), bundle(77)])
        try other.remove(bundle(3))
        _ = try mailbox.folders()
        #expect(try mailbox.files(in: path.folder).map(\.name).sorted() == ["0.bundle", "4.bundle"])
        try other.remove([bundle(0), bundle(4)])
        #expect(try mailbox.folders().isEmpty)
        let error = #expect(throws: MailboxError.self) { try mailbox.open(bundle(0)) }
        #expect(error?.code == .missing)
    }

    @Test func manyRemovalsAreFewRequests() throws {
        let mailbox = try relay.mailbox(channel)
        let paths = (0..<600).map(bundle)
        for path in paths { try write(mailbox, path, [1]) }
        let before = mailbox.requestCounts
        try mailbox.remove(paths)
        #expect((mailbox.requestCounts - before).remove == 3)
        #expect(try mailbox.folders().isEmpty)
    }

    @Test func aListingOfSeveralPagesIsReadToItsEnd() throws {
        relay.state.withLock { $0.pageCount = 7 }
        let (mailbox, other) = (try relay.mailbox(channel), try relay.mailbox(channel))
        for number in 0..<50 { try write(other, bundle(number), [1]) }
        _ = try mailbox.folders()
        #expect(try mailbox.files(in: path.folder).count == 50)
        try other.remove((0..<20).map(bundle))
        for number in 50..<60 { try write(other, bundle(number), [1]) }
        _ = try mailbox.folders()
        #expect(try mailbox.files(in: path.folder).count == 40 && mailbox.known?.position == 80)
    }

    @Test func aLargeFileIsReadInRangesOfOneVersion() throws {
        let (mailbox, other) = (try relay.mailbox(channel), try relay.mailbox(channel))
        let piece = Data((0..<MailboxPath.pieceByteCountMax).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try mailbox.write(bundle(1), replacing: false) { sink in for _ in 0..<17 { try sink(piece) } }
        let before = mailbox.requestCounts
        #expect(try bytes(mailbox, bundle(1)).count == 17 << 20)
        #expect((mailbox.requestCounts - before).get == 3)
        // It is replaced between two ranges.
        let path = bundle(1)
        relay.lie { request, answer in
            guard request.kind == .get, answer.header("etag") == "\"1\"" else { return answer }
            try? other.write(path, replacing: true) { sink in for _ in 0..<17 { try sink(piece) } }
            return answer
        }
        let reading = try relay.mailbox(channel)
        let error = #expect(throws: MailboxError.self) { try reading.open(path) }
        #expect(error?.code == .failed && error?.message.contains("replaced while it was read") == true)
    }

    @Test func anotherProcessReadsHeadsOutOfItsCache() throws {
        let folder = NSTemporaryDirectory() + "relay-cache-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var options = RelayMailbox.Options()
        options.cacheFolder = folder
        try write(relay.mailbox(channel), path, [1, 2, 3])
        for expected in [1, 0] {
            let mailbox = try relay.mailbox(channel, options)
            _ = try mailbox.folders()
            #expect(try bytes(mailbox, path) == Data([1, 2, 3]))
            #expect(mailbox.requestCounts.get == expected)
        }
    }

    @Test func aNameThatNoReplicaHasIsRefusedHere() throws {
        let mailbox = try relay.mailbox(channel)
        let before = mailbox.requestCounts
        for path in [
            MailboxPath(folder: "x", name: "head"), MailboxPath(folder: path.folder, name: "../head"),
            MailboxPath(folder: path.folder, name: "a/b?c"), MailboxPath(folder: path.folder, name: ""),
        ] {
            let error = #expect(throws: MailboxError.self) { try write(mailbox, path, [1]) }
            #expect(error?.code == .failed)
        }
        #expect((mailbox.requestCounts - before).total == 0)
    }
}
