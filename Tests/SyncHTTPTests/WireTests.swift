import AsyncHTTPClient
import CipherStore
import Crypto
import Foundation
import NIOCore
import NIOSSL
import SwiftASN1
import SyncEngine
import Testing

@testable import SyncHTTP

/// What passes on the wire, and which requests there are.
@Suite(.serialized) struct WireTests {
    private static let marker = "kestrel over the marsh"

    /// Synchronizes through a proxy and returns what passed it.
    private func record(tls: HubServer.TLS) async throws -> [UInt8] {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try hub.insert(20, Self.marker)
        let record = Box()
        try await RunningServer.serving(hub, tls: tls) { server in
            let proxy = CuttingProxy(to: server.port, cuts: [])
            let address = try ServerAddress(host: "127.0.0.1", port: proxy.port, trust: server.trust)
            let link = try server.register.invite(
                label: "label of a phone", scope: .tables(["note"]), address: address)
            let phone = try await stores.join(link, "phone.db")
            try phone.insert(20, Self.marker)
            _ = try await phone.sync(with: RemoteBook(phone).transport(options: .hasty))
            #expect(try phone.rows() == hub.rows() && phone.rows().count == 40)
            record.bytes = proxy.record
            proxy.close()
        }
        return record.bytes
    }

    // Written once, before it is read.
    private final class Box: @unchecked Sendable {
        var bytes: [UInt8] = []
    }

    @Test func nothingReadablePasses() async throws {
        let secrets = [
            Self.marker, "note", "title", "label of a phone", "CREATE TABLE", "/v1/", "challenge",
            "cipherstore",
        ]
        let encrypted = Data(try await record(tls: .selfSigned))
        #expect(encrypted.count > 10_000)
        for secret in secrets { #expect(encrypted.range(of: Data(secret.utf8)) == nil, "\(secret)") }
        // The test sees what is there to see.
        let plain = Data(try await record(tls: .plaintextOnLoopback))
        for secret in secrets { #expect(plain.range(of: Data(secret.utf8)) != nil, "\(secret)") }
    }

    /// The paths of the document, each with its methods.
    private func documented() throws -> [String: Set<String>] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Schemas/openapi.yaml")
        var paths: [String: Set<String>] = [:]
        var path = ""
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("components:") { break }
            if line.hasPrefix("  /") {
                path = String(line.trimmingCharacters(in: .whitespaces).dropLast())
            } else if let method = line.split(separator: ":").first, line.hasPrefix("    "),
                !line.hasPrefix("     "), method != "    parameters", !path.isEmpty
            {
                paths[path, default: []].insert(method.trimmingCharacters(in: .whitespaces).uppercased())
            }
        }
        return paths
    }

    @Test func theDocumentHasTheRequestsThatTheServerAnswers() async throws {
        let paths = try documented()
        #expect(paths.count >= 18)
        #expect(paths["/v1/stores/{store}/devices/self"] == ["DELETE"])
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let (url, store) = (try server.address.url, try hub.identity().store.description)
            for (path, methods) in paths {
                let target = path.replacingOccurrences(of: "{store}", with: store)
                    .replacingOccurrences(of: "{bundle}", with: String(repeating: "0", count: 64))
                    .replacingOccurrences(of: "{download}", with: "00")
                for method in ["GET", "POST", "PUT", "DELETE", "PATCH"] {
                    var request = HTTPClientRequest(url: url + target)
                    request.method = .init(rawValue: method)
                    let response = try await HTTPClient.shared.execute(request, timeout: .seconds(120))
                    _ = try await response.body.collect(upTo: 1 << 20)
                    #expect(
                        (response.status.code != 404) == methods.contains(method), "\(method) \(path)")
                }
            }
        }
    }

    // MARK: Certificates of an authority

    private func pem(_ certificates: [[UInt8]]) -> String {
        certificates.map { PEMDocument(type: "CERTIFICATE", derBytes: $0).pemString }.joined(separator: "\n")
    }

    /// Makes an authority, and a certificate of it for 127.0.0.1; returns the paths of the authority's
    /// certificate, of the chain and of the key.
    private func makeChain(
        _ stores: ServedStores, daysAgo days: Double = 0, address: [UInt8] = [127, 0, 0, 1]
    ) throws -> (root: String, chain: String, key: String) {
        let (rootKey, key) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        let (name, now) = ("authority of a test", Date())
        let root = try CertificateContents(
            issuer: name, subject: name, validity: now - 86_400...now + 86_400, publicKey: rootKey.publicKey,
            isAuthority: true
        ).signed(by: rootKey)
        let leaf = try CertificateContents(
            issuer: name, subject: "hub", validity: now - (days + 1) * 86_400...now - (days - 1) * 86_400,
            publicKey: key.publicKey, hosts: [.address(address), .name("localhost")]
        ).signed(by: rootKey)
        let paths = (stores.path("root.pem"), stores.path("chain.pem"), stores.path("key.pem"))
        try pem([root]).write(toFile: paths.0, atomically: true, encoding: .utf8)
        try pem([leaf, root]).write(toFile: paths.1, atomically: true, encoding: .utf8)
        try key.pemRepresentation.write(toFile: paths.2, atomically: true, encoding: .utf8)
        return paths
    }

    @Test func aCertificateSaysWhoVouchesForWhomAndWhen() throws {
        let key = P256.Signing.PrivateKey()
        let validity = Date(timeIntervalSince1970: 0)...Date(timeIntervalSince1970: 253_402_300_799)
        var contents = CertificateContents(
            issuer: "hub", subject: "hub", validity: validity, publicKey: key.publicKey, isAuthority: true)
        let own = try contents.signed(by: key)
        #expect(CertificateContents.namesOneParty(own))
        let read = try NIOSSLCertificate(bytes: own, format: .der)
        #expect(read.notValidBefore == 0 && read.notValidAfter == 253_402_300_799)
        #expect(try read.extractPublicKey().toSPKIBytes() == Array(key.publicKey.derRepresentation))
        contents.subject = "another"
        #expect(!CertificateContents.namesOneParty(try contents.signed(by: key)))
        for end in [0, 1, 20, own.count - 1] {
            #expect(!CertificateContents.namesOneParty(Array(own[..<end])))
        }
    }

    @Test func aChainOfAnAuthorityIsCheckedInsteadOfAPin() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 5)
        let (root, chain, key) = try makeChain(stores)
        try await RunningServer.serving(hub, tls: .files(certificate: chain, key: key)) { server in
            #expect(server.trust == .systemRoots)
            // The system does not know the authority.
            let link = try server.invite()
            await #expect(throws: RemoteError.self) { _ = try await stores.join(link, "phone.db") }
            var options = HTTPTransport.Options.hasty
            options.trustRootsFile = root
            let phone = try await stores.join(link, "phone.db", options: options)
            let report = try await phone.sync(with: RemoteBook(phone).transport(options: options))
            #expect(report.pulled == nil && report.pushed == nil)
            #expect(try phone.rows() == hub.rows())
            do {
                _ = try await phone.sync(with: RemoteBook(phone).transport(options: .hasty))
                Issue.record("a chain that ends in an unknown authority was taken")
            } catch let error as RemoteError {
                #expect(error.code == .wrongCertificate)
            }
        }
    }

    @Test(
        arguments: [(2, [127, 0, 0, 1]), (-2, [127, 0, 0, 1]), (0, [127, 0, 0, 2])] as [(Double, [UInt8])])
    func aCertificateThatIsNotValidNowOrNotForTheServerIsRefused(days: Double, address: [UInt8]) async throws
    {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 5)
        let (root, chain, key) = try makeChain(stores, daysAgo: days, address: address)
        let server = try HubServer([hub], options: .init(tls: .files(certificate: chain, key: key)))
        #expect(server.certificateValidity?.contains(Date()) == (days == 0))
        try await RunningServer.serving(hub, tls: .files(certificate: chain, key: key)) { server in
            var options = HTTPTransport.Options.hasty
            options.trustRootsFile = root
            do {
                _ = try await stores.join(try server.invite(), "phone.db", options: options)
                Issue.record("the certificate was taken")
            } catch let error as RemoteError {
                #expect(error.code == .wrongCertificate && error.message.contains("expired"))
            }
            #expect(!FileManager.default.fileExists(atPath: stores.path("phone.db")))
        }
    }

    @Test func aRenewedCertificateIsTakenWithoutARestart() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 5)
        let (root, chain, key) = try makeChain(stores)
        let oldRoot = stores.path("old-root.pem")
        try FileManager.default.copyItem(atPath: root, toPath: oldRoot)
        try await RunningServer.serving(hub, tls: .files(certificate: chain, key: key)) { server in
            let running = try #require(server.server)
            func synchronize(trusting root: String) async throws {
                var options = HTTPTransport.Options.hasty
                options.trustRootsFile = root
                let phone = try stores.open("phone.db")
                _ = try await phone.sync(with: RemoteBook(phone).transport(options: options))
            }
            var options = HTTPTransport.Options.hasty
            options.trustRootsFile = oldRoot
            _ = try await stores.join(try server.invite(), "phone.db", options: options)
            try await synchronize(trusting: oldRoot)
            // What devices would refuse, or what can't be read, changes nothing.
            _ = try makeChain(stores, daysAgo: 3)
            #expect {
                try running.reloadCertificate()
            } throws: {
                "\($0)".contains("is not valid now")
            }
            try "none".write(toFile: chain, atomically: true, encoding: .utf8)
            #expect {
                try running.reloadCertificate()
            } throws: {
                "\($0)".contains("no certificate could be read")
            }
            try await synchronize(trusting: oldRoot)
            // A renewal, here by another authority, so that it can be told which certificate is there.
            _ = try makeChain(stores)
            await #expect(throws: RemoteError.self) { try await synchronize(trusting: root) }
            #expect(try running.reloadCertificate())
            try await synchronize(trusting: root)
            await #expect(throws: RemoteError.self) { try await synchronize(trusting: oldRoot) }
        }
    }

    @Test func aCertificateOfTheStoreHasNoFilesToReadAgain() throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        #expect(try HubServer([hub], options: .init()).reloadCertificate() == false)
    }

    @Test func filesThatAreNoCertificateOrKeyAreNamed() throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        let (_, chain, key) = try makeChain(stores)
        let other = stores.path("other.pem")
        try P256.Signing.PrivateKey().pemRepresentation.write(
            toFile: other, atomically: true, encoding: .utf8)
        for (certificate, key) in [
            (key, key), (chain, chain), (chain, stores.path("none.pem")), (chain, other),
        ] {
            #expect(throws: RemoteError.self) {
                _ = try HubServer([hub], options: .init(tls: .files(certificate: certificate, key: key)))
            }
        }
    }
}
