import Foundation
import SyncEngine
import TestSupport
import Testing

@testable import SyncBucket

@Suite(.anyEngine) struct RetryTests {
    private let empty = ScriptedCarrier.Step.status(200, [], "<ListBucketResult></ListBucketResult>")

    @Test func aServerThatIsBusyIsAskedAgainLaterEachTime() throws {
        let script = try ScriptedMailbox(
            .error(503, "SlowDown"), .error(500, "InternalError"), .lost, .status(429), empty)
        #expect(try script.mailbox.folders().isEmpty)
        #expect(script.pauses.all.map { ($0 * 1000).rounded() / 1000 } == [0.2, 0.4, 0.8, 1.6])
        #expect(script.mailbox.requestCounts.list == 5)
        #expect(script.mailbox.requestCounts.description == "5 requests (5 list)")
    }

    @Test func thosePausesAreAtRandom() throws {
        let script = try ScriptedMailbox(.error(503, "SlowDown"), .lost, empty, random: 1 << 62)
        _ = try script.mailbox.folders()
        #expect(script.pauses.all == [0.05, 0.1])
    }

    @Test func theServerSaysHowLongToWaitWithinBounds() throws {
        let script = try ScriptedMailbox(
            .error(503, "SlowDown", [("Retry-After", "7")]),
            .error(503, "SlowDown", [("retry-after", "86400")]),
            .error(503, "SlowDown", [("retry-after", "-1")]),
            .error(503, "SlowDown", [("retry-after", "nan")]),
            empty)
        _ = try script.mailbox.folders()
        #expect(script.pauses.all.map { ($0 * 1000).rounded() / 1000 } == [7, 20, 0.8, 1.6])
    }

    @Test func afterSomeAttemptsItIsOutOfReach() throws {
        let script = try ScriptedMailbox(.lost, .lost, .lost, .lost, .lost, .error(503, "SlowDown"), empty)
        let error = #expect(throws: MailboxError.self) { try script.mailbox.folders() }
        #expect(error?.code == .unreachable && error?.message.contains("HTTP status 503 SlowDown") == true)
        #expect(script.carrier.requests.count == 6)
    }

    @Test func aFailureThatCannotPassIsNotCalledOutOfReach() throws {
        let huge = CarrierFailure(reason: "the answer has over 1 bytes", mayPass: false)
        let script = try ScriptedMailbox(.failure(huge), empty)
        // So a synchronization goes on without the file.
        let error = #expect(throws: MailboxError.self) { try script.mailbox.open(script.path) }
        #expect(error?.code == .failed && script.carrier.requests.count == 1)
    }

    @Test func aCertificateThatNobodyVouchesForIsNamedAndNotAskedForAgain() throws {
        let unknown = CarrierFailure(reason: "no certificate", mayPass: false, isOfCertificate: true)
        let script = try ScriptedMailbox(.failure(unknown), empty)
        let error = #expect(throws: BucketError.self) { try script.mailbox.folders() }
        #expect(error?.code == .wrongCertificate && error?.hint?.contains("AWS_CA_BUNDLE") == true)
        #expect(error?.mayPass == true && script.carrier.requests.count == 1)
    }

    @Test func whatCannotPassIsNotRepeated() throws {
        let script = try ScriptedMailbox(.error(403, "AccessDenied"), empty)
        #expect(throws: BucketError.self) { try script.mailbox.folders() }
        #expect(script.carrier.requests.count == 1 && script.pauses.all.isEmpty)
    }

    @Test func aRequestThatIsNoLongerWantedIsNotRepeated() throws {
        struct Stopped: Error {}
        var options = BucketMailbox.Options()
        let calls = PauseList()
        options.check = {
            calls.add(1)
            if calls.all.count > 2 { throw Stopped() }
        }
        let carrier = ScriptedCarrier([.lost, empty])
        let mailbox = BucketMailbox(
            try BucketAddress(bucket: "notes"), CredentialSource(try TestCredentials.usual), carrier,
            RequestRetry(sleep: { _, check in try check() }, random: { 0 }), options)
        #expect(throws: Stopped.self) { try mailbox.folders() }
        #expect(carrier.requests.count == 1)
    }

    // MARK: Writes whose answer was lost

    private let digest = RequestSignature.digest(Data("text".utf8))

    @Test func aFileThatTheFirstAttemptWroteIsNotSomebodyElses() throws {
        let script = try ScriptedMailbox(
            .lost, .error(412, "PreconditionFailed"),
            .status(200, [("x-amz-meta-sha256", digest), ("etag", "\"t\"")]))
        try script.write("text")
        #expect(script.carrier.requests.map(\.method) == ["PUT", "PUT", "HEAD"])
        #expect(script.carrier.requests[0].headers.contains { $0.name == "if-none-match" && $0.value == "*" })
    }

    @Test func aFileOfSomebodyElseIsNotTakenForOnesOwn() throws {
        for steps in [
            [.error(412, "PreconditionFailed")],
            [.lost, .error(412, "PreconditionFailed"), .status(200, [("x-amz-meta-sha256", "00")])],
            [.lost, .error(412, "PreconditionFailed"), .status(404)],
            // Nothing was done by an attempt that was turned away.
            [.error(429, "SlowDown"), .error(412, "PreconditionFailed")],
        ] as [[ScriptedCarrier.Step]] {
            let carrier = ScriptedCarrier(steps)
            let mailbox = BucketMailbox(
                try BucketAddress(bucket: "notes"), CredentialSource(try TestCredentials.usual), carrier,
                RequestRetry(sleep: { _, _ in }, random: { 0 }), BucketMailbox.Options())
            let path = MailboxPath(folder: "0a", name: "1-2.bundle")
            let error = #expect(throws: MailboxError.self) {
                try mailbox.write(path, replacing: false) { try $0(Data("text".utf8)) }
            }
            #expect(error?.code == .exists)
            #expect(carrier.requests.count == steps.count)
        }
    }

    @Test func aServerWithoutConditionsIsAskedWithoutThem() throws {
        let script = try ScriptedMailbox(.error(501, "NotImplemented"), .status(200), .status(200))
        try script.write("text")
        try script.write("text")
        let conditions = script.carrier.requests.map { $0.headers.contains { $0.name == "if-none-match" } }
        #expect(conditions == [true, false, false])
    }

    @Test func aWriteThatIsRefusedWithoutTheConditionTooIsNotTakenForDone() throws {
        let script = try ScriptedMailbox(
            empty, .error(501, "NotImplemented"), .error(501, "NotImplemented"), empty)
        _ = try script.mailbox.folders()
        let error = #expect(throws: MailboxError.self) { try script.write("text") }
        #expect(error?.code == .failed && error?.message.contains("501") == true)
        let files = try script.mailbox.files(in: script.path.folder)
        #expect(files.isEmpty)
        #expect(script.carrier.requests.map(\.method) == ["GET", "PUT", "PUT", "GET"])
    }

    @Test func aServerWithoutConditionsPutsPartsTogetherWithoutThem() throws {
        let part = ScriptedCarrier.Step.status(200, [("etag", "\"p\"")])
        let script = try ScriptedMailbox(
            .status(
                200, [],
                "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>"),
            part, part, .error(501, "NotImplemented"),
            .status(
                200, [],
                "<CompleteMultipartUploadResult><ETag>t</ETag></CompleteMultipartUploadResult>"),
            .status(200))
        let piece = Data(count: MailboxPath.pieceByteCountMax)
        try script.mailbox.write(script.path, replacing: false) { sink in
            for _ in 0..<(Upload.partByteCount / piece.count + 1) { try sink(piece) }
        }
        try script.write("text")
        let requests = script.carrier.requests
        #expect(requests.map(\.method) == ["POST", "PUT", "PUT", "POST", "POST", "PUT"])
        let conditions = requests.map { $0.headers.contains { $0.name == "if-none-match" } }
        #expect(conditions == [false, false, false, true, false, false])
        // The parts that were sent are named again.
        #expect(requests[3].body == requests[4].body && requests[3].url == requests[4].url)
    }

    /// The server has answered 200 before it knew that.
    @Test(arguments: ["InternalError", "SlowDown"]) func partsAreNotSentAgainWhenPuttingThemTogetherFails(
        code: String
    ) throws {
        let part = ScriptedCarrier.Step.status(200, [("etag", "\"p\"")])
        let script = try ScriptedMailbox(
            .status(
                200, [],
                "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>"),
            part, part, .error(200, code),
            .status(
                200, [],
                "<CompleteMultipartUploadResult><ETag>t</ETag></CompleteMultipartUploadResult>"))
        let piece = Data(count: MailboxPath.pieceByteCountMax)
        try script.mailbox.write(script.path, replacing: false) { sink in
            for _ in 0..<(Upload.partByteCount / piece.count + 1) { try sink(piece) }
        }
        let requests = script.carrier.requests
        #expect(requests.map(\.method) == ["POST", "PUT", "PUT", "POST", "POST"])
        #expect(script.pauses.all.count == 1)
        // It may take a storage minutes.
        #expect(requests[0].seconds < 120 && requests[3].seconds >= 600)
    }

    @Test func aServerThatRemovesOneByOneIsAskedOneByOne() throws {
        let script = try ScriptedMailbox(
            .error(501, "NotImplemented"), .status(204), .status(404), .status(204), .status(204))
        let paths = ["a", "b"].map { MailboxPath(folder: script.path.folder, name: $0) }
        try script.mailbox.remove(paths)
        try script.mailbox.remove(paths)
        #expect(script.carrier.requests.map(\.method) == ["POST", "DELETE", "DELETE", "DELETE", "DELETE"])
    }

    @Test(arguments: ["RequestTimeout", "IncompleteBody", "ExpiredToken", "TokenRefreshRequired"])
    func aRemovalThatFailsInPassingIsNoLackOfTheServer(code: String) throws {
        let removed = ScriptedCarrier.Step.status(200, [], "<DeleteResult></DeleteResult>")
        let script = try ScriptedMailbox(.error(400, code), removed, removed)
        let paths = ["a", "b"].map { MailboxPath(folder: script.path.folder, name: $0) }
        try script.mailbox.remove(paths)
        try script.mailbox.remove(paths)
        #expect(script.carrier.requests.map(\.method) == ["POST", "POST", "POST"])
    }

    @Test func aRemovalWithCredentialsThatHaveEndedIsRefused() throws {
        let script = try ScriptedMailbox(
            .error(400, "ExpiredToken"), .error(400, "ExpiredToken"), .status(204), .status(204))
        let paths = ["a", "b"].map { MailboxPath(folder: script.path.folder, name: $0) }
        let error = #expect(throws: BucketError.self) { try script.mailbox.remove(paths) }
        #expect(error?.code == .credentialsRefused && script.carrier.requests.count == 2)
    }

    @Test func aRemovalOfSomeFilesOnlyIsAnError() throws {
        let script = try ScriptedMailbox(
            .status(
                200, [], "<DeleteResult><Error><Key>a</Key><Code>AccessDenied</Code></Error></DeleteResult>"))
        let paths = ["a", "b"].map { MailboxPath(folder: script.path.folder, name: $0) }
        let error = #expect(throws: MailboxError.self) { try script.mailbox.remove(paths) }
        #expect(error?.code == .notPermitted)
    }
}
