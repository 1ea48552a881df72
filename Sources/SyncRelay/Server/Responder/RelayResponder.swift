import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import SyncHTTP

/// What a request comes with.
struct RelayContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// Who counts as one client for bounds.
    let address: String

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
        address = AddressRates.name(source.channel.remoteAddress)
    }
}

/// Answers requests.
///
/// Whoever has no token costs a look into the storage and nothing else: no body is read before the token was checked, and
/// nothing is kept of the request.
struct RelayResponder: HTTPResponder {
    let storage: any RelayStorage
    let options: RelayServer.Options
    let watches: RelayWatches
    let logger: Logger
    let metrics = RelayMetrics()
    let traffic = RelayTraffic()
    let held: HeldBytes
    let heldAnswers: HeldBytes
    let pageReader: RelayPageReader
    private let pages = Self.pageRates()
    private let requests: RelayRates
    private let wrongTokens: RelayRates
    let newChannels: RelayRates

    var limits: RelayServer.Limits { options.limits }

    init(
        storage: any RelayStorage, options: RelayServer.Options, watches: RelayWatches,
        connections: RelayConnections, certificate: ReloadableCertificate?, logger: Logger
    ) {
        self.storage = storage
        self.options = options
        self.watches = watches
        self.logger = logger
        let limits = options.limits
        held = HeldBytes(countMax: limits.heldByteCountMax, addressCountMax: limits.addressHeldByteCountMax)
        heldAnswers = HeldBytes(
            countMax: limits.heldAnswerByteCountMax, addressCountMax: limits.addressHeldAnswerByteCountMax,
            "too many answers wait to be read; try again in a moment")
        pageReader = RelayPageReader(
            storage: storage, options: options,
            sources: .init(
                watches: watches, connections: connections, held: held, metrics: metrics, traffic: traffic,
                certificate: certificate))
        requests = RelayRates(
            perSecond: limits.requestsPerSecond, burst: limits.requestBurst,
            "too many requests come from this address; try again in a moment")
        wrongTokens = RelayRates(
            perSecond: limits.wrongTokensPerSecond, burst: limits.wrongTokenBurst,
            "too many requests with a wrong token come from this address; try again in a moment")
        newChannels = RelayRates(
            perSecond: limits.newChannelsPerSecond, burst: limits.newChannelBurst,
            "too many channels are made from this address; try again in a moment")
    }

    func respond(to request: Request, context: RelayContext) async throws -> Response {
        let start = ContinuousClock.now
        var route = RelayRoute(request)
        if route.isLocal && !(options.showsPage && LocalRequest.isFromHere(request, context.channel)) {
            route = .none
        }
        var response: Response
        do {
            if case .page = route {
                try pages.take(context.address)
                response = try await answer(request, route, context)
            } else {
                try requests.take(context.address)
                response = try await answer(request, route, context)
                // A file counts piece by piece.
                if !route.isFile { response = try counted(response, context) }
            }
        } catch {
            response = try refuse(route, error)
        }
        if case .page = route { response.protectForBrowsers() }
        // What follows the head of an answer to HEAD is the next answer (RFC 9110, section 9.3.2).
        if request.method == .head { response = response.createHeadResponse() }
        count(response, route, start)
        return response
    }

    private func count(_ response: Response, _ route: RelayRoute, _ start: ContinuousClock.Instant) {
        let status = Int(response.status.code)
        metrics.count(.requests, [("request", route.kind), ("status", String(status))])
        metrics.count(
            .requestSeconds, [("request", route.kind)], by: (ContinuousClock.now - start) / .seconds(1))
        if case .page = route { return }
        // The bytes of a file are counted as they go.
        let isFile = route.isFile && status < 400
        traffic.countAnswer(status, byteCount: isFile ? 0 : response.body.contentLength ?? 0)
    }

    private func answer(
        _ request: Request, _ route: RelayRoute, _ context: RelayContext
    ) async throws -> Response {
        switch route {
        case .health: return try await health()
        case .metrics: return try await metricsAnswer()
        case .page(let part): return try await page(part)
        case .makeChannel(let channel): return try await makeChannel(channel, request, context)
        case .invitation(let invitation): return try await takeInvitation(invitation, context)
        case .channel(let channel, let action):
            try await authorize(request, channel, action.access, context)
            return try await answer(request, channel, action, context)
        case .malformed(let message): throw RelayProblem(.malformed, message)
        case .none: throw RelayProblem(.missing, "there is nothing here")
        }
    }

    private func answer(
        _ request: Request, _ channel: RelayChannelID, _ action: RelayRoute.Action, _ context: RelayContext
    ) async throws -> Response {
        switch action {
        case .state: return try document(try await storage.state(of: channel))
        case .remove:
            try await storage.removeChannel(channel)
            return Response(status: .noContent)
        case .list: return try await list(channel, request)
        case .watch: return try await watch(channel, request, context)
        case .change: return try await change(channel, request, context)
        case .readFile(let file): return try await read(file, channel, request, context)
        case .writeFile(let file): return try await write(file, channel, request, context)
        case .removeFile(let file):
            let result = try await storage.change(channel, [.remove(file)])
            return try document(RelayPlace(position: result.position))
        case .leaveInvitation(let invitation):
            return try await leaveInvitation(invitation, channel, request, context)
        case .removeInvitation(let invitation):
            try await storage.removeInvitation(invitation, of: channel)
            return Response(status: .noContent)
        }
    }

    // MARK: Tokens

    private static let nobody = RelayRegistration(
        readToken: RelayToken.random().digest, writeToken: RelayToken.random().digest)

    /// Checks the token of a request.
    ///
    /// - throws: ``RelayProblem``: `unauthorized`, the same for a wrong token and for a channel that is not there; `busy`.
    private func authorize(
        _ request: Request, _ channel: RelayChannelID, _ access: RelayRoute.Access, _ context: RelayContext
    ) async throws {
        let digest = request.headers[.authorization].flatMap { RelayToken(authorization: $0) }?.digest
        // A channel that is not there takes as long as one that is.
        let known = try await storage.registration(of: channel)
        let registration = known ?? Self.nobody
        let mayWrite = digest.map { registration.writeToken.isSame(as: $0) } ?? false
        let mayRead = digest.map { registration.readToken.isSame(as: $0) } ?? false
        guard known != nil, mayWrite || (mayRead && access == .read) else {
            throw try wrongToken(context)
        }
    }

    /// Checks the token that lets somebody make channels.
    func authorizeAdmission(_ request: Request, _ context: RelayContext) throws {
        guard let admission = options.admission else { return }
        let token = request.headers[.authorization].flatMap { RelayToken(authorization: $0) }
        guard let token, token.digest.isSame(as: admission.digest) else { throw try wrongToken(context) }
    }

    /// Counts a request that shows nothing which would be known here.
    ///
    /// - throws: ``RelayProblem`` of code `busy`.
    func countGuess(_ context: RelayContext) throws { try wrongTokens.take(context.address) }

    private func wrongToken(_ context: RelayContext) throws -> RelayProblem {
        try countGuess(context)
        return .noChannel
    }

    // MARK: Refusals

    /// How long a body may be that is left unread on a connection which goes on.
    static let unreadByteCountMax: Int64 = 64 << 10

    private func refuse(_ route: RelayRoute, _ error: any Error) throws -> Response {
        let problem = RelayProblem(storage: error)
        var metadata: Logger.Metadata = [
            "request": .string(route.kind), "status": .stringConvertible(problem.status),
            "problem": .string(problem.code.rawValue),
        ]
        if let cause = problem.cause { metadata["cause"] = .string(cause) }
        // Devices that watch come again while a relay ends, which is no error of it.
        let isError = [.unavailable, .diskFull].contains(problem.code) && problem != RelayWatches.ending
        logger.log(level: isError ? .error : .debug, "a request failed", metadata: metadata)
        return try self.problem(problem)
    }
}
