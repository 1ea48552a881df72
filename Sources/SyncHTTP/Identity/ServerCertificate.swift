import CipherStore
import Crypto
import Foundation
import NIOSSL
import SyncEngine

/// The certificate of a server, and its private key.
package struct ServerCertificate: Sendable {
    /// The chain, the server's own certificate first, in DER.
    let chain: [[UInt8]]
    /// The private key.
    let key: NIOSSLPrivateKey
    /// Whether it vouches for itself, so that clients have to know its fingerprint.
    package let isSelfSigned: Bool
    /// When it is valid; nil when that can't be read.
    package var validity: ClosedRange<Date>?

    /// The SHA-256 of a certificate in DER.
    package static func fingerprint(_ certificate: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: certificate))
    }

    /// Whether a certificate in DER vouches for itself, and no authority for it.
    package static func isSelfSigned(_ certificate: [UInt8]) -> Bool {
        CertificateContents.namesOneParty(certificate)
    }

    /// The fingerprint of the server's own certificate.
    package var fingerprint: [UInt8] { Self.fingerprint(chain.first ?? []) }

    /// The certificate of a store's server, which is made at its first start.
    ///
    /// Clients know it by its fingerprint and nothing else, so it names nobody, and is valid at all
    /// times: a device with a wrong clock can connect.
    static func ofStore(_ synchronizer: Synchronizer) throws -> ServerCertificate {
        let (certificate, key) = try synchronizer.writer.write { db -> ([UInt8], [UInt8]) in
            if let known = try ServerRecord.certificate(db) { return (known.certificate, known.key) }
            let key = P256.Signing.PrivateKey()
            let certificate = try selfSigned(key)
            try ServerRecord.keep(db, certificate: certificate, key)
            return (certificate, Array(key.rawRepresentation))
        }
        return try selfSigned(certificate, P256.Signing.PrivateKey(rawRepresentation: key))
    }

    /// Takes a certificate in DER that was made by ``selfSigned(_:)``, and its key.
    package static func selfSigned(
        _ certificate: [UInt8], _ key: P256.Signing.PrivateKey
    ) throws -> ServerCertificate {
        ServerCertificate(
            chain: [certificate],
            key: try NIOSSLPrivateKey(bytes: Array(key.derRepresentation), format: .der),
            isSelfSigned: true)
    }

    /// Makes a certificate in DER.
    package static func selfSigned(_ key: P256.Signing.PrivateKey) throws -> [UInt8] {
        let name = "CipherStore server"
        // To the last second of 9999, which RFC 5280 has for "no end" (section 4.1.2.5).
        let always = Date(timeIntervalSince1970: 0)...Date(timeIntervalSince1970: 253_402_300_799)
        return try CertificateContents(
            issuer: name, subject: name, validity: always, publicKey: key.publicKey, isAuthority: true
        ).signed(by: key)
    }

    /// Reads a chain and a key from PEM files.
    ///
    /// - throws: ``RemoteError`` of code `cannotServe`, which names the file.
    static func files(certificate: String, key: String) throws -> ServerCertificate {
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMFile(certificate)
        } catch {
            throw RemoteError(.cannotServe, "\(certificate): no certificate could be read in PEM")
        }
        guard let first = try chain.first?.toDERBytes() else {
            throw RemoteError(.cannotServe, "\(certificate): no certificate could be read in PEM")
        }
        let privateKey: NIOSSLPrivateKey
        do {
            privateKey = try NIOSSLPrivateKey(file: key, format: .pem)
        } catch {
            throw RemoteError(
                .cannotServe, "\(key): no private key without a passphrase could be read in PEM")
        }
        var result = ServerCertificate(
            chain: try chain.map { try $0.toDERBytes() }, key: privateKey,
            isSelfSigned: CertificateContents.namesOneParty(first))
        if let own = chain.first, own.notValidBefore <= own.notValidAfter {
            let (begin, end) = (TimeInterval(own.notValidBefore), TimeInterval(own.notValidAfter))
            result.validity = Date(timeIntervalSince1970: begin)...Date(timeIntervalSince1970: end)
        }
        do {
            _ = try NIOSSLContext(configuration: result.configuration())
        } catch {
            throw RemoteError(
                .cannotServe, "\(key): this is not the private key of the certificate in \(certificate)")
        }
        return result
    }

    /// What TLS 1.2 may use: keys that are agreed on anew each time, and encryption that authenticates itself. TLS 1.3
    /// has nothing else.
    static let cipherSuites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    /// The chain, as TLS takes it.
    func sources() throws -> [NIOSSLCertificateSource] {
        try chain.map { .certificate(try NIOSSLCertificate(bytes: $0, format: .der)) }
    }

    /// The server's side of TLS.
    func configuration() throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try sources(), privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuiteValues = Self.cipherSuites
        configuration.applicationProtocols = ["http/1.1"]
        // A client that leaves its stream may not answer the end of TLS, and nothing is read any more then:
        // with the default of five seconds, the server would end as much later.
        configuration.shutdownTimeout = .milliseconds(500)
        return configuration
    }
}
