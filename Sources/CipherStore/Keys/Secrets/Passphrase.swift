import Foundation

/// A passphrase as it was given: checked, and in locked memory.
///
/// It has no description and cannot be read back. Text is normalised to NFC,
/// so that a passphrase typed on one system opens the file on another.
///
/// Its copies, a ``Secret`` made of it and configurations that use it share its memory, which is zeroed when
/// the last of them goes.
///
/// ```swift
/// let passphrase = try Passphrase("correct horse battery staple")
/// try StoreRekey.run(path: "notes.db", from: passphrase, to: other)
/// ```
public struct Passphrase: ~Copyable, Sendable {
    /// The most bytes a passphrase may have.
    public static let byteCountMax = 1024

    let bytes: SecretBytes

    /// Makes a passphrase of text.
    ///
    /// - throws: A ``StoreError`` when it is empty or longer than
    ///   ``byteCountMax`` bytes.
    public init(_ string: String) throws {
        self.init(bytes: try Self.normalized(string))
    }

    /// Makes a passphrase of bytes. Valid UTF-8 is normalised, other bytes are
    /// taken as they are.
    ///
    /// - throws: A ``StoreError`` when there is none, or more than
    ///   ``byteCountMax``.
    public init(utf8 bytes: UnsafeRawBufferPointer) throws {
        self.init(bytes: try Self.secret(bytes))
    }

    /// Makes a passphrase of bytes, as ``init(utf8:)``.
    public init(data: Data) throws {
        self.init(bytes: try data.withUnsafeBytes { try Self.secret($0) })
    }

    private static func secret(_ bytes: UnsafeRawBufferPointer) throws -> SecretBytes {
        // ASCII, the usual case, needs no String, which could not be zeroed.
        if bytes.allSatisfy({ $0 < 0x80 }) { return try checked(bytes) }
        guard let text = String(validating: bytes, as: UTF8.self) else { return try checked(bytes) }
        return try normalized(text)
    }

    private static func normalized(_ string: String) throws -> SecretBytes {
        var normalized = string.precomposedStringWithCanonicalMapping
        return try normalized.withUTF8 { try checked(UnsafeRawBufferPointer($0)) }
    }

    private init(bytes: SecretBytes) { self.bytes = bytes }

    private static func checked(_ bytes: UnsafeRawBufferPointer) throws -> SecretBytes {
        guard !bytes.isEmpty else { throw StoreError(.emptyPassphrase, "the passphrase is empty") }
        guard bytes.count <= byteCountMax else {
            throw StoreError(.passphraseTooLong, "the passphrase is longer than \(byteCountMax) bytes")
        }
        return try SecretBytes(bytes)
    }

    /// Makes a second value over the same memory.
    public func copy() -> Passphrase { Passphrase(bytes: bytes) }

    /// Returns whether two passphrases are the same, in constant time.
    public func matches(_ other: borrowing Passphrase) -> Bool { bytes.matches(other.bytes) }
}
