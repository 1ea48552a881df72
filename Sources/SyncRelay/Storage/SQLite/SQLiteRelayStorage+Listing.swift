import CipherStore
import Foundation

extension SQLiteRelayStorage {
    /// A page of a listing, of one snapshot of the file.
    ///
    /// Where removals have been forgotten since the moment that a request names, all files are listed.
    ///
    /// - parameters:
    ///     - channel: The channel.
    ///     - request: What is listed: all, what changed since a moment, or a further page.
    /// - throws: ``RelayProblem``: `conflict` when the listing that the page belongs to can't go on, `malformed` when
    ///   the text of a page is none, `unauthorized`, `unavailable`.
    public func list(
        _ channel: RelayChannelID, _ request: RelayListingRequest
    ) async throws -> RelayListing {
        try await read { [self] db in
            let row = try ChannelRow.require(db, channel)
            return try page(db, row, try cursor(request, row))
        }
    }

    /// Where the page begins that is asked for.
    private func cursor(_ request: RelayListingRequest, _ row: ChannelRow) throws -> ListingCursor {
        let epoch = try epoch(row.birth)
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

    private func page(_ db: Database, _ row: ChannelRow, _ cursor: ListingCursor) throws -> RelayListing {
        // One more than a page has tells whether there is another one.
        let rows = try db.rows(
            """
            SELECT folder, name, position, byteCount, milliseconds, body IS NULL FROM file
            WHERE channel = ? AND position > ? AND (body IS NOT NULL OR position > ?)
            ORDER BY position LIMIT ?
            """,
            [row.number, cursor.last, cursor.start, RelayBounds.pageEntryCountMax + 1])
        var files: [RelayListing.Entry] = []
        var removed: [RelayFileName] = []
        var last = cursor.last
        for row in rows.prefix(RelayBounds.pageEntryCountMax) {
            let file = try RelayFileName(
                folder: row.decode(String.self, atIndex: 0), name: row.decode(String.self, atIndex: 1))
            last = try row.decode(Int64.self, atIndex: 2)
            if try row.decode(Bool.self, atIndex: 5) {
                removed.append(file)
            } else {
                files.append(
                    RelayListing.Entry(
                        file: file, byteCount: try row.decodeFileByteCount(atIndex: 3), position: last,
                        milliseconds: max(0, try row.decode(Int64.self, atIndex: 4))))
            }
        }
        let hasMore = rows.count > RelayBounds.pageEntryCountMax
        return RelayListing(
            epoch: cursor.epoch, position: row.position, isComplete: cursor.isComplete, files: files,
            removed: removed, next: hasMore ? cursor.advanced(to: last).text : nil)
    }
}
