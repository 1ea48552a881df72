import AsyncHTTPClient
import Foundation
import NIOCore
import SyncEngine
import SyncWire
import Testing

@testable import SyncHTTP

/// A device with a session, and the means to send anything.
final class Attacker: Sendable {
    let base: String
    let store: String
    let key: DeviceKey
    let session: [UInt8]
    let url: String
    /// The device's name in the register.
    let label = "attacker-\(UInt64.random(in: 0 ... .max))"

    init(_ server: RunningServer, scope: SyncScope? = nil, isReadOnly: Bool = false) async throws {
        url = try server.address.url
        store = try server.hub.identity().store.description
        base = "/v1/stores/\(store)"
        key = DeviceKey()
        let link = try server.invite(label, isReadOnly: isReadOnly, scope: scope)
        session = try await Self.open(server, link, key, url, base)
    }

    private static func open(
        _ server: RunningServer, _ link: InviteLink, _ key: DeviceKey, _ url: String, _ base: String
    ) async throws -> [UInt8] {
        let register = try server.register
        _ = try register.enrol(key: key.publicKey, secret: link.secret)
        let (_, body) = try await send(url, "POST", "/v1/challenges", [:], [], isRepeatable: true)
        let challenge = try JSONDocument.decode(Message.Challenge.self, from: body)
        let bytes = try #require(ByteText.bytes(base64: challenge.challenge))
        let text = SignedText.session(challenge: bytes, key: key.publicKey, store: link.store, server: [])
        let message = Message.SessionRequest(
            key: ByteText.base64(key.publicKey), challenge: challenge.challenge,
            signature: ByteText.base64(try key.signature(of: text)))
        let (status, answer) = try await send(
            url, "POST", base + "/sessions", [:], try JSONDocument.encode(message))
        #expect(status == 201)
        // A challenge is answered once.
        let (again, _) = try await send(
            url, "POST", base + "/sessions", [:], try JSONDocument.encode(message))
        #expect(again == 401)
        return try #require(
            ByteText.bytes(base64: try JSONDocument.decode(Message.Session.self, from: answer).session))
    }

    /// Sends a request once more when nothing of it was sent: the server closes idle connections, and this client may take one
    /// of them before it has heard of that.
    ///
    /// - parameter isRepeatable: Whether it may be sent once more when the server may have taken it.
    private static func answer(
        to request: HTTPClientRequest, isRepeatable: Bool, attempts: Int
    ) async throws -> HTTPClientResponse {
        do {
            return try await HTTPClient.shared.execute(request, timeout: .seconds(30))
        } catch  where attempts > 1 && (isUnsent(error) || (isRepeatable && isHungUp(error))) {
            return try await answer(to: request, isRepeatable: isRepeatable, attempts: attempts - 1)
        }
    }

    private static func isUnsent(_ error: any Error) -> Bool {
        if case ChannelError.ioOnClosedChannel = error { true } else { false }
    }

    /// Whether the connection ended before the answer.
    static func isHungUp(_ error: any Error) -> Bool {
        error is ChannelError || error is IOError || error as? HTTPClientError == .remoteConnectionClosed
    }

    static func send(
        _ url: String, _ method: String, _ target: String, _ headers: [String: String], _ body: [UInt8],
        isRepeatable: Bool = false
    ) async throws -> (Int, [UInt8]) {
        var request = HTTPClientRequest(url: url + target)
        request.method = .init(rawValue: method)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if !body.isEmpty { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await answer(to: request, isRepeatable: isRepeatable, attempts: 5)
        return (Int(response.status.code), Array(buffer: try await response.body.collect(upTo: 32 << 20)))
    }

    func headers(
        _ number: UInt64, _ method: String, _ target: String, _ body: [UInt8]
    ) throws -> [String: String] {
        let text = SignedText.request(
            session: session, number: number, method: method, target: target, body: body)
        return [
            "cipherstore-session": ByteText.base64(session), "cipherstore-number": String(number),
            "cipherstore-signature": ByteText.base64(try key.signature(of: text)),
        ]
    }

    func send(
        _ number: UInt64, _ method: String, _ path: String, _ body: [UInt8] = []
    ) async throws -> (Int, Message.Problem?) {
        let signed = try self.headers(number, method, base + path, body)
        let (status, answer) = try await Self.send(url, method, base + path, signed, body)
        return (status, try? JSONDocument.decode(Message.Problem.self, from: answer))
    }
}
