import CipherStore
import Foundation
import SyncWire

/// A bundle as a file: changes that travel on a stick, by mail or through a folder.
///
/// Its content are the frames of `Schemas/wire/v1.md`. They hold the values of rows in plain
/// text, so a bundle file is encrypted, in the format of archives, unless its maker says otherwise.
public enum BundleFile {
    /// How a bundle file is written.
    public enum Protection: Sendable {
        /// Encrypted, for whoever opens the lock.
        case sealed(ArchiveLock)
        /// Not encrypted: whoever reads the file reads the rows.
        case plaintext
    }

    /// How a bundle file is read.
    public enum Access: Sendable {
        /// Encrypted. A file that is not encrypted is refused.
        case sealed(ArchiveSecret)
        /// Not encrypted, and nothing says who made it. A file that is encrypted is refused.
        case plaintext
    }

    /// A table of a bundle.
    public struct Table: Equatable, Sendable {
        /// Its name.
        public let name: String
        /// The rows of it that exist.
        public internal(set) var rowCount: Int64 = 0
        /// The rows of it that are deleted.
        public internal(set) var deletedCount: Int64 = 0
    }

    /// What a bundle file says, after all of it was checked.
    public struct Information: Equatable, Sendable {
        /// The database that it belongs to.
        public let store: StoreID
        /// The replica that made it.
        public let sender: ReplicaID
        /// What the receiver has to know already.
        public let base: VersionVector
        /// What the receiver knows afterwards.
        public let target: VersionVector
        /// The tables with changes.
        public let tables: [Table]
        /// The rows of all tables, deleted ones included.
        public let rowCount: Int64
        /// The size of the file.
        public let byteCount: Int
        /// When it was made, in milliseconds of Unix time; nil when it is not encrypted.
        public let createdMilliseconds: Int64?

        /// Whether it holds no changes, and only says what its sender knows.
        public var isRequest: Bool { rowCount == 0 && base == target }
    }

    static let kind = SealedFileKind(rawValue: 1)

    /// Reads all of a bundle file, and checks each byte of it.
    ///
    /// - parameter path: The file.
    /// - parameter access: How the file is read.
    /// - parameter progress: Called with the bytes that were read, and their number.
    /// - throws: `StoreError` for the file, `WireError` for its content.
    public static func inspect(
        _ path: String, _ access: Access, progress: SyncProgressHandler? = nil
    ) throws -> Information {
        try inspect(open(path, access), path: path, progress: progress)
    }

    /// The same of a file that is open at its start.
    static func inspect(
        _ file: SealedFileReader, path: String, progress: SyncProgressHandler? = nil
    ) throws -> Information {
        var reader = BundleReader()
        var tables: [Table] = []
        try forEachFrame(of: file, path: path, progress: progress) { frame in
            try reader.consume(frame) { header in
                tables = header.tables.map { Table(name: $0.name) }
            } onRow: { row in
                if row.isAlive {
                    tables[row.table].rowCount += 1
                } else {
                    tables[row.table].deletedCount += 1
                }
            }
        }
        guard reader.isComplete, let header = reader.header else {
            throw WireError(.truncated, "the bundle has no end")
        }
        assert(tables.reduce(0) { $0 + $1.rowCount + $1.deletedCount } == Int64(reader.rowCount))
        return Information(
            store: header.store, sender: header.sender, base: header.base, target: header.target,
            tables: tables.filter { $0.rowCount + $0.deletedCount > 0 }, rowCount: Int64(reader.rowCount),
            byteCount: file.byteCount, createdMilliseconds: file.createdMilliseconds)
    }

    /// Whether a file begins as a bundle does, encrypted or not. Nothing else of it is looked at.
    ///
    /// - throws: ``StoreError``: `missing`, `empty`, `cannotRead`, `archiveDamaged`, `formatTooNew`.
    package static func beginsAsOne(_ path: String) throws -> Bool {
        if try SealedFileReader.isSealed(path) { return try SealedFileReader.kind(of: path) == kind }
        let file = try SealedFileReader(path: path, kind: kind, opening: nil)
        let start = try file.next() ?? Data()
        // A file that was cut off inside of the first bytes still begins as one.
        guard start.first == Frame.Kind.bundle.rawValue else { return false }
        var assembler = FrameAssembler()
        do {
            let prefix = start.prefix(Frame.prefixByteCount)
            try prefix.withUnsafeBytes { try assembler.append($0, onFrame: { _ in }) }
            return true
        } catch is WireError {
            return false
        }
    }

    /// Reads what a bundle says of itself. Its rows are not looked at, and some of the file was read then.
    static func header(of file: SealedFileReader) throws -> BundleHeader {
        var reader = BundleReader()
        var assembler = FrameAssembler()
        while reader.header == nil, let piece = try file.next() {
            try piece.withUnsafeBytes { bytes in
                try assembler.append(bytes) { frame in
                    guard reader.header == nil else { return }
                    try reader.consume(frame, onHeader: { _ in }, onRow: { _ in })
                }
            }
        }
        guard let header = reader.header else { throw WireError(.truncated, "the bundle has no header") }
        return header
    }

    static func open(_ path: String, _ access: Access) throws -> SealedFileReader {
        let isSealed = try SealedFileReader.isSealed(path)
        switch access {
        case .sealed(let secret):
            guard isSealed else {
                throw StoreError(
                    .encryptionMismatch, "the file is not encrypted, or is no bundle", path: path)
            }
            return try SealedFileReader(path: path, kind: kind, opening: secret)
        case .plaintext:
            guard !isSealed else {
                throw StoreError(.encryptionMismatch, "the file is encrypted; say what opens it", path: path)
            }
            return try SealedFileReader(path: path, kind: kind, opening: nil)
        }
    }

    /// Hands out the frames of a file. Returns when the whole file was there and authentic.
    static func forEachFrame(
        of file: SealedFileReader, path: String, progress: SyncProgressHandler?,
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var assembler = FrameAssembler()
        while let piece = try file.next() {
            try piece.withUnsafeBytes { try assembler.append($0, onFrame: body) }
            try progress?(Int64(file.completedByteCount), Int64(file.byteCount))
        }
        try assembler.finish()
    }

    /// A protection's writer, which gives the file its name at the end.
    static func writer(_ path: String, _ protection: Protection, _ environment: SyncEnvironment) throws
        -> SealedFileWriter
    {
        let lock: ArchiveLock? =
            switch protection {
            case .sealed(let lock): lock
            case .plaintext: nil
            }
        let now = Date(timeIntervalSince1970: Double(environment.milliseconds()) / 1000)
        return try SealedFileWriter(path: path, kind: kind, lock: lock, now: now)
    }
}
