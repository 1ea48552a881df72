import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The file of an archive: a header, and chunks to its end.
struct ArchiveFile {
    let header: ArchiveHeader
    let headerBytes: [UInt8]
    /// How errors name it.
    let path: String
    private let source: any ByteSource

    /// Opens a file and reads its header.
    ///
    /// - throws: A ``StoreError``: `missing`, `empty`, `cannotRead`, `archiveDamaged`, `formatTooNew`.
    init(_ path: String) throws {
        try self.init(NamedFileSource.open(path), path: path)
    }

    /// Reads the header of a file that is open at its start.
    ///
    /// - parameter path: How errors name it.
    /// - throws: A ``StoreError``: `archiveDamaged`, `formatTooNew`; what the source throws.
    init(_ source: any ByteSource, path: String) throws {
        self.path = path
        self.source = source
        let start = [UInt8](try source.peek(upToCount: ArchiveHeader.byteCountMax))
        let (header, count) = try ArchiveHeader.parse(start, path: path)
        self.header = header
        headerBytes = Array(start.prefix(count))
    }

    /// Writes a header and the chunks of a file.
    ///
    /// - parameter path: How errors name the archive.
    static func seal(
        _ source: String, header: [UInt8], cipher: ArchiveChunkCipher, path: String,
        to output: (Data) throws -> Void
    ) throws {
        var cipher = cipher
        guard let input = FileHandle(forReadingAtPath: source) else {
            throw StoreError(.cannotRead, "cannot read the copy: \(StoreError.systemText)", path: path)
        }
        defer { try? input.close() }
        try output(Data(header))
        var chunk = try input.read(upToCount: ArchiveChunkCipher.chunkByteCount) ?? Data()
        while true {
            let next = try input.read(upToCount: ArchiveChunkCipher.chunkByteCount) ?? Data()
            try output(cipher.seal(chunk, isLast: next.isEmpty))
            if next.isEmpty { return }
            chunk = next
        }
    }

    /// Decrypts the chunks into a file.
    ///
    /// What is written is not to be used unless this returns: only the last chunk proves that
    /// nothing was cut off.
    ///
    /// - returns: The salt of the database file, and its size.
    /// - throws: A ``StoreError``: `archiveDamaged`, `full`, `cannotWrite`, `cannotRead`.
    func open(into file: FileReplacement, cipher: ArchiveChunkCipher) throws -> (
        salt: [UInt8], byteCount: Int
    ) {
        var cipher = cipher
        let output = try OutputDescriptor(file)
        try source.rewind()
        _ = try source.read(upToCount: headerBytes.count)
        let byteCount = source.byteCount
        var remaining = byteCount - headerBytes.count
        var salt: [UInt8] = []
        var written = 0
        repeat {
            let count = min(remaining, ArchiveChunkCipher.sealedChunkByteCount)
            let sealed = try source.read(upToCount: count)
            remaining -= count
            guard sealed.count == count, let chunk = try cipher.open(sealed, isLast: remaining == 0) else {
                throw StoreError(
                    .archiveDamaged,
                    "the archive is damaged or not complete at byte \(byteCount - remaining - count); use another copy of it",
                    path: path)
            }
            if salt.isEmpty { salt = Array(chunk.prefix(CipherSettings.saltByteCount)) }
            try output.write(chunk)
            written += chunk.count
        } while remaining > 0
        guard case .database(let settings) = header.content, salt.count == CipherSettings.saltByteCount,
            written.isMultiple(of: settings.pageSize)
        else {
            throw StoreError(.archiveDamaged, "the archive holds no database", path: path)
        }
        return (salt, written)
    }
}

/// A new file that is written from its start to its end.
package final class OutputDescriptor {
    private let handle: FileHandle
    private let path: String

    /// Opens the temporary file of a replacement. Errors name its destination.
    ///
    /// - throws: A ``StoreError`` of code `cannotWrite`.
    package init(_ file: FileReplacement) throws {
        handle = FileHandle(fileDescriptor: try file.openTemporary(O_WRONLY), closeOnDealloc: true)
        path = file.destination
    }

    deinit { try? handle.close() }

    /// - throws: A ``StoreError``: `cannotWrite`, `full`.
    package func write(_ data: Data) throws {
        do {
            try handle.write(contentsOf: data)
        } catch let error as CocoaError {
            if error.code == .fileWriteOutOfSpace {
                throw StoreError(.full, "the disk is full; nothing was changed", path: path)
            }
            throw StoreError(.cannotWrite, "cannot write: \(error.systemText)", path: path)
        }
    }
}
