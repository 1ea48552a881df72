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
    private let padding: SealedFilePadding
    private var buffer = Data()
    /// The bytes of what the file holds.
    private var contentByteCount = 0
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
    ///     - padding: What is added so that the size says less. A file that is not encrypted has none.
    /// - throws: A ``StoreError``: `cannotWrite`, `full`; `reservedName` when the path is that of a file beside a database.
    public init(
        path: String, kind: SealedFileKind, lock: ArchiveLock?, now: Date, padding: SealedFilePadding = .none
    ) throws {
        try FileReplacement.requireNoOwner(of: path)
        let file = try FileReplacement(destination: path, purpose: "sealed")
        self.file = file
        self.padding = padding
        do {
            let descriptor = try OutputDescriptor(file)
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
    ///     - padding: What is added so that the size says less. A file that is not encrypted has none.
    ///     - output: Takes the bytes, in their order. After ``end()`` it has all of them.
    /// - throws: What `output` throws.
    package init(
        kind: SealedFileKind, lock: ArchiveLock?, now: Date, padding: SealedFilePadding = .none,
        output: @escaping (Data) throws -> Void
    ) throws {
        file = nil
        self.output = output
        self.padding = padding
        try begin(kind, lock, now)
    }

    private func begin(_ kind: SealedFileKind, _ lock: ArchiveLock?, _ now: Date) throws {
        guard let lock else { return }
        let fileKey = try ArchiveFileKey.random()
        let header = ArchiveHeader(
            stanza: try .lock(fileKey, for: lock), content: .stream(kind),
            createdMilliseconds: Int64(now.timeIntervalSince1970 * 1000),
            payloadNonce: SlotKey.randomBytes(ArchiveHeader.nonceByteCount), isPadded: padding != .none)
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
        contentByteCount += bytes.count
        buffer.append(contentsOf: bytes)
        try sealFullChunks()
    }

    private func sealFullChunks() throws {
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
        if cipher != nil { try pad() }
        if let sealed = try cipher?.seal(buffer, isLast: true) { try emit(sealed) }
        buffer = Data()
    }

    /// Writes the padding: a byte that ends the content, and zeros.
    private func pad() throws {
        guard var missing = padding.paddingByteCount(for: contentByteCount) else { return }
        buffer.append(SealedFilePadding.mark)
        missing -= 1
        while missing > 0 {
            let count = min(missing, ArchiveChunkCipher.chunkByteCount)
            buffer.append(Data(count: count))
            missing -= count
            try sealFullChunks()
        }
    }

    /// Leaves no file.
    public func discard() {
        if isOpen { file?.discard() }
        isOpen = false
    }
}
