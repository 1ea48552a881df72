import Foundation
import SyncEngine
import TestSupport
import Testing

@testable import SyncBucket

/// What is asked to read files, and what is kept of them.
@Suite(.anyEngine) struct BucketReadingTests {
    private func listing(_ byteCount: Int, tag: String?) -> ScriptedCarrier.Step {
        let path = "\(String(repeating: "0a", count: 16))/1-2.bundle"
        let tag = tag.map { "<ETag>\($0)</ETag>" } ?? ""
        return .status(
            200, [],
            "<ListBucketResult><Contents><Key>\(path)</Key><Size>\(byteCount)</Size>\(tag)</Contents></ListBucketResult>"
        )
    }

    private func content(_ byteCount: Int) -> ScriptedCarrier.Step {
        .status(200, [("etag", "\"t\"")], String(repeating: "x", count: byteCount))
    }

    @Test(arguments: [nil, "t"]) func aListingIsGoodStillAfterItsFilesWereRead(tag: String?) throws {
        let script = try ScriptedMailbox(listing(4, tag: tag), content(4))
        _ = try script.mailbox.folders()
        _ = try script.mailbox.open(script.path)
        let files = try script.mailbox.files(in: script.path.folder)
        #expect(files.map(\.byteCount) == [4] && script.carrier.requests.count == 2)
    }

    @Test func aFileOfAnotherVersionMakesTheListingOld() throws {
        let script = try ScriptedMailbox(listing(4, tag: "s"), content(4), listing(4, tag: "t"))
        _ = try script.mailbox.folders()
        _ = try script.mailbox.open(script.path)
        let files = try script.mailbox.files(in: script.path.folder)
        #expect(files.map(\.version) == ["t"] && script.carrier.requests.count == 3)
    }

    /// More than is kept in memory, and in one range.
    private let large = 5 << 20

    private func read(_ reader: any MailboxReader) throws -> Int {
        var count = 0
        while case let data = try reader.read(upTo: 1 << 20), !data.isEmpty { count += data.count }
        return count
    }

    @Test func aLargeFileIsThereUntilItWasReadToItsEnd() throws {
        let script = try ScriptedMailbox(listing(large, tag: "t"), content(large), content(large))
        _ = try script.mailbox.folders()
        let header = try script.mailbox.open(script.path).read(upTo: 100)
        #expect(header.count == 100)
        let count = try read(script.mailbox.open(script.path))
        #expect(count == large && script.carrier.requests.count == 2)
        // Nothing of it takes up room on the disk any more.
        let again = try read(script.mailbox.open(script.path))
        #expect(again == large && script.carrier.requests.count == 3)
    }

    @Test func aLargeFileThatWasNotReadIsLetGoBeforeTheNextLook() throws {
        let script = try ScriptedMailbox(
            listing(large, tag: "t"), content(large), listing(large, tag: "t"), content(large))
        for _ in 0..<2 {
            _ = try script.mailbox.folders()
            _ = try script.mailbox.open(script.path).read(upTo: 100)
        }
        #expect(script.carrier.requests.count == 4)
    }

    @Test func aFileInMemoryIsReadOnce() throws {
        let small = 1 << 20
        let script = try ScriptedMailbox(listing(small, tag: "t"), content(small), listing(small, tag: "t"))
        for _ in 0..<2 {
            _ = try script.mailbox.folders()
            let count = try read(script.mailbox.open(script.path))
            #expect(count == small)
        }
        #expect(script.carrier.requests.count == 3)
    }
}
