import Crypto
import Foundation

/// The start of an archive, as `Schemas/archive/v1.md` describes it.
///
/// It holds the file key, locked for who may open the archive, and is
/// authenticated under a key that is made of the file key.
struct ArchiveHeader: Equatable {
    static let magic = Array("CSARCHIV".utf8)
    static let version: UInt16 = 1
    /// The version of a file whose content ends with padding. A database has none.
    static let paddedVersion: UInt16 = 2
    static let macByteCount = 32
    static let nonceByteCount = 16
    /// More than any header of this version takes.
    static let byteCountMax = 512

    /// How the file key is locked.
    let stanza: ArchiveStanza

    /// What is inside.
    let content: ArchiveContent

    /// When the archive was made, in milliseconds since 1970.
    let createdMilliseconds: Int64

    /// The salt of the key of the chunks.
    let payloadNonce: [UInt8]

    /// Whether padding follows the content.
    var isPadded = false

    /// The bytes before the MAC.
    private var bytes: [UInt8] {
        var writer = KeyringWriter()
        writer.append(Self.magic)
        writer.append(isPadded ? Self.paddedVersion : Self.version)
        content.append(to: &writer)
        writer.append(createdMilliseconds)
        writer.append(stanza.encoded)
        writer.append(payloadNonce)
        return writer.bytes
    }

    /// The header's bytes, with the MAC under the file key.
    func encoded(fileKey: ArchiveFileKey) -> [UInt8] {
        let bytes = bytes
        return bytes + fileKey.headerMAC(of: bytes)
    }

    /// Reads a header. Nothing is known about who wrote it until ``verify(_:fileKey:path:)``.
    ///
    /// - parameter bytes: The start of the file, at most ``byteCountMax`` bytes.
    /// - returns: The header and its size.
    /// - throws: A ``StoreError``: `archiveDamaged`, `formatTooNew`.
    static func parse(_ bytes: [UInt8], path: String) throws -> (ArchiveHeader, byteCount: Int) {
        var reader = KeyringReader(bytes) {
            StoreError(.archiveDamaged, "the archive is damaged (\($0)); use another copy of it", path: path)
        }
        guard bytes.starts(with: magic) else {
            throw StoreError(.archiveDamaged, "the file is no archive", path: path)
        }
        _ = try reader.take(magic.count)
        let version = try reader.takeUInt16()
        let tooNew = StoreError(
            .formatTooNew, "the archive has format \(version); this program knows \(Self.version)",
            path: path, needsNewerLibrary: true)
        guard version == Self.version || version == Self.paddedVersion else { throw tooNew }
        let content = try ArchiveContent(from: &reader)
        let isPadded = version == Self.paddedVersion
        if isPadded, case .database = content { throw tooNew }
        let created = Int64(bitPattern: try reader.takeUInt64())
        let stanza = try ArchiveStanza(from: &reader)
        let header = ArchiveHeader(
            stanza: stanza, content: content, createdMilliseconds: created,
            payloadNonce: try reader.take(nonceByteCount), isPadded: isPadded)
        _ = try reader.take(macByteCount)
        return (header, bytes.count - reader.remainingByteCount)
    }

    /// Checks the MAC at the end of a header.
    ///
    /// - throws: A ``StoreError`` of code `archiveDamaged`.
    static func verify(_ bytes: [UInt8], fileKey: ArchiveFileKey, path: String) throws {
        guard
            HMAC<SHA256>.isValidAuthenticationCode(
                bytes.suffix(macByteCount), authenticating: bytes.dropLast(macByteCount),
                using: fileKey.key(for: "header"))
        else {
            throw StoreError(
                .archiveDamaged, "the head of the archive was changed; use another copy of it", path: path)
        }
    }
}

/// What an archive holds.
enum ArchiveContent: Equatable {
    /// A database file of this format and page size.
    case database(CipherSettings)
    /// Bytes of a kind that the program which wrote them knows.
    case stream(SealedFileKind)

    init(from reader: inout KeyringReader) throws {
        // The byte of a database is the major version of its format, which is never 0.
        if try reader.peekByte() == 0 {
            _ = try reader.takeByte()
            let kind = try reader.takeByte()
            guard kind > 0 else { throw reader.damaged("there is no kind of content 0") }
            self = .stream(SealedFileKind(rawValue: kind))
        } else {
            self = .database(try reader.takeSettings())
        }
    }

    func append(to writer: inout KeyringWriter) {
        switch self {
        case .database(let settings): writer.append(settings)
        case .stream(let kind):
            writer.append(UInt8(0))
            writer.append(kind.rawValue)
        }
    }
}
