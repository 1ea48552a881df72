import Hummingbird
import HummingbirdCore
import SyncEngine
import SyncWire

/// A request of a device that was admitted.
private struct Signed {
    let store: HubStore
    let device: Device
    let body: [UInt8]
}

/// The requests of devices.
extension HubResponder {
    /// Answers a request of a device.
    func answer(
        _ request: Request, _ context: HubContext, _ store: HubStore, _ path: [String]
    ) async throws -> Response {
        let held = HeldBody(bodies)
        defer { held.release() }
        return try await answer(request, context, store, path, held)
    }

    private func answer(
        _ request: Request, _ context: HubContext, _ store: HubStore, _ path: [String], _ held: HeldBody
    ) async throws -> Response {
        switch (request.method, path.count, path[0]) {
        case (.post, 1, "devices"): return try await enrol(request, context, store)
        case (.delete, 2, "devices") where path[1] == "self":
            let signed = try await admit(request, store, upTo: 0, held)
            try await onThread { try signed.store.release(signed.device) }
            logger.notice(
                "a device took its enrolment back",
                metadata: ["device": "\(LogText.printable(signed.device.label))"])
            return Response(status: .noContent)
        case (.post, 1, "sessions"): return try await openSession(request, context, store)
        case (.get, 1, "live"):
            let signed = try await admit(request, store, upTo: 0, held)
            return try live(signed.store, signed.device, context.channel)
        case (_, _, "downloads"), (.post, 1, "snapshots"), (.post, 1, "repairs"):
            return try await download(request, context, store, path, held)
        case (_, _, "uploads"): return try await upload(request, store, path, held)
        default: return try await operate(request, store, path, held)
        }
    }

    /// Carries out an operation of a synchronization.
    private func operate(
        _ request: Request, _ store: HubStore, _ path: [String], _ held: HeldBody
    ) async throws -> Response {
        let operation = PeerOperations.all.first {
            $0.address.method.rawValue == request.method.rawValue && [$0.address.path] == path
        }
        guard let operation else { throw RemoteError(.notFound, "there is nothing here") }
        let signed = try await admit(request, store, upTo: operation.address.byteCountMax, held)
        let answer = try await onThread {
            try operation.answer(signed.body, by: HubDevice(hub: signed.store, device: signed.device))
        }
        if answer.isEmpty { return Response(status: .noContent) }
        return octets(answer, operation.isDocument ? "application/json" : "application/octet-stream")
    }

    private func download(
        _ request: Request, _ context: HubContext, _ store: HubStore, _ path: [String], _ held: HeldBody
    ) async throws -> Response {
        switch (request.method, path.count) {
        case (.post, 1):
            let signed = try await admit(
                request, store, upTo: BundleRequest.byteCountMax(of: path[0]), held)
            let codec = request.uri.queryParameters["codec"].map(String.init)
            return try document(try await prepare(path[0], codec: codec, signed), .created)
        case (.get, 2):
            let signed = try await admit(request, store, upTo: 0, held)
            guard let offset = request.uri.queryParameters.get("offset", as: Int64.self), offset >= 0 else {
                throw RemoteError(.malformed, "the offset is missing")
            }
            let spool = try signed.store.download(path[1], of: signed.device)
            let channel = context.channel
            let read = signed.store.reads.begin(for: signed.device.id) { channel.close(promise: nil) }
            return try await stream(spool, from: offset, channel, read)
        case (.delete, 2):
            let signed = try await admit(request, store, upTo: 0, held)
            signed.store.endDownload(path[1], of: signed.device)
            return Response(status: .noContent)
        default: throw RemoteError(.notFound, "there is nothing here")
        }
    }

    private func prepare(
        _ what: String, codec: String?, _ signed: Signed
    ) async throws -> Message.Download {
        switch what {
        case "snapshots":
            let recipient = try decode(Message.SnapshotRequest.self, from: signed.body).recipient
            return try await onThread { try signed.store.prepareSnapshot(for: recipient, signed.device) }
        default:
            return try await prepare(try BundleRequest(signed.body, at: what), codec: codec, signed)
        }
    }

    private func prepare(
        _ request: BundleRequest, codec: String?, _ signed: Signed
    ) async throws -> Message.Download {
        switch request {
        case .rows(let rows):
            return try await onThread {
                try signed.store.prepareRows(rows, codec: codec, for: signed.device)
            }
        case .changes(let request):
            let making = try await onThread {
                try signed.store.beginChanges(
                    request, digest: SharedMakings.digest(of: signed.body), codec: codec, for: signed.device)
            }
            let reach = try await making.spool.reached(beyond: HubStore.wholeByteCountMax)
            return try await onThread { try signed.store.offer(making, reach, to: signed.device) }
        }
    }

    private func upload(
        _ request: Request, _ store: HubStore, _ path: [String], _ held: HeldBody
    ) async throws -> Response {
        let signed: Signed
        let isLong = request.uri.queryParameters["long"] == "true"
        switch (request.method, path.count) {
        case (.post, 1):
            signed = try await admit(request, store, upTo: OperationAddress.frameByteCountMax, held)
            let applies = request.uri.queryParameters["apply"] == "true"
            return try document(
                try await onThread {
                    try signed.store.beginUpload(
                        signed.body, applies: applies, isLong: isLong, from: signed.device)
                })
        case (.put, 2):
            signed = try await admit(request, store, upTo: OperationAddress.frameByteCountMax, held)
            let bundle = try Self.bundle(path[1])
            return try document(
                try await onThread {
                    try signed.store.continueUpload(bundle, signed.body, from: signed.device)
                })
        case (.post, 3) where path[2] == "application":
            signed = try await admit(request, store, upTo: 0, held)
            let bundle = try Self.bundle(path[1])
            return try document(
                try await onThread {
                    try signed.store.applyUpload(bundle, isLong: isLong, from: signed.device)
                })
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
    ///
    /// - parameter held: Counts the body until the request is answered.
    private func admit(
        _ request: Request, _ store: HubStore, upTo limit: Int, _ held: HeldBody
    ) async throws -> Signed {
        let headers = request.headers
        guard let token = headers[.session].flatMap(ByteText.bytes(base64:)),
            let number = headers[.number].flatMap({ UInt64($0) }),
            let signature = headers[.signature]
        else { throw RemoteError(.invalidSignature, "the request is not signed") }
        let session = try sessions.session(token)
        guard session.store == store.store else {
            throw RemoteError(.sessionEnded, "the session is for another database")
        }
        // Before anything is read: a device that makes too many requests, or was revoked, costs no memory.
        let owner = try await onThread { try store.register.admitted(key: session.key) }
        try store.countRequest(of: owner)
        let body = try await RequestReading(limits).body(of: request, upTo: limit) { count in
            try held.take(count, of: session.key)
        }
        store.traffic.count(received: Int64(body.count))
        let text = SignedText.request(
            session: token, number: number, method: request.method.rawValue, target: request.head.path ?? "",
            body: body)
        try verify(signature, of: text, by: session.key)
        try sessions.accept(number, of: session)
        // It may have been revoked while the body came.
        let device = try await onThread { try store.register.admitted(key: session.key) }
        return Signed(store: store, device: device, body: body)
    }
}
