import Foundation

/// One way to open a keyring: a passphrase, a recovery key or a key file.
///
/// A slot holds the data key of the store, sealed under a key that is derived
/// from the slot's secret. Nothing here is secret.
public struct KeySlot: Equatable, Sendable, Identifiable {
    /// What opens a slot.
    public enum Kind: UInt8, Sendable, CaseIterable {
        /// A passphrase, by scrypt.
        case passphrase = 1
        /// A recovery key, printed once.
        case recoveryKey = 2
        /// A file with random bytes.
        case keyFile = 3

        /// A word for people and programs: `passphrase`, `recovery-key` or `key-file`.
        public var name: String {
            switch self {
            case .passphrase: "passphrase"
            case .recoveryKey: "recovery-key"
            case .keyFile: "key-file"
            }
        }
    }

    /// The name of a slot: eight random bytes, in hexadecimal.
    public struct ID: Hashable, Sendable, CustomStringConvertible, LosslessStringConvertible {
        static let byteCount = 8
        let bytes: [UInt8]

        init(bytes: [UInt8]) { self.bytes = bytes }

        static func random() -> ID { ID(bytes: SlotKey.randomBytes(byteCount)) }

        /// Reads 16 hexadecimal digits.
        public init?(_ description: String) {
            let digits = Array(description.utf8)
            guard digits.count == 2 * Self.byteCount, digits.allSatisfy({ $0 < 0x80 }) else { return nil }
            var bytes: [UInt8] = []
            for index in stride(from: 0, to: digits.count, by: 2) {
                guard let high = Self.value(digits[index]), let low = Self.value(digits[index + 1]) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            }
            self.bytes = bytes
        }

        private static func value(_ digit: UInt8) -> UInt8? {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
            default: nil
            }
        }

        /// 16 hexadecimal digits.
        public var description: String {
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }

    /// The most bytes a label may have, in UTF-8.
    public static let labelByteCountMax = 64

    /// The name of the slot.
    public let id: ID

    /// What opens it.
    public let kind: Kind

    /// What people call it, such as `laptop`. It is not encrypted.
    public let label: String

    /// When it was made, in milliseconds since 1970.
    public let createdMilliseconds: Int64

    /// What trying one passphrase costs; nil when the secret is random.
    public let cost: ScryptCost?

    /// The salt of the derivation.
    let salt: [UInt8]

    /// A keyed digest that proves the secret before anything is decrypted.
    let commitment: [UInt8]

    /// The data key that the store has.
    var active: SealedDataKey

    /// The data key that a rotation is giving the store, while it runs.
    var pending: SealedDataKey?

    static func checkedLabel(_ label: String) throws -> String {
        guard label.utf8.count <= labelByteCountMax else {
            throw StoreError(.labelInvalid, "the label is longer than \(labelByteCountMax) bytes")
        }
        guard label.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw StoreError(.labelInvalid, "the label has control characters")
        }
        return label
    }
}

/// A data key that a slot's key has sealed, with ChaCha20-Poly1305 (RFC 8439).
struct SealedDataKey: Equatable, Sendable {
    static let byteCount = DataKey.byteCount + SlotKey.tagByteCount

    /// The number that is used once.
    let nonce: [UInt8]

    /// The encrypted key and its tag.
    let box: [UInt8]
}

/// A slot of a kind that this program does not know: a newer one made it.
///
/// It is kept as it is. It does not open here, and takes no part in a rotation.
public struct UnknownKeySlot: Equatable, Sendable, Identifiable {
    /// The name of the slot.
    public let id: KeySlot.ID

    /// The number of its kind.
    public let kindNumber: UInt8

    /// All of its bytes.
    let bytes: [UInt8]

    /// The name and the kind.
    static let byteCountMin = KeySlot.ID.byteCount + 1
}

extension KeySlot.Kind {
    /// The word in a sentence.
    var noun: String {
        switch self {
        case .passphrase: "passphrase"
        case .recoveryKey: "recovery key"
        case .keyFile: "key file"
        }
    }
}
