import CipherStore
import Foundation

/// A mailbox as the engine uses it: errors are those of files, pieces are bounded.
struct MailboxAccess: Sendable {
    let mailbox: any Mailbox

    /// How messages name a file.
    func location(of path: MailboxPath) -> String { "\(mailbox.location)/\(path)" }

    /// The names of the folders, in order.
    func folders() throws -> [String] {
        try translating(mailbox.location, isWriting: false) { try mailbox.folders().sorted() }
    }

    /// The files of a folder by their names, in order; none where they can't be listed.
    ///
    /// - throws: ``MailboxError`` of code `unreachable`.
    func files(in folder: String) throws -> [MailboxFile] {
        do {
            return try mailbox.files(in: folder).sorted { $0.name < $1.name }
        } catch let error as MailboxError where error.code != .unreachable {
            return []
        }
    }

    /// Opens a file.
    ///
    /// - throws: ``StoreError``: `missing`, `empty`, `cannotRead`; ``MailboxError`` of code `unreachable`.
    func open(_ path: MailboxPath) throws -> any ByteSource {
        let source = try MailboxSource(self, path)
        guard source.byteCount > 0 else {
            throw StoreError(.empty, "the file is empty", path: location(of: path))
        }
        return source
    }

    /// Writes a file.
    ///
    /// - returns: Its size.
    /// - throws: ``StoreError``: `exists`, `cannotWrite`, `full`; ``MailboxError`` of code `unreachable`; what
    ///   `body` throws.
    func write(
        _ path: MailboxPath, replacing: Bool, _ body: (@escaping (Data) throws -> Void) throws -> Void
    ) throws -> Int {
        let location = location(of: path)
        var byteCount = 0
        try translating(location, isWriting: true) {
            try mailbox.write(path, replacing: replacing) { sink in
                try body { data in
                    var rest = data[...]
                    while !rest.isEmpty {
                        let piece = rest.prefix(MailboxPath.pieceByteCountMax)
                        try translating(location, isWriting: true) { try sink(Data(piece)) }
                        rest = rest.dropFirst(piece.count)
                    }
                    byteCount += data.count
                }
            }
        }
        return byteCount
    }

    /// Removes a file, if that is possible. One that stays is taken for what it is the next time.
    func remove(_ path: MailboxPath) { try? mailbox.remove(path) }

    /// Does the same with several.
    func remove(_ paths: [MailboxPath]) {
        if let path = paths.first { try? paths.count == 1 ? mailbox.remove(path) : mailbox.remove(paths) }
    }

    /// Makes the changes that wait, where they do.
    ///
    /// - throws: As ``write(_:replacing:_:)``.
    func commit() throws {
        guard let batch = mailbox as? any MailboxBatch else { return }
        try translating(mailbox.location, isWriting: true) { try batch.commit() }
    }

    fileprivate func translating<Result>(
        _ location: String, isWriting: Bool, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as MailboxError {
            throw error.asFileError(location, isWriting: isWriting)
        }
    }
}

/// The bytes of a file in a mailbox.
private final class MailboxSource: ByteSource {
    private(set) var byteCount: Int
    private let access: MailboxAccess
    private let path: MailboxPath
    private var reader: any MailboxReader
    /// What was looked at, and not read yet.
    private var ahead = Data()

    init(_ access: MailboxAccess, _ path: MailboxPath) throws {
        self.access = access
        self.path = path
        reader = try Self.open(access, path)
        byteCount = reader.byteCount
    }

    private static func open(_ access: MailboxAccess, _ path: MailboxPath) throws -> any MailboxReader {
        try access.translating(access.location(of: path), isWriting: false) {
            try access.mailbox.open(path)
        }
    }

    func peek(upToCount count: Int) throws -> Data {
        if ahead.count < count { ahead.append(try fetch(count - ahead.count)) }
        return Data(ahead.prefix(count))
    }

    func read(upToCount count: Int) throws -> Data {
        guard !ahead.isEmpty else { return try fetch(count) }
        var bytes = Data(ahead.prefix(count))
        ahead = Data(ahead.dropFirst(count))
        if bytes.count < count { bytes.append(try fetch(count - bytes.count)) }
        return bytes
    }

    func rewind() throws {
        reader = try Self.open(access, path)
        byteCount = reader.byteCount
        ahead = Data()
    }

    /// Collects pieces until there are as many bytes as wanted, or the file ends.
    private func fetch(_ count: Int) throws -> Data {
        var bytes = Data()
        while bytes.count < count {
            let wanted = min(count - bytes.count, MailboxPath.pieceByteCountMax)
            let piece = try access.translating(access.location(of: path), isWriting: false) {
                try reader.read(upTo: wanted)
            }
            guard piece.count <= wanted else {
                throw StoreError(
                    .cannotRead, "the place gave more bytes than it was asked for",
                    path: access.location(of: path))
            }
            if piece.isEmpty { break }
            if bytes.isEmpty && piece.count == count { return piece }
            bytes.append(piece)
        }
        return bytes
    }
}
