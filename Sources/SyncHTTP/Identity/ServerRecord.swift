import CipherStore
import Crypto
import Foundation
import SyncEngine

/// What a store keeps of itself as a server: its certificate and private key, and where devices reached it last. It is
/// one row, each half of which may be there without the other. Nothing else writes `_sync_server`.
enum ServerRecord {
    /// The certificate in DER, and its private key; nil when the server never ran with a certificate of its own.
    static func certificate(_ db: Database) throws -> (certificate: [UInt8], key: [UInt8])? {
        let row = try Row.fetchOne(
            db, sql: "SELECT certificate, key FROM main._sync_server WHERE certificate IS NOT NULL")
        guard let row else { return nil }
        return (Array(try row.decode(Data.self, atIndex: 0)), Array(try row.decode(Data.self, atIndex: 1)))
    }

    /// Keeps a certificate.
    ///
    /// - parameters:
    ///     - certificate: The certificate in DER.
    ///     - key: Its private key.
    static func keep(_ db: Database, certificate: [UInt8], _ key: P256.Signing.PrivateKey) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO main._sync_server (id, certificate, key, address, trust, fingerprint)
                SELECT 1, ?, ?, (SELECT address FROM _sync_server), (SELECT trust FROM _sync_server),
                    (SELECT fingerprint FROM _sync_server)
                """, arguments: [Data(certificate), key.rawRepresentation])
    }

    /// Where devices reach the server; nil when it never ran.
    ///
    /// - parameter authority: Host and port, where they are others than the server noted.
    /// - throws: ``RemoteError`` of code `invalidAddress`.
    static func address(_ db: Database, authority: String?) throws -> ServerAddress? {
        let row = try Row.fetchOne(
            db, sql: "SELECT address, trust, fingerprint FROM main._sync_server WHERE address IS NOT NULL")
        guard let row else { return nil }
        let text = try authority ?? row.decode(String.self, atIndex: 0)
        guard let (host, port) = ServerAddress.split(text) else {
            throw RemoteError(.invalidAddress, "\(text.debugDescription) is no host:port")
        }
        let fingerprint = try row.decodeIfPresent(Data.self, atIndex: 2).map { Array($0) }
        let trust: ServerAddress.Trust =
            switch try row.decode(Int.self, atIndex: 1) {
            case 0: .fingerprint(fingerprint ?? [])
            case 2: .loopback
            default: .systemRoots
            }
        return try ServerAddress(host: host, port: port, trust: trust)
    }

    /// Notes where devices reach the server.
    static func note(_ db: Database, address: ServerAddress) throws {
        let (trust, fingerprint): (Int, Data?) =
            switch address.trust {
            case .fingerprint(let bytes): (0, Data(bytes))
            case .systemRoots: (1, nil)
            case .loopback: (2, nil)
            }
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO main._sync_server (id, certificate, key, address, trust, fingerprint)
                VALUES (1, (SELECT certificate FROM _sync_server), (SELECT key FROM _sync_server), ?, ?, ?)
                """, arguments: [address.authority, trust, fingerprint])
    }
}
