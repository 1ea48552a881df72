import CipherStore
import Crypto
import Foundation
import SyncEngine

/// The key by which servers know a replica. It never leaves the encrypted store.
struct DeviceKey: Sendable {
    private let key: Curve25519.Signing.PrivateKey

    /// Makes a key of random bytes.
    init() { key = Curve25519.Signing.PrivateKey() }

    private init(_ key: Curve25519.Signing.PrivateKey) { self.key = key }

    /// What servers know.
    var publicKey: [UInt8] { Array(key.publicKey.rawRepresentation) }

    /// Signs a message.
    func signature(of message: [UInt8]) throws -> [UInt8] { Array(try key.signature(for: message)) }

    /// Whether a signature is by the owner of a public key.
    static func isValid(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: publicKey) else { return false }
        return key.isValidSignature(signature, for: message)
    }

    /// The key of a store; nil when it has none.
    static func load(_ db: Database) throws -> DeviceKey? {
        guard let bytes = try Data.fetchOne(db, sql: "SELECT key FROM main._sync_device_key") else {
            return nil
        }
        guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes) else {
            throw SyncError(.damagedMetadata, "the device key of the store is damaged")
        }
        return DeviceKey(key)
    }

    /// Keeps the key in a store.
    func save(_ db: Database) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO main._sync_device_key (id, key) VALUES (1, ?)",
            arguments: [key.rawRepresentation])
    }
}
