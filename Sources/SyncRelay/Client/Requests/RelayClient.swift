import Foundation
import SyncBucket
import SyncEngine
import Synchronization

/// Asks a relay: repeats requests when that may help, counts them, and says what is wrong otherwise.
///
/// It blocks the thread that asks, and may be used from several at once.
public final class RelayClient: Sendable {
    /// How a relay is used.
    public struct Options: Sendable {
        /// How long a connection may take to come about, in seconds.
        public var connectSeconds: Int64 = 10
        /// How long the relay may be silent in the midst of a request, and take none of what is sent, in seconds.
        public var silenceSeconds: Int64 = 60
        /// The most attempts at one request.
        public var attemptCountMax = 6
        /// A file of certificates in PEM that relays' chains may end in, instead of those of the system. A certificate
        /// that is known by its fingerprint needs none.
        public var trustRootsFile: String?
        /// Called before each request and several times a second while one waits; an error that it throws cancels.
        public var check: @Sendable () throws -> Void = {}
        /// Called before each pause after which a request is repeated: why it is, and how many seconds the pause takes.
        public var onRetry: @Sendable (_ error: RelayError, _ seconds: Double) -> Void = { _, _ in }
        /// The same, with how many seconds the attempt took that failed: a relay that hangs is silent before the pause.
        package var onRetryAfter: @Sendable (_ error: RelayError, _ took: Double, _ pause: Double) -> Void = {
            _, _, _ in
        }
        /// Time and randomness.
        public var environment = SyncEnvironment.system

        /// Makes the default options.
        public init() {}
    }

    /// What a request gave.
    struct Outcome {
        let answer: RelayAnswer
        /// Whether an earlier attempt had no answer that says that nothing was done: the request may have been carried
        /// out before.
        let isRepeated: Bool
    }

    /// Where the relay is.
    public let address: RelayAddress
    let options: Options
    let carrier: any RelayCarrier
    let retry: RequestRetry
    private let counts = Mutex(RelayRequestCounts())

    /// Makes a client. Nothing is asked before it is used.
    ///
    /// - parameters:
    ///     - address: Where the relay is.
    ///     - options: How it is used.
    public convenience init(_ address: RelayAddress, options: Options = Options()) {
        var retry = RequestRetry(random: options.environment.random)
        retry.attemptCountMax = max(1, options.attemptCountMax)
        self.init(address, options, carrier: RelayHTTP(address, options), retry: retry)
    }

    init(_ address: RelayAddress, _ options: Options, carrier: any RelayCarrier, retry: RequestRetry) {
        (self.address, self.options, self.carrier, self.retry) = (address, options, carrier, retry)
    }

    /// The requests that were sent, repetitions included.
    public var requestCounts: RelayRequestCounts { counts.withLock { $0 } }

    func count(_ kind: RelayRequest.Kind) { counts.withLock { $0.add(kind) } }

    /// Sends a request until there is an answer that counts, unless the user cancels.
    func send(_ request: RelayRequest) throws -> Outcome { try send(request, check: options.check) }

    /// Sends a request until there is an answer that counts.
    ///
    /// - parameter check: Called before each attempt and while one waits; an error that it throws ends it all.
    /// - throws: ``RelayError``; what `check` throws.
    func send(_ request: RelayRequest, check: () throws -> Void) throws -> Outcome {
        var attempts = 0
        var isRepeated = false
        while true {
            try check()
            attempts += 1
            var wish: Double?
            var problem: RelayError
            let start = ContinuousClock.now
            do {
                count(request.kind)
                let answer = try carrier.send(request, check: check)
                if (200..<300).contains(answer.status) || request.accepted.contains(answer.status) {
                    return Outcome(answer: answer, isRepeated: isRepeated)
                }
                let refusal = RelayRefusal(answer)
                let error = refusal.error(address)
                guard refusal.mayPass else { throw error }
                problem = error
                // A gateway that gave up says nothing of what the relay behind it did.
                isRepeated = isRepeated || refusal.status >= 500 || refusal.status == 408
                wish = refusal.retrySeconds
            } catch let failure as RelayCarrierFailure {
                problem = RelayError(.unreachable, failure.reason)
                guard failure.mayPass else { throw RelayError(.failed, failure.reason) }
                isRepeated = true
            }
            guard attempts < retry.attemptCountMax else { throw problem }
            let pause = retry.seconds(after: attempts, wish: wish)
            options.onRetry(problem, pause)
            options.onRetryAfter(problem, (ContinuousClock.now - start) / .seconds(1), pause)
            try retry.sleep(pause, check)
        }
    }
}

/// What a relay says of a request that it did not carry out. None of its own words are taken over: they may say anything.
struct RelayRefusal {
    let status: Int
    let code: RelayProblem.Code?
    /// How long the relay wants to be left alone, in seconds.
    let retrySeconds: Double?
    private let byteCount: Int64?
    private let byteCountMax: Int64?

    init(_ answer: RelayAnswer) {
        status = answer.status
        let problem = try? RelayJSON.decode(RelayProblem.self, from: Array(answer.body))
        code = problem?.code
        (byteCount, byteCountMax) = (problem?.byteCount, problem?.byteCountMax)
        retrySeconds = answer.header("retry-after").flatMap { Double($0) }.flatMap {
            $0.isFinite && $0 >= 0 ? $0 : nil
        }
    }

    /// Whether the same request may succeed a little later.
    var mayPass: Bool {
        switch status {
        case 408, 425, 429, 500, 502, 503, 504: true
        // The bytes were damaged on their way.
        case 400: code == .digestMismatch
        default: false
        }
    }

    /// What it means.
    func error(_ address: RelayAddress) -> RelayError {
        let place = address.authority
        switch status {
        case 401, 403:
            return RelayError(
                .unauthorized, "\(place) knows no channel that this key belongs to",
                hint: "if the relay lost it, it is made again by: syncctl share <store>")
        case 409:
            return RelayError(.conflict, "\(place) has changed meanwhile, or has another key for the channel")
        case 413: return RelayError(.full, "a file is larger than \(place) takes")
        case 507: return RelayError(.full, "\(place) has no room in the channel" + room)
        case 503 where code == .diskFull:
            return RelayError(
                .unreachable, "\(place) has no room on its disk; whoever runs the relay has to make some")
        case 408, 425, 429, 500, 502, 503, 504:
            return RelayError(.unreachable, "\(place) is busy, or can't be used now (HTTP status \(status))")
        default:
            return RelayError(
                .failed, "\(place) refused a request with HTTP status \(status): is it a relay?")
        }
    }

    private var room: String {
        guard let byteCount, let byteCountMax, byteCount >= 0, byteCountMax >= 0 else { return "" }
        return ": it would hold \(byteCount) bytes, and may hold \(byteCountMax)"
    }
}

/// How many requests were sent to a relay, repetitions included.
public struct RelayRequestCounts: Equatable, Sendable, CustomStringConvertible {
    private var numbers: [RelayRequest.Kind: Int] = [:]

    /// The pages of listings.
    public var list: Int { numbers[.list] ?? 0 }
    /// The files, and parts of files, that were read.
    public var get: Int { numbers[.get] ?? 0 }
    /// The files that were written.
    public var put: Int { numbers[.put] ?? 0 }
    /// The removals: one request removes up to 256 files.
    public var remove: Int { numbers[.remove] ?? 0 }
    /// The watches that were begun.
    public var watch: Int { numbers[.watch] ?? 0 }
    /// All of them, those about channels and invitations too.
    public var total: Int { numbers.values.reduce(0, +) }

    /// Makes counts of nothing.
    public init() {}

    mutating func add(_ kind: RelayRequest.Kind) { numbers[kind, default: 0] += 1 }

    /// What was sent after an earlier count.
    public static func - (one: RelayRequestCounts, other: RelayRequestCounts) -> RelayRequestCounts {
        var counts = one
        for (kind, number) in other.numbers { counts.numbers[kind, default: 0] -= number }
        counts.numbers = counts.numbers.filter { $0.value != 0 }
        return counts
    }

    /// For people: `3 requests (1 list, 2 put)`.
    public var description: String {
        let parts = RelayRequest.Kind.allCases.compactMap { kind in
            numbers[kind].map { "\($0) \(kind.rawValue)" }
        }
        return "\(total) requests" + (parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))")
    }
}
