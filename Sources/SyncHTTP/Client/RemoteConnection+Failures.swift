import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL
import SyncEngine

/// What errors of the network mean.
extension RemoteConnection {
    /// Runs what uses the network, and says what failed.
    ///
    /// - throws: ``RemoteError``; `CancellationError`, which no repetition helps against.
    func reached<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error where error is RemoteError || error is CancellationError {
            throw error
        } catch {
            if Self.isAboutCertificate(error) {
                guard case .fingerprint = address.trust else {
                    throw RemoteError(
                        .wrongCertificate,
                        """
                        the certificate of \(address.authority) can't be relied on: it has expired, is for another name, or \
                        comes from an authority that is not known here
                        """)
                }
                throw RemoteError(
                    .wrongCertificate,
                    "\(address.authority) shows another certificate than the one that was pinned")
            }
            throw RemoteError(.unreachable, "\(address.authority) can't be reached: \(Self.text(of: error))")
        }
    }

    private static func isAboutCertificate(_ error: any Error) -> Bool {
        let text = "\(error)"
        return ["CERTIFICATE_VERIFY_FAILED", "unableToValidateCertificate", "failedToValidateHostname"]
            .contains(where: text.contains)
    }

    /// An error of the network in few words.
    package static func text(of error: any Error) -> String {
        switch error {
        case let error as HTTPClientError:
            let text = error.shortDescription
            return text.prefix(1).lowercased() + text.dropFirst()
        case let error as IOError: return String(cString: strerror(error.errnoCode)).lowercased()
        case is ChannelError: return "the connection was closed, or took too long"
        // The library dumps its errors with places in its sources.
        case is NIOSSLError, is BoringSSLError: return "no TLS connection came about"
        default:
            let text = "\(error)"
            if text.contains("Connection refused") || text.contains("errno: 111") {
                return "connection refused"
            }
            if text.contains("UnknownHost") { return "no such host is known" }
            return String(text.prefix(200))
        }
    }
}
