import Foundation
import SyncWire
import TestSupport
import Testing

@testable import SyncHTTP

/// The invitation links and signatures of `Schemas/remote/vectors.json`.
@Suite(.anyEngine) struct RemoteVectorTests {
    private struct File: Decodable {
        struct Link: Decodable {
            let name: String
            let host: String
            let port: Int
            let trust: String
            let store: String
            let secret: String
            let certificate: String?
            let link: String
        }

        struct Refused: Decodable {
            let name: String
            let link: String
        }

        struct Signed: Decodable {
            let name: String
            let kind: String
            let challenge: String?
            let secret: String?
            let secretHash: String?
            let certificate: String?
            let session: String?
            let number: String?
            let method: String?
            let target: String?
            let body: String?
            let text: String
            let signature: String
            let headers: [String: String]?
        }

        let links: [Link]
        let refused: [Refused]
        let publicKey: String
        let signed: [Signed]
    }

    private let file: File

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let url = root.appendingPathComponent("Schemas/remote/vectors.json")
        file = try JSONDecoder().decode(File.self, from: Data(contentsOf: url))
    }

    private func bytes(_ hex: String?) throws -> [UInt8] {
        let hex = try #require(hex)
        return try #require(ByteText.bytes(hex: hex))
    }

    private func address(_ link: File.Link) throws -> ServerAddress {
        let trust: ServerAddress.Trust
        switch link.trust {
        case "pinned": trust = .fingerprint(try bytes(link.certificate))
        case "roots": trust = .systemRoots
        default: trust = .loopback
        }
        return try ServerAddress(host: link.host, port: link.port, trust: trust)
    }

    @Test func aLinkIsReadAndWrittenAsItsVectorSays() throws {
        #expect(!file.links.isEmpty)
        for vector in file.links {
            let link = InviteLink(
                address: try address(vector), store: try Message.identifier(vector.store),
                secret: try bytes(vector.secret))
            #expect(link.description == vector.link, "\(vector.name)")
            #expect(InviteLink(vector.link) == link, "\(vector.name)")
        }
    }

    @Test func whatIsNoLinkIsRefused() {
        #expect(!file.refused.isEmpty)
        for vector in file.refused { #expect(InviteLink(vector.link) == nil, "\(vector.name)") }
    }

    /// The text of a vector, as this program makes it.
    private func text(_ vector: File.Signed) throws -> [UInt8] {
        let key = try bytes(file.publicKey)
        let store = try Message.identifier(try #require(file.links.first).store)
        switch vector.kind {
        case "enrolment":
            return SignedText.enrolment(
                challenge: try bytes(vector.challenge), secretHash: try bytes(vector.secretHash), key: key,
                store: store, server: try bytes(vector.certificate))
        case "session":
            return SignedText.session(
                challenge: try bytes(vector.challenge), key: key, store: store,
                server: try bytes(vector.certificate))
        default:
            return SignedText.request(
                session: try bytes(vector.session), number: try #require(UInt64(vector.number ?? "")),
                method: try #require(vector.method), target: try #require(vector.target),
                body: try bytes(vector.body))
        }
    }

    @Test func whatIsSignedIsTheTextOfItsVector() throws {
        let key = try bytes(file.publicKey)
        #expect(Set(file.signed.map(\.kind)) == ["enrolment", "session", "request"])
        for vector in file.signed {
            let expected = try bytes(vector.text)
            #expect(try text(vector) == expected, "\(vector.name)")
            let signature = try #require(ByteText.bytes(base64: vector.signature))
            #expect(DeviceKey.isValid(signature, of: expected, by: key), "\(vector.name)")
            if let secret = vector.secret {
                #expect(try DeviceRegister.hash(bytes(secret)) == bytes(vector.secretHash), "\(vector.name)")
            }
            if let headers = vector.headers {
                #expect(headers["cipherstore-signature"] == vector.signature)
                #expect(headers["cipherstore-number"] == vector.number)
                #expect(headers["cipherstore-session"] == ByteText.base64(try bytes(vector.session)))
            }
        }
    }
}
