import Foundation

/// Reads a file that ``SealedFileWriter`` wrote, piece by piece.
///
/// Each piece is authentic when it is handed out; that none is missing at the end is known when
/// ``next()`` returns nil. Whoever acts on pieces before must be able to undo it.
public final class SealedFileReader {
    /// When the file was made, in milliseconds since 1970; nil for one that is not encrypted.
    public let createdMilliseconds: Int64?
    /// The size of the file.
    public let byteCount: Int
    /// How much of the file was read.
    public private(set) var completedByteCount: Int

    private let path: String
    private let source: any ByteSource
    private var cipher: ArchiveChunkCipher?
    /// Holds back what may be padding, in a file that has some.
    private var unpadding: UnpaddedContent?
    /// The cipher and the place of the first piece.
    private let start: (cipher: ArchiveChunkCipher?, byteCount: Int)

    /// Whether a file says that it is a sealed one. This reads its first bytes.
    ///
    /// - throws: A ``StoreError``: `missing`, `empty`, `cannotRead`.
    public static func isSealed(_ path: String) throws -> Bool {
        try isSealed(NamedFileSource.open(path))
    }

    /// The same of a file that is open at its start, and stays there.
    package static func isSealed(_ source: any ByteSource) throws -> Bool {
        Array(try source.peek(upToCount: ArchiveHeader.magic.count)) == ArchiveHeader.magic
    }

    /// What a sealed file says that it holds; nil for an archive. Nothing of that is authentic yet.
    ///
    /// - throws: A ``StoreError``: `missing`, `empty`, `cannotRead`, `archiveDamaged`, `formatTooNew`.
    package static func kind(of path: String) throws -> SealedFileKind? {
        let start = try NamedFileSource.open(path).peek(upToCount: ArchiveHeader.byteCountMax)
        guard case .stream(let kind) = try ArchiveHeader.parse([UInt8](start), path: path).0.content
        else { return nil }
        return kind
    }

    /// Opens a file.
    ///
    /// - parameters:
    ///     - path: The file.
    ///     - kind: What it must hold.
    ///     - secret: What opens it; nil reads a file that is not encrypted.
    ///     - limit: The most that is paid for trying a passphrase.
    /// - throws: A ``StoreError``: `missing`, `empty`, `cannotRead`, `wrongPassphrase`, `archiveDamaged`,
    ///   `formatTooNew`, `encryptionMismatch`, `costOutOfRange`.
    public convenience init(
        path: String, kind: SealedFileKind, opening secret: ArchiveSecret?,
        limit: ScryptCost = .defaultLimit
    ) throws {
        try self.init(
            NamedFileSource.open(path), path: path, kind: kind, opening: secret, limit: limit)
    }

    /// Reads a file whose bytes come from elsewhere.
    ///
    /// - parameters:
    ///     - source: The file, open at its start.
    ///     - path: How errors name it.
    /// - throws: As ``init(path:kind:opening:limit:)``; what the source throws.
    package init(
        _ source: any ByteSource, path: String, kind: SealedFileKind, opening secret: ArchiveSecret?,
        limit: ScryptCost = .defaultLimit
    ) throws {
        self.path = path
        self.source = source
        byteCount = source.byteCount
        guard let secret else {
            createdMilliseconds = nil
            completedByteCount = 0
            start = (nil, 0)
            return
        }
        let head = [UInt8](try source.peek(upToCount: ArchiveHeader.byteCountMax))
        guard head.starts(with: ArchiveHeader.magic) else {
            throw StoreError(.archiveDamaged, "the file is not an encrypted one of this program", path: path)
        }
        let (header, count) = try ArchiveHeader.parse(head, path: path)
        guard header.content == .stream(kind) else {
            throw StoreError(
                .archiveDamaged, "the file holds something else than what was asked for", path: path)
        }
        let fileKey = try header.stanza.unlock(with: secret, limit: limit, path: path)
        try ArchiveHeader.verify(Array(head.prefix(count)), fileKey: fileKey, path: path)
        cipher = ArchiveChunkCipher(fileKey: fileKey, nonce: header.payloadNonce)
        unpadding = header.isPadded ? UnpaddedContent() : nil
        createdMilliseconds = header.createdMilliseconds
        completedByteCount = count
        start = (cipher, count)
        _ = try source.read(upToCount: count)
    }

    /// Begins again with the first piece. Its key is known, so that costs no derivation.
    ///
    /// - throws: A ``StoreError`` of code `cannotRead`.
    package func rewind() throws {
        do {
            try source.rewind()
            _ = try source.read(upToCount: start.byteCount)
        } catch {
            throw StoreError(.cannotRead, "cannot read it from the start", path: path)
        }
        (cipher, completedByteCount, hasEnded) = (start.cipher, start.byteCount, false)
        if unpadding != nil { unpadding = UnpaddedContent() }
    }

    /// Reads the next piece; nil after the last one.
    ///
    /// - throws: A ``StoreError``: `archiveDamaged` when a piece was changed, or the file was cut off; `cannotRead`.
    public func next() throws -> Data? {
        guard unpadding != nil else { return try nextChunk() }
        while true {
            if let piece = unpadding?.next() { return piece }
            guard let chunk = try nextChunk() else { break }
            unpadding?.append(chunk)
        }
        guard unpadding?.isAtEnd == true else { throw damaged }
        return nil
    }

    private func nextChunk() throws -> Data? {
        let remaining = byteCount - completedByteCount
        guard remaining > 0 else {
            guard cipher == nil || hasEnded else { throw damaged }
            return nil
        }
        let size = cipher == nil ? ArchiveChunkCipher.chunkByteCount : ArchiveChunkCipher.sealedChunkByteCount
        let count = min(remaining, size)
        let read = try source.read(upToCount: count)
        guard read.count == count else { throw damaged }
        guard cipher != nil else {
            completedByteCount += count
            return read
        }
        let isLast = remaining == count
        guard let chunk = try cipher?.open(read, isLast: isLast) else { throw damaged }
        completedByteCount += count
        hasEnded = isLast
        return chunk
    }

    private var hasEnded = false

    private var damaged: StoreError {
        StoreError(
            .archiveDamaged,
            "the file is damaged or not complete at byte \(completedByteCount); use another copy of it",
            path: path)
    }
}
