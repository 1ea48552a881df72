import CipherStore
import Foundation
import SyncMembers
import SyncWire

/// A file of a mailbox that holds statements about members: each after its length, 4 bytes, the least significant first.
enum StatementFile {
    static let kind = SealedFileKind(rawValue: 3)
    /// More than all statements of a database take, and padding.
    static let byteCountMax =
        (MembershipLimits.totalByteCountMax + MembershipLimits.statementCountMax * 4) / 8 * 9 + (1 << 20)
    private static let suffix = ".statements"

    /// A name that was never used before: such files never change.
    static func name(_ random: Identifier128) -> String { random.description + suffix }

    /// Whether a name is that of such a file.
    static func isName(_ name: String) -> Bool {
        name.hasSuffix(suffix) && Identifier128(hexadecimal: String(name.dropLast(suffix.count))) != nil
    }

    /// Writes statements.
    static func write(
        _ statements: [SignedStatement], lock: ArchiveLock, now: Date, padding: SealedFilePadding = .none,
        to sink: @escaping (Data) throws -> Void
    ) throws {
        let file = try SealedFileWriter(kind: kind, lock: lock, now: now, padding: padding, output: sink)
        for statement in statements {
            let length = withUnsafeBytes(of: UInt32(statement.bytes.count).littleEndian) { Array($0) }
            try (length + statement.bytes).withUnsafeBytes { try file.write($0) }
        }
        try file.end()
    }

    /// Reads a file that is open at its start. Statements that can't be read are left out.
    ///
    /// - returns: The statements, and how many were left out.
    /// - throws: A `StoreError` for the file; ``SyncError`` of code `invalidBundle` for its content.
    static func read(
        _ source: any ByteSource, path: String, opening secret: ArchiveSecret
    ) throws -> (statements: [SignedStatement], leftOut: Int) {
        guard source.byteCount <= byteCountMax else {
            throw SyncError(.invalidBundle, "\(path): longer than \(byteCountMax) bytes")
        }
        let file = try SealedFileReader(source, path: path, kind: kind, opening: secret)
        var reader = Reader(path: path)
        while let piece = try file.next() { try reader.append(piece) }
        return try reader.finish()
    }

    /// Takes a file apart, and checks each length before memory is taken for it.
    private struct Reader {
        let path: String
        private var statements: [SignedStatement] = []
        private var leftOut = 0
        private var rest: [UInt8] = []

        init(path: String) { self.path = path }

        mutating func append(_ piece: Data) throws {
            rest += piece
            var start = 0
            while rest.count - start >= 4 {
                let length = (0..<4).reduce(0) { $0 | Int(rest[start + $1]) << (8 * $1) }
                guard length <= MembershipLimits.statementByteCountMax else {
                    throw SyncError(.invalidBundle, "\(path): a statement is too long")
                }
                guard rest.count - start - 4 >= length else { break }
                try take(Array(rest[(start + 4)..<(start + 4 + length)]))
                start += 4 + length
            }
            rest.removeFirst(start)
        }

        private mutating func take(_ bytes: [UInt8]) throws {
            guard statements.count + leftOut < MembershipLimits.statementCountMax else {
                throw SyncError(.invalidBundle, "\(path): there are too many statements")
            }
            // One that a newer program has made, or nobody, does not take the others along.
            if let statement = try? SignedStatement(bytes: bytes) {
                statements.append(statement)
            } else {
                leftOut += 1
            }
        }

        consuming func finish() throws -> (statements: [SignedStatement], leftOut: Int) {
            guard rest.isEmpty else { throw SyncError(.invalidBundle, "\(path): a statement is cut off") }
            return (statements, leftOut)
        }
    }
}
