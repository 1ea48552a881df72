import SyncEngine
import SyncWire

/// How a device is let in.
extension RemoteConnection {
    /// Enrols this device.
    func enrol(secret: [UInt8]) throws -> Message.Enrolment {
        try checkVersion()
        let challenge = try challenge()
        let text = SignedText.enrolment(
            challenge: challenge, secretHash: DeviceRegister.hash(secret), key: key.publicKey, store: store,
            server: server)
        let message = Message.EnrolmentRequest(
            invite: ByteText.base64(secret), key: ByteText.base64(key.publicKey),
            challenge: ByteText.base64(challenge), signature: ByteText.base64(try key.signature(of: text)))
        var call = Call(method: "POST", path: base + "/devices", body: try JSONDocument.encode(message))
        call.isSigned = false
        // The challenge was answered: a repetition needs another one.
        call.isRepeatable = false
        let answer = try send(call)
        return try JSONDocument.decode(Message.Enrolment.self, from: answer)
    }

    /// Opens a session.
    func open() throws {
        var failures = 0
        while true {
            do {
                return try openOnce()
            } catch let error as RemoteError
                where [.unreachable, .busy, .sessionEnded].contains(error.code)
                && failures < options.repetitionCountMax
            {
                failures += 1
                try pause(failures)
            }
        }
    }

    private func openOnce() throws {
        session = nil
        let challenge = try challenge()
        let text = SignedText.session(challenge: challenge, key: key.publicKey, store: store, server: server)
        let message = Message.SessionRequest(
            key: ByteText.base64(key.publicKey), challenge: ByteText.base64(challenge),
            signature: ByteText.base64(try key.signature(of: text)))
        var call = Call(method: "POST", path: base + "/sessions", body: try JSONDocument.encode(message))
        call.isSigned = false
        // The challenge may have been answered: a repetition needs another one.
        call.isRepeatable = false
        let answer = try JSONDocument.decode(Message.Session.self, from: try send(call))
        session = (try Message.bytes(answer.session, count: SessionBook.tokenByteCount, "the session"), 0)
        codecs = answer.codecs ?? []
        terms = DeviceTerms(scope: answer.scope, isReadOnly: answer.readOnly)
        isAdapted = false
    }

    /// Throws when the server does not speak this version of the protocol.
    private func checkVersion() throws {
        var call = Call(method: "GET", path: "/v1/hello")
        call.isSigned = false
        call.isRepeatable = false
        let hello = try JSONDocument.decode(Message.Hello.self, from: send(call))
        guard hello.versions.contains(Message.version) else {
            let versions = hello.versions.prefix(10).map(String.init).joined(separator: ", ")
            throw RemoteError(
                .unsupportedVersion,
                "the server speaks version \(versions) of the protocol, and this program version \(Message.version)"
            )
        }
    }

    private func challenge() throws -> [UInt8] {
        var call = Call(method: "POST", path: "/v1/challenges")
        call.isSigned = false
        call.isRepeatable = false
        let message = try JSONDocument.decode(Message.Challenge.self, from: send(call))
        return try Message.bytes(message.challenge, count: SessionBook.challengeByteCount, "the challenge")
    }
}
