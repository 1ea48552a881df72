import Foundation

/// A passphrase as it was given: checked, and in locked memory.
///
/// It has no description and cannot be read back. Text is normalised to NFC,
/// so that a passphrase typed on one system opens the file on another. A file that
/// another program made with text in another form opens with just those bytes, too.
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

    /// The bytes as they were given, where they are not the normalised ones.
    let givenBytes: SecretBytes?

    /// Makes a passphrase of text.
    ///
    /// - throws: A ``StoreError`` when it is empty or longer than
    ///   ``byteCountMax`` bytes.
    public init(_ string: String) throws {
        var string = string
        let (normalized, given) = try string.withUTF8 { try Self.secrets(UnsafeRawBufferPointer($0)) }
        self.init(bytes: normalized, givenBytes: given)
    }

    /// Makes a passphrase of bytes. Valid UTF-8 is normalised, other bytes are
    /// taken as they are.
    ///
    /// - throws: A ``StoreError`` when there is none, or more than
    ///   ``byteCountMax``.
    public init(utf8 bytes: UnsafeRawBufferPointer) throws {
        let (normalized, given) = try Self.secrets(bytes)
        self.init(bytes: normalized, givenBytes: given)
    }

    /// Makes a passphrase of bytes, as ``init(utf8:)``.
    public init(data: Data) throws {
        let (normalized, given) = try data.withUnsafeBytes { try Self.secrets($0) }
        self.init(bytes: normalized, givenBytes: given)
    }

    private static func secrets(_ given: UnsafeRawBufferPointer) throws -> (SecretBytes, SecretBytes?) {
        // ASCII, the usual case, needs no String, which could not be zeroed.
        if given.allSatisfy({ $0 < 0x80 }) { return (try checked(given), nil) }
        guard let text = String(validating: given, as: UTF8.self) else { return (try checked(given), nil) }
        var normalized = text.precomposedStringWithCanonicalMapping
        return try normalized.withUTF8 { bytes in
            let secret = try checked(UnsafeRawBufferPointer(bytes))
            // The other form can be longer than what may be given.
            guard !bytes.elementsEqual(given), given.count <= byteCountMax else { return (secret, nil) }
            return (secret, try SecretBytes(given))
        }
    }

    private init(bytes: SecretBytes, givenBytes: SecretBytes?) {
        self.bytes = bytes
        self.givenBytes = givenBytes
    }

    private static func checked(_ bytes: UnsafeRawBufferPointer) throws -> SecretBytes {
        guard !bytes.isEmpty else { throw StoreError(.emptyPassphrase, "the passphrase is empty") }
        guard bytes.count <= byteCountMax else {
            throw StoreError(.passphraseTooLong, "the passphrase is longer than \(byteCountMax) bytes")
        }
        return try SecretBytes(bytes)
    }

    /// Makes a second value over the same memory.
    public func copy() -> Passphrase { Passphrase(bytes: bytes, givenBytes: givenBytes) }

    /// Returns whether two passphrases are the same, in constant time. Text that differs in its form only is the same
    /// one.
    public func matches(_ other: borrowing Passphrase) -> Bool { bytes.matches(other.bytes) }
}
