import Crypto
import Foundation
import SwiftASN1
import Testing

@testable import SyncHTTP
@testable import SyncRelay

/// Certificates of an authority, which lie in files.
@Suite struct RelayCertificateFileTests {
    private let folder: StorageFolder
    private let authority = P256.Signing.PrivateKey()

    init() throws { folder = try StorageFolder() }

    private var chain: String { folder.path + ".chain.pem" }
    private var key: String { folder.path + ".key.pem" }

    /// Writes a new certificate of the authority; returns its SHA-256.
    private func renew(daysAgo days: Double = 0) throws -> [UInt8] {
        let key = P256.Signing.PrivateKey()
        let (name, now) = ("authority of a test", Date())
        let leaf = try CertificateContents(
            issuer: name, subject: "relay", validity: now - (days + 1) * 86_400...now - (days - 1) * 86_400,
            publicKey: key.publicKey, hosts: [.address([127, 0, 0, 1])]
        ).signed(by: authority)
        let text = PEMDocument(type: "CERTIFICATE", derBytes: leaf).pemString
        try text.write(toFile: chain, atomically: true, encoding: .utf8)
        try key.pemRepresentation.write(toFile: self.key, atomically: true, encoding: .utf8)
        return Array(SHA256.hash(data: leaf))
    }

    private func shown(_ relay: RunningRelay) async -> [UInt8]? {
        let port = relay.port
        return await onThread { CertificateProbe.fingerprint(host: "127.0.0.1", port: port) }
    }

    @Test func aRenewedCertificateIsShownWithoutARestart() async throws {
        let first = try renew()
        let relay = try await RunningRelay(folder, tls: .files(certificate: chain, key: key))
        #expect(relay.server.trust == .systemRoots)
        #expect(relay.server.certificateValidity?.contains(Date()) == true)
        #expect(await shown(relay) == first)
        let second = try renew()
        #expect(await shown(relay) == first)
        #expect(try relay.server.reloadCertificate())
        #expect(await shown(relay) == second)
    }

    @Test func aCertificateThatClientsWouldRefuseChangesNothing() async throws {
        let first = try renew()
        let relay = try await RunningRelay(folder, tls: .files(certificate: chain, key: key))
        _ = try renew(daysAgo: 3)
        let old = #expect(throws: RemoteError.self) { try relay.server.reloadCertificate() }
        #expect(old?.code == .cannotServe && "\(old.map(String.init(describing:)) ?? "")".contains(chain))
        try "none".write(toFile: chain, atomically: true, encoding: .utf8)
        #expect(throws: RemoteError.self) { try relay.server.reloadCertificate() }
        #expect(await shown(relay) == first)
    }

    @Test func aCertificateOfAnAuthorityIsNotKnownByItsFingerprint() async throws {
        let fingerprint = try renew()
        let relay = try await RunningRelay(folder, tls: .files(certificate: chain, key: key))
        let address = try RelayAddress(host: "127.0.0.1", port: relay.port, fingerprint: fingerprint)
        let error = await #expect(throws: RelayError.self) {
            try await blocking { _ = try RelayClient(address).state(of: .random()) }
        }
        #expect(error?.code == .wrongCertificate && error?.hint == RelayError.trustAuthority)
        #expect(error?.message.contains("authority") == true)
        let shown = await onThread { try? address.shownCertificate() }
        #expect(shown?.fingerprint == fingerprint && shown?.isSelfSigned == false)
        let own = try await RunningRelay(tls: .selfSigned)
        let other = try RelayAddress(host: "127.0.0.1", port: own.port)
        let selfSigned = await onThread { try? other.shownCertificate() }
        #expect(selfSigned?.isSelfSigned == true)
    }

    @Test func aRelayWithoutFilesHasNoneToReadAgain() async throws {
        let relay = try await RunningRelay(tls: .selfSigned)
        #expect(try relay.server.reloadCertificate() == false)
    }
}
