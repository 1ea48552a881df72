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
    /// A request of a device that was admitted.
    struct Signed {
        let store: HubStore
        let device: Device
        let body: [UInt8]
    }

    private static let strangerByteCountMax = 4 << 10
    private static let documentByteCountMax = 4 << 20
    /// A header has up to 16 MiB, and so has a greeting.
    private static let frameByteCountMax = 17 << 20
    /// How much one request sends of a download.
    static let rangeByteCountMax: Int64 = 8 << 20

    let stores: [StoreID: HubStore]
    let fingerprint: [UInt8]
    let limits: HubServer.Limits
    let logger: Logger
    private let sessions: SessionBook
    private let admissions: RateLimit
    private let threads = DispatchQueue(label: "SyncHTTP.HubResponder", attributes: .concurrent)

    init(
        stores: [HubStore], fingerprint: [UInt8], limits: HubServer.Limits, logger: Logger,
        milliseconds: @escaping @Sendable () -> Int64
    ) {
        self.stores = Dictionary(stores.map { ($0.store, $0) }, uniquingKeysWith: { first, _ in first })
        self.fingerprint = fingerprint
        self.limits = limits
        self.logger = logger
        sessions = SessionBook(milliseconds: milliseconds, countMax: limits.sessionCountMax)
        admissions = RateLimit(
            perSecond: limits.admissionsPerSecond, burst: limits.admissionsPerSecond * 10)
    }

    func respond(to request: Request, context: HubContext) async throws -> Response {
        do {
            return try await route(request, context)
        } catch {
            return try refuse(request, context, error)
        }
    }

    private func refuse(_ request: Request, _ context: HubContext, _ error: any Error) throws -> Response {
        let problem = ProblemCoding.problem(error)
        let level: Logger.Level = problem.status >= 500 ? .error : .info
        let metadata: Logger.Metadata = [
            "method": .string(request.method.rawValue), "path": .string(request.uri.path),
            "status": .stringConvertible(problem.status), "problem": .string(problem.title),
            "error": .string(problem.status == 500 ? "\(error)" : problem.detail),
        ]
        logger.log(level: level, "a request failed", metadata: metadata)
        // The rest of a body that nobody wants is not waited for.
        if problem.status == 408 || problem.status == 413 {
            let channel = context.channel
            _ = channel.eventLoop.scheduleTask(in: TimeAmount.seconds(1)) { () -> Void in
                channel.close(promise: nil)
            }
        }
        return try document(
            problem, HTTPResponse.Status(code: problem.status), "application/problem+json")
    }

    private func route(_ request: Request, _ context: HubContext) async throws -> Response {
        let path = request.uri.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(
            String.init)
        switch (request.method, path) {
        case (.get, ["health"]): return Response(status: .noContent)
        case (.get, ["ready"]):
            let stores = stores
            try await onThread { for store in stores.values { try store.checkReadiness() } }
            return Response(status: .noContent)
        case (.get, ["v1", "hello"]):
            return try document(Message.Hello(versions: [Message.version], software: "CipherStore"))
        case (.post, ["v1", "challenges"]):
            try admissions.take()
            return try document(
                Message.Challenge(challenge: ByteText.base64(sessions.challenge())), .created)
        case (_, _) where path.count > 3 && path[0] == "v1" && path[1] == "stores":
            let store = try store(path[2])
            switch (request.method, path[3...]) {
            case (.post, ["devices"]): return try await enrol(request, store)
            case (.post, ["sessions"]): return try await openSession(request, store)
            default: return try await answer(request, context, store, Array(path[3...]))
            }
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

    private func enrol(_ request: Request, _ store: HubStore) async throws -> Response {
        try admissions.take()
        let message = try decode(
            Message.EnrolmentRequest.self,
            from: try await RequestReading(limits).body(of: request, upTo: Self.strangerByteCountMax))
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
        let device = try await onThread { try store.register.enrol(key: key, secret: secret) }
        logger.notice("a device was enrolled", metadata: ["device": "\(device.label)"])
        return try document(
            Message.Enrolment(label: device.label, readOnly: device.isReadOnly), .created)
    }

    private func openSession(_ request: Request, _ store: HubStore) async throws -> Response {
        try admissions.take()
        let message = try decode(
            Message.SessionRequest.self,
            from: try await RequestReading(limits).body(of: request, upTo: Self.strangerByteCountMax))
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
                session: ByteText.base64(session.token), label: device.label, readOnly: device.isReadOnly),
            .created)
    }

    private func verify(_ signature: String, of text: [UInt8], by key: [UInt8]) throws {
        guard let bytes = ByteText.bytes(base64: signature), DeviceKey.isValid(bytes, of: text, by: key)
        else {
            throw RemoteError(.invalidSignature, "the request is not signed by the device for this server")
        }
    }

    // MARK: Devices

    private func answer(
        _ request: Request, _ context: HubContext, _ store: HubStore, _ path: [String]
    ) async throws -> Response {
        switch (request.method, path.count, path[0]) {
        case (.get, 1, "greeting"):
            let signed = try await admit(request, store, upTo: 0)
            return octets(try await onThread { try signed.store.greeting() })
        case (.post, 1, "greeting"):
            let signed = try await admit(request, store, upTo: Self.frameByteCountMax)
            let forks = try await onThread { try signed.store.meet(signed.body, from: signed.device) }
            return try document(Message.Forks(forks))
        case (.post, 1, "identity"):
            let signed = try await admit(request, store, upTo: Self.documentByteCountMax)
            let forks = try decode(Message.Forks.self, from: signed.body).values()
            try await onThread { try signed.store.renew(forks, for: signed.device) }
            return Response(status: .noContent)
        case (.post, 1, "acknowledgement"):
            let signed = try await admit(request, store, upTo: Self.documentByteCountMax)
            let vector = try decode(Message.Vector.self, from: signed.body).value()
            try await onThread { try signed.store.acknowledge(vector, by: signed.device) }
            return Response(status: .noContent)
        case (_, _, "downloads"), (.post, 1, "snapshots"):
            return try await download(request, context, store, path)
        case (_, _, "uploads"): return try await upload(request, store, path)
        default: throw RemoteError(.notFound, "there is nothing here")
        }
    }

    private func download(
        _ request: Request, _ context: HubContext, _ store: HubStore, _ path: [String]
    ) async throws -> Response {
        switch (request.method, path.count) {
        case (.post, 1):
            let signed = try await admit(request, store, upTo: Self.documentByteCountMax)
            if path[0] == "snapshots" {
                let recipient = try decode(Message.SnapshotRequest.self, from: signed.body).recipient
                return try document(
                    try await onThread { try signed.store.prepareSnapshot(for: recipient, signed.device) },
                    .created)
            }
            let vector = try decode(Message.Vector.self, from: signed.body).value()
            return try document(
                try await onThread { try signed.store.prepareChanges(since: vector, for: signed.device) },
                .created)
        case (.get, 2):
            let signed = try await admit(request, store, upTo: 0)
            guard let offset = request.uri.queryParameters.get("offset", as: Int64.self), offset >= 0 else {
                throw RemoteError(.malformed, "the offset is missing")
            }
            let spool = try signed.store.download(path[1], of: signed.device)
            return stream(spool, from: offset, context.channel)
        case (.delete, 2):
            let signed = try await admit(request, store, upTo: 0)
            signed.store.endDownload(path[1], of: signed.device)
            return Response(status: .noContent)
        default: throw RemoteError(.notFound, "there is nothing here")
        }
    }

    private func upload(_ request: Request, _ store: HubStore, _ path: [String]) async throws -> Response {
        let signed: Signed
        switch (request.method, path.count) {
        case (.post, 1):
            signed = try await admit(request, store, upTo: Self.frameByteCountMax)
            return try document(
                try await onThread { try signed.store.beginUpload(signed.body, from: signed.device) })
        case (.put, 2):
            signed = try await admit(request, store, upTo: Self.frameByteCountMax)
            let bundle = try Self.bundle(path[1])
            return try document(
                try await onThread {
                    try signed.store.continueUpload(bundle, signed.body, from: signed.device)
                })
        case (.post, 3) where path[2] == "application":
            signed = try await admit(request, store, upTo: 0)
            let bundle = try Self.bundle(path[1])
            return try document(
                try await onThread { try signed.store.applyUpload(bundle, from: signed.device) })
        default: throw RemoteError(.notFound, "there is nothing here")
        }
    }

    private static func bundle(_ name: String) throws -> [UInt8] {
        guard let bytes = ByteText.bytes(hex: name), bytes.count == BundleParts.identifierByteCount else {
            throw RemoteError(.malformed, "that names no bundle")
        }
        return bytes
    }

    /// Reads a request of a device, and checks that it is its device's, new, and not revoked.
    private func admit(_ request: Request, _ store: HubStore, upTo limit: Int) async throws -> Signed {
        let headers = request.headers
        guard let token = headers[.session].flatMap(ByteText.bytes(base64:)),
            let number = headers[.number].flatMap({ UInt64($0) }),
            let signature = headers[.signature]
        else { throw RemoteError(.invalidSignature, "the request is not signed") }
        let session = try sessions.session(token)
        guard session.store == store.store else {
            throw RemoteError(.sessionEnded, "the session is for another database")
        }
        let body = try await RequestReading(limits).body(of: request, upTo: limit)
        let text = SignedText.request(
            session: token, number: number, method: request.method.rawValue, target: request.head.path ?? "",
            body: body)
        try verify(signature, of: text, by: session.key)
        try sessions.accept(number, of: session)
        let device = try await onThread { try store.register.admitted(key: session.key) }
        return Signed(store: store, device: device, body: body)
    }

    // MARK: Answers

    private func decode<Value: Decodable>(_ type: Value.Type, from body: [UInt8]) throws -> Value {
        try JSONDocument.decode(type, from: body)
    }

    private func document(
        _ value: some Encodable, _ status: HTTPResponse.Status = .ok, _ type: String = "application/json"
    ) throws -> Response {
        let bytes = try JSONDocument.encode(value)
        return Response(
            status: status, headers: [.contentType: type, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    private func octets(_ bytes: [UInt8]) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/octet-stream", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    private func stream(_ spool: ByteSpool, from offset: Int64, _ channel: any Channel) -> Response {
        let end = min(spool.byteCount, offset + Self.rangeByteCountMax)
        let count = max(0, end - offset)
        let seconds = limits.answerSeconds
        let body = ResponseBody(contentLength: Int(count)) { writer in
            // A device that does not read on must not hold the connection for ever.
            let deadline = channel.eventLoop.scheduleTask(in: .milliseconds(Int64(seconds * 1000))) {
                channel.close(promise: nil)
            }
            defer { deadline.cancel() }
            var position = offset
            while position < end {
                let piece = try spool.read(from: position).prefix(Int(end - position))
                try await writer.write(ByteBuffer(bytes: piece))
                position += Int64(piece.count)
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: "application/octet-stream", .cacheControl: "no-store"],
            body: body)
    }

    /// Runs what blocks where it may.
    private func onThread<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            threads.async { continuation.resume(with: Swift.Result { try body() }) }
        }
    }
}
