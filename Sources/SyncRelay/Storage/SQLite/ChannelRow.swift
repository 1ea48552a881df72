import CipherStore
import Foundation

/// A channel as the storage has it.
struct ChannelRow {
    let number: Int64
    let birth: Data
    var position: RelayPosition
    var byteCount: Int64
    var fileCount: Int64
    var removalCount: Int64
    var forgotten: RelayPosition

    /// Reads a channel.
    ///
    /// - throws: ``RelayProblem`` of code `unauthorized` when there is none.
    static func require(_ db: Database, _ channel: RelayChannelID) throws -> ChannelRow {
        guard let row = try fetch(db, channel) else { throw RelayProblem.noChannel }
        return row
    }

    /// Reads a channel; nil when there is none.
    static func fetch(_ db: Database, _ channel: RelayChannelID) throws -> ChannelRow? {
        let row = try db.row(
            """
            SELECT number, birth, position, byteCount, fileCount, removalCount, forgotten
            FROM channel WHERE id = ?
            """, [Data(channel.bytes)])
        guard let row else { return nil }
        var channel = ChannelRow(
            number: try row.decode(Int64.self, atIndex: 0), birth: try row.decode(Data.self, atIndex: 1),
            position: max(0, try row.decode(Int64.self, atIndex: 2)),
            byteCount: try row.decode(Int64.self, atIndex: 3),
            fileCount: try row.decode(Int64.self, atIndex: 4),
            removalCount: try row.decode(Int64.self, atIndex: 5),
            forgotten: max(0, try row.decode(Int64.self, atIndex: 6)))
        if !channel.hasPossibleSums { try channel.recount(db) }
        return channel
    }

    /// Whether the sums can be those of files. Another program may have written to the storage.
    private var hasPossibleSums: Bool {
        let possible = 0...RelayBounds.sumMax
        return possible.contains(byteCount) && possible.contains(fileCount) && possible.contains(removalCount)
    }

    /// Sums up what there is.
    private mutating func recount(_ db: Database) throws {
        let sums = try db.row(
            """
            SELECT coalesce(sum(min(max(byteCount, 0), ?)), 0), count(body), count(*) - count(body)
            FROM file WHERE channel = ?
            """, [RelayBounds.fileByteCountMax, number])
        guard let sums else { return }
        byteCount = min(try sums.decode(Int64.self, atIndex: 0), RelayBounds.sumMax)
        fileCount = try sums.decode(Int64.self, atIndex: 1)
        removalCount = try sums.decode(Int64.self, atIndex: 2)
    }

    /// Writes what may have changed.
    func save(_ db: Database) throws {
        try db.run(
            """
            UPDATE channel SET position = ?, byteCount = ?, fileCount = ?, removalCount = ?, forgotten = ?
            WHERE number = ?
            """, [position, byteCount, fileCount, removalCount, forgotten, number])
    }
}

/// What is known of a name in a channel.
struct FileRow {
    let position: RelayPosition
    let byteCount: Int64
    /// The digest of the bytes; nil when the file was removed.
    let digest: Data?
    /// The body; nil when the file was removed.
    let body: Int64?

    static func fetch(_ db: Database, _ channel: Int64, _ file: RelayFileName) throws -> FileRow? {
        let row = try db.row(
            """
            SELECT position, byteCount, digest, body FROM file
            WHERE channel = ? AND folder = ? AND name = ?
            """, [channel, file.folder, file.name])
        return try row.map { row in
            FileRow(
                position: try row.decode(Int64.self, atIndex: 0),
                byteCount: try row.decodeFileByteCount(atIndex: 1),
                digest: try row.decodeIfPresent(Data.self, atIndex: 2),
                body: try row.decodeBodyIfPresent(atIndex: 3))
        }
    }
}

extension Row {
    /// The size of a file, in bytes, brought within the bounds of a file.
    func decodeFileByteCount(atIndex index: Int) throws -> Int64 {
        Swift.min(Swift.max(0, try decode(Int64.self, atIndex: index)), RelayBounds.fileByteCountMax)
    }

    /// The number of a body; 0, which has no blocks, for a number that is none.
    func decodeBodyIfPresent(atIndex index: Int) throws -> Int64? {
        guard let number = try decodeIfPresent(Int64.self, atIndex: index) else { return nil }
        return (0...RelaySchema.bodyMax).contains(number) ? number : 0
    }
}
