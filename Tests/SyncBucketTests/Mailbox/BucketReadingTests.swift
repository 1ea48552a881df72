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
}
