import Foundation
import SyncEngine
import Synchronization

@testable import SyncBucket

/// Credentials of tests.
enum TestCredentials {
    static let secret = "kestrel/4711+secret"
    static let token = "kestrel/4711+token"

    static var usual: BucketCredentials {
        get throws { try BucketCredentials(keyID: "KEYID", secretKey: secret, sessionToken: token) }
    }
}

/// Answers requests from a list, and keeps them.
final class ScriptedCarrier: BucketCarrier {
    /// What happens to a request.
    enum Step: Sendable {
        case answer(BucketAnswer)
        case failure(CarrierFailure)
    }

    private let steps: Mutex<[Step]>
    private let kept = Mutex<[SignedRequest]>([])

    init(_ steps: [Step]) { self.steps = Mutex(steps) }

    var requests: [SignedRequest] { kept.withLock { $0 } }

    func send(_ request: SignedRequest, check: () throws -> Void) throws -> BucketAnswer {
        try check()
        kept.withLock { $0.append(request) }
        switch steps.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
        case .answer(let answer)?: return answer
        case .failure(let failure)?: throw failure
        case nil: throw CarrierFailure(reason: "nobody answers")
        }
    }
}

extension ScriptedCarrier.Step {
    static func status(_ status: Int, _ headers: [(String, String)] = [], _ body: String = "") -> Self {
        .answer(
            BucketAnswer(
                status: status, headers: headers.map { (name: $0.0, value: $0.1) }, body: Data(body.utf8)))
    }

    static func error(_ status: Int, _ code: String, _ headers: [(String, String)] = [], _ more: String = "")
        -> Self
    {
        .status(status, headers, "<Error><Code>\(code)</Code><Message>secret words</Message>\(more)</Error>")
    }

    static let lost = Self.failure(CarrierFailure(reason: "the connection failed"))
}

/// A mailbox whose requests are answered from a list.
struct ScriptedMailbox {
    let carrier: ScriptedCarrier
    let mailbox: BucketMailbox
    let pauses = PauseList()
    let path = MailboxPath(folder: String(repeating: "0a", count: 16), name: "1-2.bundle")

    init(_ steps: ScriptedCarrier.Step..., random: UInt64 = .max) throws {
        carrier = ScriptedCarrier(steps)
        let pauses = pauses
        let retry = RequestRetry(
            sleep: { seconds, check in
                pauses.add(seconds)
                try check()
            }, random: { random })
        mailbox = BucketMailbox(
            try BucketAddress(bucket: "notes", endpoint: "https://s3.example.com"),
            CredentialSource(try TestCredentials.usual), carrier, retry, BucketMailbox.Options())
    }

    func write(_ text: String, replacing: Bool = false) throws {
        try mailbox.write(path, replacing: replacing) { try $0(Data(text.utf8)) }
    }
}

/// The pauses that were asked for, none of which was made.
final class PauseList: Sendable {
    private let list = Mutex<[Double]>([])

    var all: [Double] { list.withLock { $0 } }

    func add(_ seconds: Double) { list.withLock { $0.append(seconds) } }
}
