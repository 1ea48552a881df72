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

/// The most bytes of bodies.
private enum Bytes {
    static let document = 4 << 20
    /// A header has up to 16 MiB, and so has a greeting.
    static let frame = 17 << 20
}

/// The requests of devices.
extension HubResponder {
    /// Answers a request of a device.
    func answer(
        _ request: Request, _ context: HubContext, _ store: HubStore, _ path: [String]
    ) async throws -> Response {
        switch (request.method, path.count, path[0]) {
        case (.post, 1, "devices"): return try await enrol(request, context, store)
        case (.delete, 2, "devices") where path[1] == "self":
            let signed = try await admit(request, store, upTo: 0)
            try await onThread { try signed.store.register.release(signed.device) }
            logger.notice(
                "a device took its enrolment back",
                metadata: ["device": "\(LogText.printable(signed.device.label))"])
            return Response(status: .noContent)
        case (.post, 1, "sessions"): return try await openSession(request, context, store)
        case (.get, 1, "greeting"):
            let signed = try await admit(request, store, upTo: 0)
            return octets(try await onThread { try signed.store.greeting(for: signed.device) })
        case (.post, 1, "greeting"):
            let signed = try await admit(request, store, upTo: Bytes.frame)
            let forks = try await onThread { try signed.store.meet(signed.body, from: signed.device) }
            return try document(Message.Forks(forks))
        case (.post, 1, "identity"):
            let signed = try await admit(request, store, upTo: Bytes.document)
            let renewal = try decode(Message.Renewal.self, from: signed.body)
            try await onThread { try signed.store.renew(renewal, for: signed.device) }
            return Response(status: .noContent)
        case (.post, 1, "acknowledgement"):
            let signed = try await admit(request, store, upTo: Bytes.document)
            let vector = try decode(Message.Vector.self, from: signed.body).value()
            try await onThread { try signed.store.acknowledge(vector, by: signed.device) }
            return Response(status: .noContent)
        case (.get, 1, "live"):
            let signed = try await admit(request, store, upTo: 0)
            return try live(signed.store, signed.device, context.channel)
        case (.get, 1, "definitions"):
            let signed = try await admit(request, store, upTo: 0)
            let tables = try await onThread { try signed.store.definitions(for: signed.device) }
            return try document(Message.Definitions(tables: tables))
        case (.post, 1, "state"), (.post, 1, "answers"):
            return try await compare(request, store, path[0])
        case (_, _, "downloads"), (.post, 1, "snapshots"), (.post, 1, "repairs"):
            return try await download(request, context, store, path)
        case (_, _, "uploads"): return try await upload(request, store, path)
        default: throw RemoteError(.notFound, "there is nothing here")
        }
    }

    /// Answers what a device asks to find the rows in which it and this store differ.
    private func compare(_ request: Request, _ store: HubStore, _ what: String) async throws -> Response {
        let signed = try await admit(request, store, upTo: Bytes.document)
        guard what == "state" else {
            return octets(try await onThread { try signed.store.answer(signed.body, for: signed.device) })
        }
        let kind = try decode(Message.StateRequest.self, from: signed.body).value()
        guard let state = try await onThread({ try signed.store.replicaState(kind, for: signed.device) })
        else {
            return Response(status: .noContent)
        }
        return octets(state)
    }

    private func download(
        _ request: Request, _ context: HubContext, _ store: HubStore, _ path: [String]
    ) async throws -> Response {
        switch (request.method, path.count) {
        case (.post, 1):
            let signed = try await admit(
                request, store, upTo: path[0] == "repairs" ? Bytes.frame : Bytes.document)
            let codec = request.uri.queryParameters["codec"].map(String.init)
            return try document(try await prepare(path[0], codec: codec, signed), .created)
        case (.get, 2):
            let signed = try await admit(request, store, upTo: 0)
            guard let offset = request.uri.queryParameters.get("offset", as: Int64.self), offset >= 0 else {
                throw RemoteError(.malformed, "the offset is missing")
            }
            let spool = try signed.store.download(path[1], of: signed.device)
            return try await stream(spool, from: offset, context.channel)
        case (.delete, 2):
            let signed = try await admit(request, store, upTo: 0)
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
        case "repairs":
            return try await onThread {
                try signed.store.prepareRows(signed.body, codec: codec, for: signed.device)
            }
        default:
            let wanted = try decode(Message.Transfer.self, from: signed.body).value()
            return try await onThread {
                try signed.store.prepareChanges(wanted, codec: codec, for: signed.device)
            }
        }
    }

    private func upload(_ request: Request, _ store: HubStore, _ path: [String]) async throws -> Response {
        let signed: Signed
        let isLong = request.uri.queryParameters["long"] == "true"
        switch (request.method, path.count) {
        case (.post, 1):
            signed = try await admit(request, store, upTo: Bytes.frame)
            let applies = request.uri.queryParameters["apply"] == "true"
            return try document(
                try await onThread {
                    try signed.store.beginUpload(
                        signed.body, applies: applies, isLong: isLong, from: signed.device)
                })
        case (.put, 2):
            signed = try await admit(request, store, upTo: Bytes.frame)
            let bundle = try Self.bundle(path[1])
            return try document(
                try await onThread {
                    try signed.store.continueUpload(bundle, signed.body, from: signed.device)
                })
        case (.post, 3) where path[2] == "application":
            signed = try await admit(request, store, upTo: 0)
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
        // Before anything is read: a device that makes too many requests, or was revoked, costs no memory.
        let owner = try await onThread { try store.register.admitted(key: session.key) }
        try store.countRequest(of: owner)
        var held = 0
        defer { bodies.release(held, of: session.key) }
        let body = try await RequestReading(limits).body(of: request, upTo: limit) { count in
            try bodies.take(count, of: session.key)
            held += count
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
