import Foundation
import SyncRelay

extension PostgresRelayStorage {
    /// The file is looked up when the channel is known, by the first key that is not before it, as for a commit: a plan that
    /// began with the names would go through the files of all channels.
    static let version = PostgresStatement(
        "version", [.bytes, .text, .text],
        """
        SELECT file.position, file.byte_count, file.body FROM cipherstore_relay.channel AS channel
        LEFT JOIN LATERAL (
            SELECT * FROM cipherstore_relay.file AS file
            WHERE (file.channel, file.folder, file.name) >= (channel.number, $2, $3)
            ORDER BY file.channel, file.folder, file.name LIMIT 1
        ) AS file ON file.channel = channel.number AND file.folder = $2 AND file.name = $3
        WHERE channel.id = $1
        """)

    /// The version of a file that is there now. Any relay of the database can read it by its handle.
    ///
    /// - parameters:
    ///     - file: The name of the file.
    ///     - channel: The channel.
    /// - throws: `RelayProblem`: `unauthorized`, `missing`, `unavailable`.
    public func version(
        of file: RelayFileName, in channel: RelayChannelID
    ) async throws -> RelayFileVersion {
        try await pool.run { session in
            let values: [PostgresValue] = [
                .bytes(Data(channel.bytes)), .text(file.folder), .text(file.name),
            ]
            guard let row = try session.run(Self.version, values).first else { throw RelayProblem.noChannel }
            guard let body = try row.optionalInteger(2) else {
                throw RelayProblem(.missing, "there is no such file")
            }
            return RelayFileVersion(
                byteCount: try row.natural(1, upTo: RelayBounds.fileByteCountMax),
                position: try row.natural(0, upTo: .max), handle: body)
        }
    }

    private static let block = PostgresStatement(
        "block", [.integer, .integer],
        "SELECT bytes FROM cipherstore_relay.block WHERE body = $1 AND number = $2")

    /// Reads the rest of the block that has an offset.
    ///
    /// - parameters:
    ///     - version: The version.
    ///     - offset: How many bytes of it come before.
    /// - returns: At most one block of 256 KiB, from the offset to the block's end; none at the end of the version.
    /// - throws: `RelayProblem`: `missing` when the version was replaced or removed meanwhile, and its blocks are
    ///   gone; `unavailable`.
    public func read(_ version: RelayFileVersion, from offset: Int64) async throws -> Data {
        guard offset >= 0, offset < version.byteCount else { return Data() }
        let pieceByteCount = Int64(RelayUpload.pieceByteCount)
        let bytes = try await pool.run { session in
            try session.run(
                Self.block, [.integer(version.handle), .integer(offset / pieceByteCount)]
            ).first?.bytes(0)
        }
        guard let bytes else {
            throw RelayProblem(.missing, "the file was replaced or removed while it was read")
        }
        return bytes.dropFirst(Int(offset % pieceByteCount))
    }

    /// Makes several changes in one transaction, all or none, in their order.
    ///
    /// Those of one channel that come at one moment are written by one commit.
    ///
    /// - parameters:
    ///     - channel: The channel.
    ///     - changes: What to write and to remove.
    /// - returns: The position of the channel after them, and the outcome of each.
    /// - throws: `RelayProblem`: `unauthorized`, `exists`, `full`, `busy`, `unavailable`.
    public func change(
        _ channel: RelayChannelID, _ changes: [RelayChanges.Change]
    ) async throws -> RelayChangeResult {
        var byteCount = 0
        let digests = changes.map { change -> Data? in
            guard case .write(_, _, let content) = change else { return nil }
            byteCount += content.count
            return Data(RelayDigest(of: content).bytes)
        }
        return try await queue.run(.change(changes, digests: digests), byteCount: byteCount, in: channel)
    }

    // MARK: Listings

    private static let page = PostgresStatement(
        "page", [.bytes, .integer, .integer, .integer],
        """
        SELECT \(ChannelRow.columns), file.folder, file.name, file.position, file.byte_count,
            file.milliseconds, file.body IS NULL
        FROM cipherstore_relay.channel AS channel
        LEFT JOIN LATERAL (
            SELECT * FROM cipherstore_relay.file AS file
            WHERE file.channel = channel.number AND file.position > $2
                AND (file.body IS NOT NULL OR file.position > $3)
            ORDER BY file.position LIMIT $4
        ) AS file ON true
        WHERE channel.id = $1
        ORDER BY file.position
        """)

    /// A page of a listing, of one moment: the channel and its files are read by one statement.
    ///
    /// Where removals have been forgotten since the moment that a request names, all files are listed.
    ///
    /// - parameters:
    ///     - channel: The channel.
    ///     - request: What is listed: all, what changed since a moment, or a further page.
    /// - throws: `RelayProblem`: `conflict` when the listing that the page belongs to can't go on, `malformed` when
    ///   the text of a page is none, `unauthorized`, `unavailable`.
    public func list(
        _ channel: RelayChannelID, _ request: RelayListingRequest
    ) async throws -> RelayListing {
        try await pool.run { session in
            // A page is of one moment, so the channel and its files are read by one statement. Where it begins depends on
            // the channel, though: it is guessed, and read again when that was wrong.
            var range = try Self.guess(request)
            while true {
                let rows = try session.run(
                    Self.page,
                    [
                        .bytes(Data(channel.bytes)), .integer(range.last), .integer(range.start),
                        // One more than a page has tells whether there is another one.
                        .integer(Int64(RelayBounds.pageEntryCountMax) + 1),
                    ]
                ).rows
                guard let first = rows.first else { throw RelayProblem.noChannel }
                let row = try ChannelRow(first)
                let cursor = try Self.cursor(request, row)
                let isRead = cursor.isComplete == range.isComplete && cursor.last == range.last
                guard isRead else {
                    range = (
                        cursor.last == 0 && cursor.isComplete ? .max : cursor.start, cursor.last,
                        cursor.isComplete
                    )
                    continue
                }
                return try Self.listing(rows, row, cursor)
            }
        }
    }

    /// What the page begins with if the channel is as the request says.
    private static func guess(
        _ request: RelayListingRequest
    ) throws -> (start: RelayPosition, last: RelayPosition, isComplete: Bool) {
        switch request {
        // Of everything, no removal is listed on the first page.
        case .all: return (.max, 0, true)
        case .since(let moment): return (0, max(0, moment.position), false)
        case .page(let text):
            guard let cursor = ListingCursor(text) else {
                throw RelayProblem(.malformed, "there is no page of that name")
            }
            return (cursor.start, cursor.last, cursor.isComplete)
        }
    }

    /// Where the page begins that is asked for.
    private static func cursor(_ request: RelayListingRequest, _ row: ChannelRow) throws -> ListingCursor {
        let epoch = try row.epoch()
        let all = ListingCursor(epoch: epoch, start: row.position, last: 0, isComplete: true)
        switch request {
        case .all: return all
        case .since(let moment):
            guard moment.epoch == epoch, moment.position <= row.position,
                moment.position >= row.forgotten
            else { return all }
            return ListingCursor(epoch: epoch, start: 0, last: moment.position, isComplete: false)
        case .page(let text):
            guard let cursor = ListingCursor(text) else {
                throw RelayProblem(.malformed, "there is no page of that name")
            }
            // Removals after the start belong to the listing, and those that were not listed yet have to be there.
            guard cursor.epoch == epoch, max(cursor.last, cursor.start) <= row.position,
                row.forgotten <= max(cursor.last, cursor.start)
            else {
                throw RelayProblem(.conflict, "the channel has changed too much; begin the listing again")
            }
            return cursor
        }
    }

    private static func listing(
        _ rows: [PostgresRow], _ channel: ChannelRow, _ cursor: ListingCursor
    ) throws -> RelayListing {
        var files: [RelayListing.Entry] = []
        var removed: [RelayFileName] = []
        var last = cursor.last
        let column = ChannelRow.columnCount
        for row in rows.prefix(RelayBounds.pageEntryCountMax) {
            // A channel without files has one row, and no file in it.
            guard let folder = try row.optionalText(column) else { break }
            let file = try RelayFileName(folder: folder, name: row.text(column + 1))
            last = try row.natural(column + 2, upTo: .max)
            if try row.bool(column + 5) {
                removed.append(file)
            } else {
                files.append(
                    RelayListing.Entry(
                        file: file,
                        byteCount: try row.natural(column + 3, upTo: RelayBounds.fileByteCountMax),
                        position: last, milliseconds: try row.natural(column + 4, upTo: .max)))
            }
        }
        let hasMore = rows.count > RelayBounds.pageEntryCountMax
        return RelayListing(
            epoch: cursor.epoch, position: channel.position, isComplete: cursor.isComplete, files: files,
            removed: removed, next: hasMore ? cursor.advanced(to: last).text : nil)
    }
}
