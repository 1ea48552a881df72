import Crypto
import Foundation
import SyncWire

/// The content key of an epoch: 32 random bytes, of which keys for all uses derive. It is never used
/// directly.
///
/// Descriptions and mirrors do not show it.
public struct EpochKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let secret: SymmetricKey

    /// Makes a random key.
    init() { secret = SymmetricKey(size: .bits256) }

    /// Takes a key that was opened, or kept.
    package init(_ bytes: some ContiguousBytes) throws(MembershipError) {
        secret = SymmetricKey(data: bytes)
        guard secret.bitCount == Epoch.keyByteCount * 8 else {
            throw MembershipError(.cannotOpen, "a content key has \(Epoch.keyByteCount) bytes")
        }
    }

    /// Derives a key of 32 bytes for one use.
    ///
    /// - parameters:
    ///     - use: What the key is for, in a word. Keys for different uses have nothing in common.
    ///     - salt: Random bytes that are kept beside what is sealed, for a key of its own.
    public func subkey(for use: String, salt: [UInt8] = []) -> SymmetricKey {
        Domain.epochUse.key(of: secret, salt: salt, context: Array(use.utf8))
    }

    /// The key under which those of earlier epochs are sealed, once.
    var historyKey: SymmetricKey { Domain.epochHistory.key(of: secret) }

    /// What a statement says of the key, by which those who open it see that it is the right one.
    func commitment(in store: StoreID) -> [UInt8] { Domain.epochCommitment.hash([store.bytes, bytes]) }

    /// The secret bytes, to be sealed, or kept in the encrypted store.
    package var bytes: [UInt8] { secret.withUnsafeBytes { Array($0) } }

    /// What it is, and not the key.
    public var description: String { "key of an epoch" }
    /// The same.
    public var debugDescription: String { description }
    /// A mirror that shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
