import Crypto
import Foundation
import SyncHTTP

/// The certificate that a relay makes at its first start, and keeps in its storage.
enum RelayCertificate {
    private static let name = "certificate"
    private static let keyByteCount = 32

    /// The certificate that is kept, or a new one.
    ///
    /// - throws: ``RelayProblem`` when the storage can't be used, or what it keeps is none.
    static func kept(in storage: any RelayStorage) async throws -> ServerCertificate {
        let kept: Data
        if let known = try await storage.kept(name) {
            kept = known
        } else {
            let key = P256.Signing.PrivateKey()
            let value = key.rawRepresentation + Data(try ServerCertificate.selfSigned(key))
            // Another one may have been kept meanwhile.
            kept = try await storage.keep(value, as: name)
        }
        guard kept.count > keyByteCount,
            let key = try? P256.Signing.PrivateKey(rawRepresentation: kept.prefix(keyByteCount))
        else {
            throw RelayProblem(.unavailable, "the storage is damaged: the relay's certificate can't be read")
        }
        return try ServerCertificate.selfSigned(Array(kept.dropFirst(keyByteCount)), key)
    }
}
