import CipherStore
import Foundation

extension SQLiteRelayStorage {
    /// Begins to write a file that comes in pieces. Opening the storage again gives up what was not finished.
    ///
    /// - parameters:
    ///     - request: The name, the size and the digest of the file.
    ///     - channel: The channel.
    /// - returns: The upload; its handle is the number of a body.
    /// - throws: ``RelayProblem``: `tooLarge`, `unauthorized`, `exists`, `full`, `unavailable`, and `busy` when other
    ///   uploads take the room of the channel, or when the relay has too much to write.
    public func beginUpload(
        _ request: RelayUploadRequest, to channel: RelayChannelID
    ) async throws -> RelayUpload {
        guard (0...RelayBounds.fileByteCountMax).contains(request.byteCount) else {
            throw RelayProblem(
                .tooLarge, "the file is larger than a relay takes", byteCount: request.byteCount,
                byteCountMax: RelayBounds.fileByteCountMax)
        }
        let options = options
        let body = try nextBody()
        try await queue.run { db in
            let writer = try ChannelWriter(db, channel, options)
            // A file that is there already is uploaded again all the same, and takes room until its end.
            _ = try writer.check(ChannelWriter.Content(request))
            try Self.requireRoom(db, writer.row, request.byteCount, options)
            try db.run(
                "INSERT INTO upload (body, channel, byteCount, received, milliseconds) VALUES (?, ?, ?, 0, ?)",
                [body, writer.row.number, request.byteCount, options.milliseconds()])
        }
        return RelayUpload(channel: channel, request: request, handle: body)
    }

    /// What is being uploaded is not in the sums of the channel, and must not fill the disk either. What was cut off takes no
    /// room, for its client sends it again.
    private static func requireRoom(
        _ db: Database, _ row: ChannelRow, _ byteCount: Int64, _ options: Options
    ) throws {
        let sum = try db.row(
            "SELECT coalesce(sum(min(max(byteCount, 0), ?)), 0) FROM upload WHERE channel = ? AND milliseconds > ?",
            [
                RelayBounds.fileByteCountMax, row.number,
                options.milliseconds() - RelayBounds.uploadRoomMilliseconds,
            ])
        let open = try sum?.decode(Int64.self, atIndex: 0) ?? 0
        guard byteCount <= max(options.channelByteCountMax - open, 0) || open == 0 else {
            throw RelayProblem(
                .busy, "other files of the channel are being written; try again when they are there",
                status: 503, retrySeconds: 5)
        }
    }

    /// Adds bytes to an upload, as one block.
    ///
    /// - parameters:
    ///     - bytes: ``RelayUpload/pieceByteCount`` of them; the last piece may have fewer.
    ///     - offset: How many bytes came before.
    ///     - upload: The upload.
    /// - throws: ``RelayProblem``: `malformed` when a piece is not where or as long as it should be, `missing` when
    ///   the upload was abandoned or has other bytes than those before the offset, `busy`, `unavailable`.
    public func append(_ bytes: Data, at offset: Int64, to upload: RelayUpload) async throws {
        let pieceByteCount = Int64(RelayUpload.pieceByteCount)
        let end = offset + Int64(bytes.count)
        guard offset >= 0, offset % pieceByteCount == 0, !bytes.isEmpty,
            bytes.count == RelayUpload.pieceByteCount
                || (bytes.count < RelayUpload.pieceByteCount && end == upload.request.byteCount),
            end <= upload.request.byteCount
        else {
            throw RelayProblem(.malformed, "a piece of an upload is not where or as long as it should be")
        }
        let now = options.milliseconds()
        let id = upload.handle * RelaySchema.blocksPerBody + offset / pieceByteCount
        try await queue.run(byteCount: bytes.count) { db in
            try db.run(
                "UPDATE upload SET received = ?, milliseconds = ? WHERE body = ? AND received = ?",
                [end, now, upload.handle, offset])
            guard db.changesCount == 1 else { throw Self.noUpload }
            try db.run("INSERT INTO block (id, bytes) VALUES (?, ?)", [id, bytes])
        }
    }

    /// Makes an upload visible. When the same file is there already, the blocks that came are removed later.
    ///
    /// - parameter upload: The upload.
    /// - returns: The position of the file, and whether its name is new.
    /// - throws: ``RelayProblem``: `malformed` when not all bytes came, `missing` when the upload was abandoned,
    ///   `exists`, `full`, `busy`, `unavailable`.
    public func finish(_ upload: RelayUpload) async throws -> RelayOutcome {
        let options = options
        let request = upload.request
        let result = try await queue.run(onCommit: tellChange(of: upload.channel)) {
            db -> (ChannelRow?, RelayOutcome) in
            let received = try db.row("SELECT received FROM upload WHERE body = ?", [upload.handle])
            guard let received = try received?.decode(Int64.self, atIndex: 0) else { throw Self.noUpload }
            guard received == request.byteCount else {
                throw RelayProblem(.malformed, "not all bytes of the file came")
            }
            var writer = try ChannelWriter(db, upload.channel, options)
            try db.run("DELETE FROM upload WHERE body = ?", [upload.handle])
            let body = received == 0 ? 0 : upload.handle
            var isUsed = false
            let outcome = try writer.write(ChannelWriter.Content(request)) {
                isUsed = true
                return body
            }
            if !isUsed { try RelaySpace.discard(db, body: body, byteCount: received) }
            return (try writer.finish(), outcome)
        }
        queue.noteLeisureWork()
        return result.1
    }

    /// Gives an upload up. What fails here is done by the next ``tidy()``, or when the file is opened again.
    ///
    /// - parameter upload: The upload.
    public func abandon(_ upload: RelayUpload) async {
        do {
            try await queue.run { db in try RelaySpace.abandonUpload(db, upload.handle) }
        } catch {
            // The queue or the disk is full. It is tried again at the next tidying.
            leftUploads.withLock { left in
                if left.count < RelayBounds.leftUploadCountMax { left.insert(upload.handle) }
            }
        }
        queue.noteLeisureWork()
    }

    private static let noUpload = RelayProblem(
        .missing, "the upload was given up, because nothing came for too long or its channel is gone")
}

extension ChannelWriter.Content {
    init(_ request: RelayUploadRequest) {
        self.init(
            file: request.file, isReplacing: request.isReplacing, byteCount: request.byteCount,
            digest: Data(request.digest.bytes))
    }
}
