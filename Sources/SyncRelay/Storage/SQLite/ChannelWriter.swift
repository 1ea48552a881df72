import CipherStore
import Foundation

/// Changes a channel within a transaction: gives positions, and keeps the sums.
struct ChannelWriter {
    let db: Database
    let options: SQLiteRelayStorage.Options
    private(set) var row: ChannelRow
    private var isChanged = false

    /// How many removals are remembered before half of them are forgotten.
    private static let removalCountMax = 2 * RelayBounds.removalCountMin

    /// - throws: ``RelayProblem`` of code `unauthorized` when there is no such channel.
    init(_ db: Database, _ channel: RelayChannelID, _ options: SQLiteRelayStorage.Options) throws {
        self.db = db
        self.options = options
        row = try ChannelRow.require(db, channel)
    }

    /// What is to be written under a name.
    struct Content {
        let file: RelayFileName
        let isReplacing: Bool
        let byteCount: Int64
        let digest: Data
    }

    /// Checks that a file may be written.
    ///
    /// - returns: The outcome when nothing has to be written, because it is there with the same bytes.
    /// - throws: ``RelayProblem``: `exists`, `full`.
    func check(_ content: Content) throws -> RelayOutcome? {
        try check(content, FileRow.fetch(db, row.number, content.file))
    }

    private func check(_ content: Content, _ old: FileRow?) throws -> RelayOutcome? {
        let isThere = old?.body != nil
        if let old, isThere && !content.isReplacing {
            guard old.digest == content.digest, old.byteCount == content.byteCount else {
                throw RelayProblem(.exists, "there is a file of that name already")
            }
            return RelayOutcome(position: old.position, isNew: false)
        }
        let oldByteCount = isThere ? old?.byteCount ?? 0 : 0
        // Subtracted first: a sum of numbers from outside could overflow.
        let otherByteCount = max(0, row.byteCount - oldByteCount)
        let room = options.channelByteCountMax - otherByteCount
        // What makes a channel smaller that is over its quota is always taken.
        guard content.byteCount <= max(room, oldByteCount) else {
            throw RelayProblem(
                .full, "the channel has no room left for the file; remove some, or raise the relay's quota",
                byteCount: otherByteCount + content.byteCount,
                byteCountMax: options.channelByteCountMax)
        }
        guard isThere || row.fileCount < options.channelFileCountMax else {
            throw RelayProblem(.full, "the channel has as many files as it may have; remove some")
        }
        return nil
    }

    /// Writes a file.
    ///
    /// - parameter body: Gives the number of the body when it is needed, and writes its blocks. 0 has none.
    /// - throws: ``RelayProblem``: `exists`, `full`.
    mutating func write(_ content: Content, _ body: () throws -> Int64) throws -> RelayOutcome {
        let old = try FileRow.fetch(db, row.number, content.file)
        if let outcome = try check(content, old) { return outcome }
        try advance()
        let number = try body()
        try put(
            content.file, byteCount: content.byteCount, digest: content.digest, body: number)
        row.byteCount += content.byteCount
        guard let old, let oldBody = old.body else {
            row.fileCount += 1
            if old != nil { row.removalCount = max(0, row.removalCount - 1) }
            return RelayOutcome(position: row.position, isNew: true)
        }
        row.byteCount = max(0, row.byteCount - old.byteCount)
        try RelaySpace.discard(db, body: oldBody, byteCount: old.byteCount)
        return RelayOutcome(position: row.position, isNew: false)
    }

    /// Removes a file, and remembers that.
    mutating func remove(_ file: RelayFileName) throws -> RelayOutcome {
        guard let old = try FileRow.fetch(db, row.number, file), let body = old.body else {
            return RelayOutcome(position: row.position, isNew: false)
        }
        try advance()
        try put(file, byteCount: 0, digest: nil, body: nil)
        row.fileCount = max(0, row.fileCount - 1)
        row.byteCount = max(0, row.byteCount - old.byteCount)
        row.removalCount += 1
        try RelaySpace.discard(db, body: body, byteCount: old.byteCount)
        return RelayOutcome(position: row.position, isNew: false)
    }

    /// Writes the sums, and forgets removals of which there are too many.
    ///
    /// - returns: The row when something has changed.
    mutating func finish() throws -> ChannelRow? {
        guard isChanged else { return nil }
        if row.removalCount > Self.removalCountMax { try forgetRemovals() }
        try row.save(db)
        return row
    }

    private mutating func advance() throws {
        guard row.position < .max else {
            throw RelayProblem(.unavailable, "the channel has no positions left; make another one")
        }
        row.position += 1
        isChanged = true
    }

    private func put(_ file: RelayFileName, byteCount: Int64, digest: Data?, body: Int64?) throws {
        try db.run(
            """
            INSERT OR REPLACE INTO file (channel, folder, name, position, byteCount, milliseconds, digest, body)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                row.number, file.folder, file.name, row.position, byteCount, options.milliseconds(), digest,
                body,
            ])
    }

    private mutating func forgetRemovals() throws {
        let excess = row.removalCount - RelayBounds.removalCountMin
        let last = try db.row(
            "SELECT position FROM file WHERE channel = ? AND body IS NULL ORDER BY position LIMIT 1 OFFSET ?",
            [row.number, excess - 1])
        guard let position = try last?.decode(Int64.self, atIndex: 0) else { return }
        try db.run(
            "DELETE FROM file WHERE channel = ? AND body IS NULL AND position <= ?", [row.number, position])
        row.removalCount -= excess
        row.forgotten = position
    }
}
