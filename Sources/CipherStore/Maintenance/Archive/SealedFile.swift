import Foundation

/// What a sealed file holds, as a number in its authenticated head. A reader refuses a file of
/// another kind than it expects. `Schemas/archive/v1.md` lists the kinds.
public struct SealedFileKind: RawRepresentable, Equatable, Sendable {
    /// The number, from 1.
    public let rawValue: UInt8

    /// Makes a kind.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
}

/// Writes a file of any bytes, encrypted in the format of archives: authenticated as a whole, and
/// locked by a passphrase or for the holder of a private key.
///
/// ```swift
/// let file = try SealedFileWriter(path: "changes.bundle", kind: kind, lock: .init(passphrase: p))
/// try file.write(bytes)
/// try file.finish()      // only now the file has its name
/// ```
public final class SealedFileWriter {
    /// The file that gets its name at the end; nil when the bytes go elsewhere.
    private let file: FileReplacement?
    private let output: (Data) throws -> Void
    private var cipher: ArchiveChunkCipher?
    private var buffer = Data()
    private var isOpen = true

    /// The bytes that were written so far, encrypted.
    public private(set) var byteCount = 0

    /// Begins a file under a temporary name beside its destination.
    ///
    /// - parameters:
    ///     - path: Where the file goes.
    ///     - kind: What it holds.
    ///     - lock: Who can open it; nil writes the bytes as they are, **not encrypted**.
    ///     - now: What the file says about when it was made.
    /// - throws: A ``StoreError``: `cannotWrite`, `full`.
    public init(path: String, kind: SealedFileKind, lock: ArchiveLock?, now: Date) throws {
        let file = try FileReplacement(destination: path, purpose: "sealed")
        self.file = file
        do {
            let descriptor = try OutputDescriptor(file.temporary, for: path)
            output = descriptor.write
            try begin(kind, lock, now)
        } catch {
            file.discard()
            throw error
        }
    }

    /// Begins a file whose bytes go where a function brings them, in pieces of at most 128 KiB unless the
    /// caller writes longer ones that are not encrypted.
    ///
    /// - parameters:
    ///     - kind: What it holds.
    ///     - lock: Who can open it; nil writes the bytes as they are, **not encrypted**.
    ///     - now: What the file says about when it was made.
    ///     - output: Takes the bytes, in their order. After ``end()`` it has all of them.
    /// - throws: What `output` throws.
    package init(
        kind: SealedFileKind, lock: ArchiveLock?, now: Date, output: @escaping (Data) throws -> Void
    ) throws {
        file = nil
        self.output = output
        try begin(kind, lock, now)
    }

    private func begin(_ kind: SealedFileKind, _ lock: ArchiveLock?, _ now: Date) throws {
        guard let lock else { return }
        let fileKey = try ArchiveFileKey.random()
        let header = ArchiveHeader(
            stanza: try .lock(fileKey, for: lock), content: .stream(kind),
            createdMilliseconds: Int64(now.timeIntervalSince1970 * 1000),
            payloadNonce: SlotKey.randomBytes(ArchiveHeader.nonceByteCount))
        cipher = ArchiveChunkCipher(fileKey: fileKey, nonce: header.payloadNonce)
        try emit(Data(header.encoded(fileKey: fileKey)))
    }

    deinit { if isOpen { file?.discard() } }

    private func emit(_ data: Data) throws {
        try output(data)
        byteCount += data.count
    }

    /// Writes bytes.
    ///
    /// - throws: A ``StoreError``: `cannotWrite`, `full`.
    public func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard cipher != nil else { return try emit(Data(bytes)) }
        buffer.append(contentsOf: bytes)
        // A chunk is sealed when something comes after it, because the last one is marked.
        var start = buffer.startIndex
        while buffer.endIndex - start > ArchiveChunkCipher.chunkByteCount {
            let end = start + ArchiveChunkCipher.chunkByteCount
            if let sealed = try cipher?.seal(Data(buffer[start..<end]), isLast: false) { try emit(sealed) }
            start = end
        }
        if start > buffer.startIndex { buffer = Data(buffer[start...]) }
    }

    /// Ends the file, and gives it its name.
    ///
    /// - parameters:
    ///     - replacing: Whether it takes the place of a file that has the name. Otherwise that is an error.
    ///     - isShared: Whether other users of the machine may read it, as the file mode says. What is
    ///       encrypted can lie in a folder that several users share.
    /// - throws: A ``StoreError``: `exists`, `cannotWrite`, `full`. No new file is left then.
    public func finish(replacing: Bool = false, isShared: Bool = false) throws {
        do {
            try end()
            guard let file else { return }
            if isShared { file.allowReading() }
            try replacing ? file.replaceDestination() : file.moveIntoPlace()
        } catch {
            file?.discard()
            throw error
        }
    }

    /// Writes the end of a file whose bytes go elsewhere. What becomes of them is up to who takes them.
    ///
    /// - throws: What the function throws that takes the bytes.
    package func end() throws {
        precondition(isOpen, "a sealed file is finished once")
        isOpen = false
        if let sealed = try cipher?.seal(buffer, isLast: true) { try emit(sealed) }
        buffer = Data()
    }

    /// Leaves no file.
    public func discard() {
        if isOpen { file?.discard() }
        isOpen = false
    }
}

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
    /// The cipher and the place of the first piece.
    private let start: (cipher: ArchiveChunkCipher?, byteCount: Int)

    /// Whether a file says that it is a sealed one. This reads its first bytes.
    ///
    /// - throws: A ``StoreError``: `missing`, `empty`, `cannotRead`.
    public static func isSealed(_ path: String) throws -> Bool {
        let start = try PlainFile.open(path).read(upToCount: ArchiveHeader.magic.count)
        return start.map { Array($0) } == ArchiveHeader.magic
    }

    /// The same of a file that is open at its start, and stays there.
    package static func isSealed(_ source: any ByteSource) throws -> Bool {
        Array(try source.peek(upToCount: ArchiveHeader.magic.count)) == ArchiveHeader.magic
    }

    /// What a sealed file says that it holds; nil for an archive. Nothing of that is authentic yet.
    ///
    /// - throws: A ``StoreError``: `missing`, `empty`, `cannotRead`, `archiveDamaged`, `formatTooNew`.
    package static func kind(of path: String) throws -> SealedFileKind? {
        let start = try PlainFile.open(path).read(upToCount: ArchiveHeader.byteCountMax)
        guard case .stream(let kind) = try ArchiveHeader.parse([UInt8](start ?? Data()), path: path).0.content
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
            FileSource(PlainFile.open(path)), path: path, kind: kind, opening: secret, limit: limit)
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
    }

    /// Reads the next piece; nil after the last one.
    ///
    /// - throws: A ``StoreError``: `archiveDamaged` when a piece was changed, or the file was cut off; `cannotRead`.
    public func next() throws -> Data? {
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

/// Opens regular files only: a pipe or a device could block for ever.
private enum PlainFile {
    static func open(_ path: String) throws -> FileHandle {
        let attributes = try? FileManager.default.attributesOfItem(
            atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
        guard let attributes else { throw StoreError(.missing, "there is no such file", path: path) }
        guard attributes[.type] as? FileAttributeType == .typeRegular else {
            throw StoreError(.cannotRead, "not a regular file", path: path)
        }
        guard (attributes[.size] as? NSNumber)?.intValue != 0 else {
            throw StoreError(.empty, "the file is empty", path: path)
        }
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw StoreError(.cannotRead, "cannot open: \(StoreError.systemText)", path: path)
        }
        return handle
    }
}
