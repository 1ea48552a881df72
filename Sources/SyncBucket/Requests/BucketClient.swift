import Foundation
import SyncEngine
import Synchronization

/// Asks a bucket: signs requests, repeats them when that may help, counts them, and says what is wrong otherwise.
final class BucketClient: Sendable {
    /// What a request gave.
    struct Outcome {
        let answer: BucketAnswer
        /// Whether an earlier attempt had no answer that says that nothing was done: the request may have been
        /// carried out before.
        let isRepeated: Bool
    }

    let address: BucketAddress
    private let credentials: CredentialSource
    private let carrier: any BucketCarrier
    private let retry: RequestRetry
    /// The time, in milliseconds since 1970.
    let milliseconds: @Sendable () -> Int64
    private let counts = Mutex(BucketRequestCounts())
    /// The least speed that an upload is given time for.
    private static let bytesPerSecond: Int64 = 16 << 10

    init(
        _ address: BucketAddress, credentials: CredentialSource, carrier: any BucketCarrier,
        retry: RequestRetry,
        milliseconds: @escaping @Sendable () -> Int64
    ) {
        self.address = address
        self.credentials = credentials
        self.carrier = carrier
        self.retry = retry
        self.milliseconds = milliseconds
    }

    /// The requests that were sent, repetitions included.
    var requestCounts: BucketRequestCounts { counts.withLock { $0 } }

    /// Sends a request until there is an answer that counts.
    ///
    /// - parameter check: Called before each attempt and while one waits; an error that it throws ends it all.
    /// - throws: ``BucketError``; `MailboxError`; what `check` throws.
    func send(_ request: BucketRequest, check: () throws -> Void) throws -> Outcome {
        var attempts = 0
        var isRepeated = false
        var hasRenewed = false
        while true {
            try check()
            attempts += 1
            var wish: Double?
            let problem: any Error
            switch try sendOnce(request, check) {
            case .success(let answer):
                let outcome = Outcome(answer: answer, isRepeated: isRepeated)
                let isDone = (200..<300).contains(answer.status)
                if isDone && !request.mayFailLate { return outcome }
                let failure = ErrorAnswer(answer)
                if isDone && !failure.mayPass { return outcome }
                // What passes says nothing of the request, whatever its status means otherwise.
                let passes = failure.mayPass || failure.isOfExpiredCredentials
                if request.accepted.contains(answer.status) && !passes { return outcome }
                if failure.isOfExpiredCredentials && !hasRenewed {
                    hasRenewed = true
                    credentials.forget()
                    continue
                }
                problem = failure.error(address, isOfFile: request.isOfFile, now: milliseconds())
                guard failure.mayPass else { throw problem }
                // A gateway that gave up says nothing of what the server behind it did.
                isRepeated = isRepeated || failure.status >= 500 || failure.status == 408
                wish = failure.retryAfterSeconds
            case .failure(let failure):
                problem = self.problem(failure)
                guard failure.mayPass else { throw problem }
                isRepeated = true
            }
            guard attempts < retry.attemptCountMax else { throw problem }
            try retry.sleep(retry.seconds(after: attempts, wish: wish), check)
        }
    }

    /// What it means that no answer came.
    private func problem(_ failure: CarrierFailure) -> any Error {
        guard failure.isOfCertificate else {
            return MailboxError(failure.mayPass ? .unreachable : .failed, failure.reason)
        }
        return BucketError(
            .wrongCertificate, "bucket \(address.bucket): \(failure.reason)",
            hint: "AWS_CA_BUNDLE names a file of certificates that are relied on instead of the system's",
            mayPass: true)
    }

    private func sendOnce(
        _ request: BucketRequest, _ check: () throws -> Void
    ) throws -> Result<BucketAnswer, CarrierFailure> {
        let now = milliseconds()
        let credentials = try credentials.current(now: now, check: check)
        let signed = sign(request, credentials, now: now)
        counts.withLock { $0.add(request.kind) }
        do {
            return .success(try carrier.send(signed, check: check))
        } catch let failure as CarrierFailure {
            return .failure(failure)
        }
    }

    /// The request with its signature, and with nothing of the secret.
    func sign(_ request: BucketRequest, _ credentials: BucketCredentials, now: Int64) -> SignedRequest {
        let timestamp = CanonicalText.timestamp(now)
        let digest = RequestSignature.digest(request.body)
        var headers = request.headers
        headers.append((name: "host", value: address.host))
        headers.append((name: "x-amz-date", value: timestamp))
        headers.append((name: "x-amz-content-sha256", value: digest))
        if let token = credentials.sessionToken {
            headers.append((name: "x-amz-security-token", value: token))
        }
        let path = address.path(of: request.key)
        let signature = RequestSignature(
            method: request.method, path: path, query: request.query, headers: headers, bodyDigest: digest,
            timestamp: timestamp, region: address.region)
        headers.append((name: "authorization", value: signature.authorization(credentials)))
        let query = request.query.isEmpty ? "" : "?" + CanonicalText.query(request.query)
        let byteCount = Int64(request.body.count + request.answerByteCountMax)
        return SignedRequest(
            method: request.method,
            url: address.origin + CanonicalText.encode(path, keepsSlashes: true) + query, headers: headers,
            body: request.body, answerByteCountMax: request.answerByteCountMax,
            seconds: request.seconds + byteCount / Self.bytesPerSecond)
    }
}

extension BucketRequest {
    /// Whether a refusal says something of one file only.
    fileprivate var isOfFile: Bool { kind == .get || kind == .head }
}

/// How many requests were sent, repetitions included. Providers bill by them.
public struct BucketRequestCounts: Equatable, Sendable, CustomStringConvertible {
    private var numbers: [BucketRequest.Kind: Int] = [:]

    /// The pages of listings.
    public var list: Int { numbers[.list] ?? 0 }
    /// The files, and parts of files, that were read.
    public var get: Int { numbers[.get] ?? 0 }
    /// The files that were only asked about.
    public var head: Int { numbers[.head] ?? 0 }
    /// The files that were written at once.
    public var put: Int { numbers[.put] ?? 0 }
    /// The removals: one request removes up to 1,000 files.
    public var delete: Int { numbers[.delete] ?? 0 }
    /// The requests of uploads in parts.
    public var multipart: Int { numbers[.multipart] ?? 0 }
    /// All of them.
    public var total: Int { numbers.values.reduce(0, +) }

    /// Makes counts of nothing.
    public init() {}

    mutating func add(_ kind: BucketRequest.Kind) { numbers[kind, default: 0] += 1 }

    /// What was sent after an earlier count.
    public static func - (one: BucketRequestCounts, other: BucketRequestCounts) -> BucketRequestCounts {
        var counts = one
        for (kind, number) in other.numbers { counts.numbers[kind, default: 0] -= number }
        counts.numbers = counts.numbers.filter { $0.value != 0 }
        return counts
    }

    /// For people: `4 requests (1 list, 1 get, 2 put)`.
    public var description: String {
        let parts = BucketRequest.Kind.allCases.compactMap { kind in
            numbers[kind].map { "\($0) \(kind.rawValue)" }
        }
        return "\(total) requests" + (parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))")
    }
}
