import CipherStore
import Crypto
import Foundation

extension SQLiteRelayStorage {
    /// The version of a file that is there now. Its handle is the number of the body that has its blocks.
    ///
    /// - parameters:
    ///     - file: The name of the file.
    ///     - channel: The channel.
    /// - throws: ``RelayProblem``: `unauthorized`, `missing`, `unavailable`.
    public func version(
        of file: RelayFileName, in channel: RelayChannelID
    ) async throws -> RelayFileVersion {
        try await read { db in
            let row = try ChannelRow.require(db, channel)
            guard let known = try FileRow.fetch(db, row.number, file), let body = known.body else {
                throw RelayProblem(.missing, "there is no such file")
            }
            return RelayFileVersion(byteCount: known.byteCount, position: known.position, handle: body)
        }
    }

    /// Reads the rest of the block that has an offset.
    ///
    /// - parameters:
    ///     - version: The version.
    ///     - offset: How many bytes of it come before.
    /// - returns: At most one block of 256 KiB, from the offset to the block's end; none at the end of the version.
    /// - throws: ``RelayProblem``: `missing` when the version was replaced or removed meanwhile, and its blocks are
    ///   gone; `unavailable`.
    public func read(_ version: RelayFileVersion, from offset: Int64) async throws -> Data {
        guard offset >= 0, offset < version.byteCount else { return Data() }
        let pieceByteCount = Int64(RelayUpload.pieceByteCount)
        let id = version.handle * RelaySchema.blocksPerBody + offset / pieceByteCount
        let bytes = try await read { db in
            try db.row("SELECT bytes FROM block WHERE id = ?", [id])?.decode(Data.self, atIndex: 0)
        }
        guard let bytes else {
            throw RelayProblem(.missing, "the file was replaced or removed while it was read")
        }
        return bytes.dropFirst(Int(offset % pieceByteCount))
    }

    /// Makes several changes in one transaction, all or none, in their order.
    ///
    /// - parameters:
    ///     - channel: The channel.
    ///     - changes: What to write and to remove.
    /// - returns: The position of the channel after them, and the outcome of each.
    /// - throws: ``RelayProblem``: `unauthorized`, `exists`, `full`, `busy`, `unavailable`.
    public func change(
        _ channel: RelayChannelID, _ changes: [RelayChanges.Change]
    ) async throws -> RelayChangeResult {
        let byteCount = changes.reduce(0) { sum, change in
            if case .write(_, _, let content) = change { sum + content.count } else { sum }
        }
        let contents = changes.map { Self.content($0) }
        let result = try await queue.run(byteCount: byteCount, onCommit: tellChange(of: channel)) {
            [self] db -> (ChannelRow?, RelayChangeResult) in
            var writer = try ChannelWriter(db, channel, options)
            var outcomes: [RelayOutcome] = []
            for (change, content) in zip(changes, contents) {
                switch (change, content) {
                case (.write(_, _, let bytes), let content?):
                    outcomes.append(try writer.write(content) { try insert(db, bytes) })
                case (.write(let file, _, _), nil), (.remove(let file), _):
                    outcomes.append(try writer.remove(file))
                }
            }
            let changed = try writer.finish()
            return (changed, RelayChangeResult(position: writer.row.position, outcomes: outcomes))
        }
        queue.noteLeisureWork()
        return result.1
    }

    /// What a change writes; nil when it removes.
    private static func content(_ change: RelayChanges.Change) -> ChannelWriter.Content? {
        guard case .write(let file, let isReplacing, let bytes) = change else { return nil }
        return ChannelWriter.Content(
            file: file, isReplacing: isReplacing, byteCount: Int64(bytes.count),
            digest: Data(RelayDigest(of: bytes).bytes))
    }

    /// Writes the blocks of a small body.
    private func insert(_ db: Database, _ bytes: Data) throws -> Int64 {
        guard !bytes.isEmpty else { return 0 }
        let body = try nextBody()
        var id = body * RelaySchema.blocksPerBody
        var rest = bytes
        while !rest.isEmpty {
            let piece = rest.prefix(RelayUpload.pieceByteCount)
            try db.run("INSERT INTO block (id, bytes) VALUES (?, ?)", [id, piece])
            rest = rest.dropFirst(piece.count)
            id += 1
        }
        return body
    }

    /// Tells those who wait for a channel, after a commit.
    func tellChange<Value>(
        of channel: RelayChannelID
    ) -> @Sendable ((ChannelRow?, Value)) -> Void {
        { [self] result in
            guard let row = result.0, let moment = try? moment(row) else { return }
            feed.tell(channel, moment)
        }
    }
}
