import Foundation

/// What the disk holds of a store at one moment.
struct StoreFiles: Equatable {
    /// Where the WAL ends, and which WAL it is.
    struct Mark: Equatable {
        var header = Data()
        var byteCount = 0
    }

    private static let headerByteCount = 32
    private var database: Data
    private var log: Data?

    /// Reads the files.
    init(path: String) throws {
        database = try Data(contentsOf: URL(fileURLWithPath: path))
        log = try? Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
    }

    /// Where the WAL of a file ends now.
    static func mark(path: String) throws -> Mark {
        guard let file = FileHandle(forReadingAtPath: path + "-wal") else { return Mark() }
        defer { try? file.close() }
        let header = try file.read(upToCount: headerByteCount) ?? Data()
        return Mark(header: header, byteCount: Int(try file.seekToEnd()))
    }

    /// Cuts off a part of what was written since a mark, as if the process had died while it wrote.
    ///
    /// - parameter fraction: How much of it stays, from 0 to 1.
    mutating func cut(since mark: Mark, keeping fraction: Double) {
        guard let log, log.prefix(Self.headerByteCount) == mark.header || mark.byteCount == 0,
            log.count > mark.byteCount
        else { return }
        let kept = mark.byteCount + Int(Double(log.count - mark.byteCount) * fraction)
        self.log = log.prefix(kept)
    }

    /// Puts the files where they were, or elsewhere.
    func write(path: String) throws {
        try? FileManager.default.removeItem(atPath: path + "-shm")
        try? FileManager.default.removeItem(atPath: path + "-wal")
        try database.write(to: URL(fileURLWithPath: path))
        try log?.write(to: URL(fileURLWithPath: path + "-wal"))
    }
}
