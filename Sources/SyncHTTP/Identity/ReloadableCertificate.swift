import Foundation
import NIOSSL
import Synchronization

/// The certificate of a server as it is now: files can be read again while the server runs.
///
/// Connections that are open keep theirs. See NIOSSL's `sslContextCallback`, which is asked at each handshake.
package final class ReloadableCertificate: Sendable {
    private let files: (certificate: String, key: String)?
    private let state: Mutex<State>

    private struct State {
        let certificate: ServerCertificate
        /// What a handshake takes of it.
        let override: NIOSSLContextConfigurationOverride

        init(_ certificate: ServerCertificate) throws {
            self.certificate = certificate
            var override = NIOSSLContextConfigurationOverride.noChanges
            override.certificateChain = try certificate.sources()
            override.privateKey = .privateKey(certificate.key)
            self.override = override
        }
    }

    /// Keeps a certificate that comes of a store.
    package init(_ certificate: ServerCertificate) throws {
        files = nil
        state = Mutex(try State(certificate))
    }

    /// Reads a certificate from files.
    ///
    /// - throws: ``RemoteError`` of code `cannotServe`, which names the file.
    package init(certificate: String, key: String) throws {
        files = (certificate, key)
        state = Mutex(try State(ServerCertificate.files(certificate: certificate, key: key)))
    }

    /// The certificate that new connections get.
    package var current: ServerCertificate { state.withLock { $0.certificate } }

    /// Reads the files again.
    ///
    /// - parameter now: The time at which the new certificate has to be valid.
    /// - returns: Whether there are files.
    /// - throws: ``RemoteError`` of code `cannotServe` when devices would refuse the new certificate; the one before
    ///   stays.
    package func reload(at now: Date) throws -> Bool {
        guard let files else { return false }
        let new = try ServerCertificate.files(certificate: files.certificate, key: files.key)
        if let validity = new.validity, !validity.contains(now) {
            throw RemoteError(.cannotServe, "\(files.certificate): the new certificate is not valid now")
        }
        let old = current
        guard new.isSelfSigned == old.isSelfSigned, !new.isSelfSigned || new.fingerprint == old.fingerprint
        else {
            throw RemoteError(
                .cannotServe,
                "\(files.certificate): devices know the server by the certificate before, or by who signed it, and "
                    + "would refuse this one")
        }
        let state = try State(new)
        self.state.withLock { $0 = state }
        return true
    }

    /// The server's side of TLS.
    package func configuration() throws -> TLSConfiguration {
        var configuration = try current.configuration()
        guard files != nil else { return configuration }
        configuration.sslContextCallback = { [self] _, promise in
            promise.succeed(state.withLock { $0.override })
        }
        return configuration
    }
}
