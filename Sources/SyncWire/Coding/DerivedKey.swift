import Crypto

/// A UUID that is derived from the key that a row had before, so that two devices
/// that convert copies of one file give each row the same UUID.
///
/// It is a UUID of version 8 (RFC 9562, section 5.8): the first 16 bytes of a SHA-256,
/// with the version and the variant written over six of their bits.
/// `Schemas/keys/v1.md` describes the input of the hash, and has vectors.
public struct DerivedKey: Sendable {
    /// A value of the old key, as the database compares it.
    public enum Part: Hashable, Sendable {
        /// NULL.
        case null
        /// A whole number; a real number that is one, too.
        case integer(Int64)
        /// Another real number.
        case real(Double)
        /// Text; in the form that the key's collation takes for equal.
        case text(String)
        /// Bytes.
        case blob([UInt8])
    }

    private static let domain = Array("CipherStore derived key 1".utf8) + [0]

    private let head: [UInt8]

    /// Makes what derives the keys of a table.
    ///
    /// - parameters:
    ///     - namespace: What all copies of the database share, and no other database has.
    ///     - table: The name of the table. The case of its ASCII letters does not count.
    public init(namespace: Identifier128, table: String) {
        let name = table.utf8.map { $0 >= 65 && $0 <= 90 ? $0 | 32 : $0 }
        head = Self.domain + namespace.bytes + Self.length(name.count) + name
    }

    /// Derives the key of a row.
    ///
    /// - parameters:
    ///     - parts: The values of the old key, in the order of its columns.
    ///     - salt: What only this device has, for rows that only this device has; empty for others.
    public func key(of parts: [Part], salt: [UInt8] = []) -> Identifier128 {
        var input = head + Self.length(salt.count) + salt + Self.length(parts.count)
        for part in parts { Self.append(part, to: &input) }
        var digest: [UInt8] = Array(SHA256.hash(data: input).prefix(16))
        digest[6] = digest[6] & 0x0f | 0x80
        digest[8] = digest[8] & 0x3f | 0x80
        let number = { (range: Range<Int>) in digest[range].reduce(0 as UInt64) { $0 << 8 | UInt64($1) } }
        return Identifier128(high: number(0..<8), low: number(8..<16))
    }

    private static func append(_ part: Part, to input: inout [UInt8]) {
        switch part {
        case .null: input.append(0)
        case .integer(let value): input += [1] + bigEndian(UInt64(bitPattern: value))
        case .real(let value): input += [2] + bigEndian(value.bitPattern)
        case .text(let value): input += [3] + length(value.utf8.count) + Array(value.utf8)
        case .blob(let value): input += [4] + length(value.count) + value
        }
    }

    private static func length(_ count: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: count).bigEndian) { Array($0) }
    }

    private static func bigEndian(_ value: UInt64) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}
