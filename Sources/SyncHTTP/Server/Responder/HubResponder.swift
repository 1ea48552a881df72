import Dispatch
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import SyncEngine
import SyncWire

/// What a request comes with.
struct HubContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// Answers requests.
///
/// Before a device has proved its key, a request costs at most a body of 4 KiB, a MAC, a signature and a
/// look into the register, and so many per second. Everything after that is signed by the device, with
/// a number that counts up in its session: nothing can be replayed or altered on the way.
struct HubResponder: HTTPResponder {
    private static let strangerByteCountMax = 4 << 10

    /// Nearly twice the longest body that devices send. A device that hears of the end of the connection while it still sends
    /// takes that for an error, and not for the answer, so of such bodies the connection goes on.
    static let refusedBodies = RefusedBodyBounds(keptByteCountMax: 32 << 20, seconds: 5)

    let stores: [StoreID: HubStore]
    let fingerprint: [UInt8]
    let limits: HubServer.Limits
    let logger: Logger
    let sessions: SessionBook
    let metrics: ServerMetrics
    private let console: ConsoleResponder
    private let admissions: RateLimit
    private let addresses: AddressRates
    private let readiness: Readiness
    let bodies = BodyBudget()
    let threads = DispatchQueue(label: "SyncHTTP.HubResponder", attributes: .concurrent)

    init(
        stores: [HubStore], fingerprint: [UInt8], limits: HubServer.Limits, logger: Logger,
        metrics: ServerMetrics, console: ConsoleResponder, milliseconds: @escaping @Sendable () -> Int64
    ) {
        self.stores = Dictionary(stores.map { ($0.store, $0) }, uniquingKeysWith: { first, _ in first })
        self.fingerprint = fingerprint
        self.limits = limits
        self.logger = logger
        self.metrics = metrics
        self.console = console
        readiness = Readiness(milliseconds: milliseconds)
        sessions = SessionBook(milliseconds: milliseconds, countMax: limits.sessionCountMax)
        admissions = RateLimit(
            perSecond: limits.admissionsPerSecond, burst: limits.admissionsPerSecond * 10,
            "too many devices ask to be let in; try again in a moment")
        addresses = AddressRates(
            perSecond: limits.addressAdmissionsPerSecond,
            "too many devices ask to be let in from this address; try again in a moment")
    }

    /// Counts what somebody asks who has not proved anything yet.
    ///
    /// - throws: ``RemoteError`` of code `busy`.
    func countStranger(_ context: HubContext) throws {
        try addresses.take(context.channel.remoteAddress)
        try admissions.take()
    }

    func respond(to request: Request, context: HubContext) async throws -> Response {
        let start = ContinuousClock.now
        let path = request.uri.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(
            String.init)
        var response: Response
        do {
            response = try await route(request, path, context)
        } catch {
            response = try refuse(request, error)
        }
        if ConsoleResponder.isResponsible(for: path) { response.protectForBrowsers() }
        // What follows the head of an answer to HEAD is the next answer (RFC 9110, section 9.3.2).
        if request.method == .head { response.body = ResponseBody() }
        let route = Self.routeName(request, response.status.code)
        metrics.count(
            .requests, [("route", route), ("status", String(response.status.code))])
        metrics.count(
            .requestSeconds, [("route", route)], by: (ContinuousClock.now - start) / .seconds(1))
        return response
    }

    private func refuse(_ request: Request, _ error: any Error) throws -> Response {
        let problem = ProblemCoding.problem(error)
        let level: Logger.Level = problem.status >= 500 ? .error : .info
        let metadata: Logger.Metadata = [
            "method": .string(LogText.printable(request.method.rawValue)),
            "path": .string(LogText.printable(request.uri.path)),
            "status": .stringConvertible(problem.status), "problem": .string(problem.title),
            "error": .string(LogText.printable(problem.status == 500 ? "\(error)" : problem.detail)),
        ]
        logger.log(level: level, "a request failed", metadata: metadata)
        return try document(
            problem, HTTPResponse.Status(code: problem.status), "application/problem+json")
    }

    private func route(
        _ request: Request, _ path: [String], _ context: HubContext
    ) async throws -> Response {
        // The first one is the authority by now; what a proxy before this server went by may be another one.
        if let host = HTTPField.Name("host"), request.headers.contains(host) {
            throw RemoteError(.malformed, "the request names two hosts")
        }
        switch (request.method, path) {
        case (.get, ["health"]): return Response(status: .noContent)
        case (.get, ["ready"]):
            let stores = stores
            try await readiness.check {
                try await onThread { for store in stores.values { try store.checkReadiness() } }
            }
            return Response(status: .noContent)
        case (.get, ["openapi.yaml"]):
            return Response(
                status: .ok, headers: [.contentType: "application/yaml"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: OpenAPIDocument.text)))
        case (.get, ["metrics"]) where LocalRequest.isFromHere(request, context.channel):
            return metricsAnswer()
        case (.get, ["v1", "hello"]):
            return try document(Message.Hello(versions: [Message.version], software: "CipherStore"))
        case (.post, ["v1", "challenges"]):
            try countStranger(context)
            return try document(
                Message.Challenge(challenge: ByteText.base64(sessions.challenge())), .created)
        case (_, _) where path.count > 3 && path[0] == "v1" && path[1] == "stores":
            let store = try store(path[2])
            store.traffic.count(requests: 1)
            let response = try await answer(request, context, store, Array(path[3...]))
            store.traffic.count(sent: Int64(response.body.contentLength ?? 0))
            return response
        case (_, _) where ConsoleResponder.isResponsible(for: path):
            return try await console.answer(request, path, context.channel, self)
        case (_, _) where path.first?.hasPrefix("v") == true && path.first != "v1":
            throw RemoteError(
                .unsupportedVersion, "this server speaks version \(Message.version) of the protocol")
        default: throw RemoteError(.notFound, "there is nothing here")
        }
    }

    private func store(_ name: String) throws -> HubStore {
        guard let id = try? Message.identifier(name), let store = stores[id] else {
            throw RemoteError(.noSuchStore, "this server does not serve the database")
        }
        return store
    }

    // MARK: Strangers

    func enrol(_ request: Request, _ context: HubContext, _ store: HubStore) async throws -> Response {
        try countStranger(context)
        let message = try decode(
            Message.EnrolmentRequest.self,
            from: try await body(of: request, store, upTo: Self.strangerByteCountMax))
        let key = try Message.bytes(message.key, count: 32, "the key")
        let secret = try Message.bytes(message.invite, count: InviteLink.secretByteCount, "the invitation")
        let challenge = try Message.bytes(
            message.challenge, count: SessionBook.challengeByteCount, "the challenge")
        try sessions.check(challenge)
        let text = SignedText.enrolment(
            challenge: challenge, secretHash: DeviceRegister.hash(secret), key: key, store: store.store,
            server: fingerprint)
        try verify(message.signature, of: text, by: key)
        try sessions.answer(challenge)
        let device = try await onThread { try store.enrol(key: key, secret: secret) }
        logger.notice("a device was enrolled", metadata: ["device": "\(LogText.printable(device.label))"])
        return try document(
            Message.Enrolment(device), .created)
    }

    func openSession(
        _ request: Request, _ context: HubContext, _ store: HubStore
    ) async throws -> Response {
        try countStranger(context)
        let message = try decode(
            Message.SessionRequest.self,
            from: try await body(of: request, store, upTo: Self.strangerByteCountMax))
        let key = try Message.bytes(message.key, count: 32, "the key")
        let challenge = try Message.bytes(
            message.challenge, count: SessionBook.challengeByteCount, "the challenge")
        try sessions.check(challenge)
        let text = SignedText.session(
            challenge: challenge, key: key, store: store.store, server: fingerprint)
        try verify(message.signature, of: text, by: key)
        try sessions.answer(challenge)
        let device = try await onThread {
            let device = try store.register.admitted(key: key)
            try store.register.noteSeen(device)
            return device
        }
        let session = sessions.open(store: store.store, key: key)
        return try document(
            Message.Session(
                session: ByteText.base64(session.token), label: device.label, readOnly: device.isReadOnly,
                scope: device.names.map(Message.Scope.init), codecs: [Message.codec]),
            .created)
    }

    /// Reads a body, and counts it.
    func body(of request: Request, _ store: HubStore, upTo limit: Int) async throws -> [UInt8] {
        let body = try await RequestReading(limits).body(of: request, upTo: limit)
        store.traffic.count(received: Int64(body.count))
        return body
    }

    func verify(_ signature: String, of text: [UInt8], by key: [UInt8]) throws {
        guard let bytes = ByteText.bytes(base64: signature), DeviceKey.isValid(bytes, of: text, by: key)
        else {
            throw RemoteError(.invalidSignature, "the request is not signed by the device for this server")
        }
    }
}
