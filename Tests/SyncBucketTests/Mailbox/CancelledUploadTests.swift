import Foundation
import SyncEngine
import Synchronization
import TestSupport
import Testing

@testable import SyncBucket

@Suite(.anyEngine) struct CancelledUploadTests {
    private struct Stopped: Error {}

    /// A server that begins an upload, and says nothing more. The upload is cancelled while a part is sent.
    private final class SilentCarrier: BucketCarrier {
        private let kept = Mutex<[String]>([])

        var methods: [String] { kept.withLock { $0 } }

        func send(_ request: SignedRequest, check: () throws -> Void) throws -> BucketAnswer {
            kept.withLock { $0.append(request.method) }
            switch request.method {
            case "POST":
                return BucketAnswer(
                    status: 200, headers: [],
                    body: Data(
                        "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>"
                            .utf8))
            case "PUT": throw Stopped()
            default:
                for _ in 0..<100 { try check() }
                throw CarrierFailure(reason: "the server is silent")
            }
        }
    }

    @Test func anUploadThatIsCancelledDoesNotWaitLongForTheServer() throws {
        let carrier = SilentCarrier()
        let clock = Mutex<Int64>(1_700_000_000_000)
        var options = BucketMailbox.Options()
        options.environment = SyncEnvironment(
            milliseconds: {
                clock.withLock { now in
                    now += 1_000
                    return now
                }
            }, random: { 0 })
        let mailbox = BucketMailbox(
            try BucketAddress(bucket: "notes"), CredentialSource(try TestCredentials.usual), carrier,
            RequestRetry(sleep: { _, check in try check() }, random: { 0 }), options)
        let piece = Data(count: MailboxPath.pieceByteCountMax)
        #expect(throws: Stopped.self) {
            try mailbox.write(MailboxPath(folder: "0a", name: "1-2.bundle"), replacing: false) { sink in
                for _ in 0..<(Upload.partByteCount / piece.count + 1) { try sink(piece) }
            }
        }
        // What was begun is ended once, and that is given up when its time is over.
        #expect(carrier.methods == ["POST", "PUT", "DELETE"])
    }
}
