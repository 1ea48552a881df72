import CipherStore
import Crypto
import Foundation
import SyncEngine
import SyncHTTP

/// What a channel belongs to: 32 random bytes that the relay never sees. Whoever has them reads and writes the channel.
///
/// Its memory is zeroed when it is gone. Descriptions and mirrors don't show it.
public struct RelayChannelKey: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    private let key: SymmetricKey

    /// Makes a key that nobody can guess.
    public init() { key = SymmetricKey(size: .bits256) }

    /// Makes a key of 32 bytes; nil for any other number of them.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        key = SymmetricKey(data: bytes)
    }

    /// Reads 64 hexadecimal digits in lower case; nil for anything else.
    package init?(secretText text: String) {
        guard text.utf8.count == 64, var bytes = ByteText.bytes(hex: text) else { return nil }
        defer { Self.erase(&bytes) }
        self.init(bytes: bytes)
    }

    /// The digits. This shows the secret.
    package var secretText: String { key.withUnsafeBytes { ByteText.hex($0) } }

    /// What lets somebody read the channel.
    public var readToken: RelayToken { token("cipherstore relay 1 read") }

    /// What lets somebody read and write the channel.
    public var writeToken: RelayToken { token("cipherstore relay 1 write") }

    /// What a relay keeps of the tokens.
    var registration: RelayRegistration {
        RelayRegistration(readToken: readToken.digest, writeToken: writeToken.digest)
    }

    /// What seals the files of the channel. It needs no costly derivation, since nobody can guess it.
    ///
    /// - throws: `StoreError`.
    public func passphrase() throws -> Passphrase {
        var digits = Data(derived("cipherstore relay 1 files").withUnsafeBytes { ByteText.hex($0) }.utf8)
        defer { digits.resetBytes(in: digits.startIndex..<digits.endIndex) }
        return try Passphrase(data: digits)
    }

    /// The way through a mailbox whose files are sealed with this key.
    ///
    /// Each file that is written is a request of each other replica: that something was read is told once an hour.
    ///
    /// - throws: `StoreError`.
    public func transport(through mailbox: any Mailbox) throws -> MailboxTransport {
        var transport = MailboxTransport(mailbox: mailbox, passphrase: try passphrase(), cost: .minimum)
        transport.acknowledgementSeconds = 3600
        return transport
    }

    private func token(_ info: String) -> RelayToken {
        guard let token = RelayToken(derived(info)) else { preconditionFailure("32 bytes were derived") }
        return token
    }

    private func derived(_ info: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(inputKeyMaterial: key, info: Data(info.utf8), outputByteCount: 32)
    }

    private static func erase(_ bytes: inout [UInt8]) {
        for index in bytes.indices { bytes[index] = 0 }
    }

    /// Names no secret.
    public var description: String { "RelayChannelKey" }

    /// Shows no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A channel of a relay, and what it belongs to.
public struct RelayChannel: Sendable, Equatable, CustomStringConvertible {
    /// Which one it is.
    public let id: RelayChannelID
    /// What it belongs to.
    public let key: RelayChannelKey

    /// Names a channel.
    public init(id: RelayChannelID, key: RelayChannelKey) { (self.id, self.key) = (id, key) }

    /// A channel that is not there yet, with a key of its own.
    public static func random() -> RelayChannel { RelayChannel(id: .random(), key: RelayChannelKey()) }

    /// The identifier.
    public var description: String { "channel \(id)" }
}
