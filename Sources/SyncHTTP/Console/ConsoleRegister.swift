import CipherStore
import Crypto
import Foundation
import SyncEngine
import SyncWire

/// A link that shows a served store to one person, once: `https://hub.example:7443/console#AQ…`.
///
/// The secret stands behind the `#`, which browsers send to no server: it is in no log and no `Referer`.
public struct ConsoleLink: Equatable, Sendable, CustomStringConvertible {
    static let secretByteCount = 16

    /// Where the server is.
    public let address: ServerAddress
    /// What opens a session.
    let secret: [UInt8]

    /// The link. It holds the secret.
    public var description: String { "\(address.url)/console#\(ByteText.base64(secret))" }

    /// The SHA-256 of the certificate as browsers show it, `AB:CD:…`; nil when a certification authority vouches
    /// for the server, or it has no certificate.
    public var certificateFingerprint: String? {
        guard case .fingerprint(let bytes) = address.trust else { return nil }
        return bytes.map { ByteText.hex([$0]).uppercased() }.joined(separator: ":")
    }
}

/// Who may look at a served store on its server's page.
///
/// ```swift
/// let link = try ConsoleRegister(synchronizer).makeLink(address: address)
/// print(link)                       // https://hub.example:7443/console#AQ…
/// ```
///
/// Links are in the store, so that a command in another process makes them. Sessions are in the server's memory, and
/// end with it.
public struct ConsoleRegister: Sendable {
    /// The most links that are open at a time.
    static let openLinkCountMax = 100
    private static let generationName = "console.generation"

    private let synchronizer: Synchronizer

    /// Makes the register of a store, whose metadata is upgraded if an older program made it.
    public init(_ synchronizer: Synchronizer) throws {
        self.synchronizer = synchronizer
        try synchronizer.upgradeMetadata()
    }

    private var now: Int64 { synchronizer.surroundings.milliseconds() }

    static func hash(_ secret: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: Array("cipherstore console secret 1\0".utf8) + secret))
    }

    /// Makes a link.
    ///
    /// - parameters:
    ///     - milliseconds: After how long it expires; up to a day.
    ///     - address: Where the browser reaches the server.
    /// - throws: ``RemoteError`` of code `malformed` for an expiry out of range, and `busy` when too many links are
    ///   open; `DatabaseError`.
    public func makeLink(expiresAfter milliseconds: Int64 = 600_000, address: ServerAddress) throws
        -> ConsoleLink
    {
        guard (1000...86_400_000).contains(milliseconds) else {
            throw RemoteError(.malformed, "a link to the page is valid for one second to one day")
        }
        let secret = SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
        let now = now
        try synchronizer.writer.write { db in
            try db.execute(sql: "DELETE FROM _sync_console WHERE expires <= ?", arguments: [now])
            let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM _sync_console") ?? 0
            guard count < Self.openLinkCountMax else {
                throw RemoteError(.busy, "\(count) links are open; they have to expire first")
            }
            try db.execute(
                sql: "INSERT INTO _sync_console (hash, expires) VALUES (?, ?)",
                arguments: [Data(Self.hash(secret)), now + milliseconds])
        }
        return ConsoleLink(address: address, secret: secret)
    }

    /// Ends all sessions and links.
    ///
    /// - returns: How many links were open.
    /// - throws: `DatabaseError`.
    @discardableResult
    public func revoke() throws -> Int {
        let now = now
        return try synchronizer.writer.write { db in
            let count = try Int.fetchOne(
                db, sql: "SELECT count(*) FROM _sync_console WHERE expires > ?", arguments: [now])
            try db.execute(sql: "DELETE FROM _sync_console")
            try SyncSetting.set(db, Self.generationName, try Self.generation(db) + 1)
            return count ?? 0
        }
    }

    /// Uses a link up.
    ///
    /// - returns: The generation of sessions that its session belongs to; nil when there is no such link.
    func take(_ secret: [UInt8]) throws -> Int64? {
        let (hash, now) = (Data(Self.hash(secret)), now)
        // Whoever guesses does not get as far as the writing connection.
        let isKnown = try synchronizer.writer.read { db in
            try Int64.fetchOne(db, sql: "SELECT 1 FROM _sync_console WHERE hash = ?", arguments: [hash])
        }
        guard isKnown != nil else { return nil }
        return try synchronizer.writer.write { db in
            let expiry = try Int64.fetchOne(
                db, sql: "SELECT expires FROM _sync_console WHERE hash = ?", arguments: [hash])
            try db.execute(sql: "DELETE FROM _sync_console WHERE hash = ?", arguments: [hash])
            guard let expiry, expiry > now else { return nil }
            return try Self.generation(db)
        }
    }

    /// Rises when sessions are revoked.
    func generation() throws -> Int64 { try synchronizer.writer.read { try Self.generation($0) } }

    private static func generation(_ db: Database) throws -> Int64 {
        try SyncSetting.integer(db, generationName) ?? 0
    }
}
