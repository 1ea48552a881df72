import Foundation
import SyncRelay

extension PostgresRelayStorage {
    private static let openByteCount = PostgresStatement(
        "upload-sum", [.integer, .integer],
        """
        SELECT least(coalesce(sum(greatest(byte_count, 0)), 0), \(RelayBounds.sumMax))::bigint
        FROM cipherstore_relay.upload WHERE channel = $1 AND milliseconds > $2
        """)
    private static let insertUpload = PostgresStatement(
        "upload-insert", [.integer, .integer, .integer, .integer],
        """
        INSERT INTO cipherstore_relay.upload (body, channel, byte_count, received, milliseconds)
        SELECT $1, $2, $3, 0, $4
        WHERE NOT EXISTS (SELECT FROM cipherstore_relay.discarded WHERE body = $1)
        ON CONFLICT DO NOTHING
        """)
    private static let uploadThere = PostgresStatement(
        "upload-there", [.integer, .integer, .integer, .integer],
        """
        SELECT body FROM cipherstore_relay.upload
        WHERE body = $1 AND channel = $2 AND byte_count = $3 AND received = 0 AND milliseconds = $4
        """)

    /// The number of an upload, and the row that it was given in.
    private struct Begun {
        let numbers: BodyNumbers.Taken
        let values: [PostgresValue]

        var body: Int64? { numbers.numbers.first }
    }

    /// Begins to write a file that comes in pieces, which may come to any relay of the database.
    ///
    /// - parameters:
    ///     - request: The name, the size and the digest of the file.
    ///     - channel: The channel.
    /// - returns: The upload; its handle is the number of a body.
    /// - throws: `RelayProblem`: `tooLarge`, `unauthorized`, `exists`, `full`, `unavailable`, and `busy` when other
    ///   uploads take the room of the channel, or when too much is still to be removed from the database.
    public func beginUpload(
        _ request: RelayUploadRequest, to channel: RelayChannelID
    ) async throws -> RelayUpload {
        guard (0...RelayBounds.fileByteCountMax).contains(request.byteCount) else {
            throw RelayProblem(
                .tooLarge, "the file is larger than a relay takes", byteCount: request.byteCount,
                byteCountMax: RelayBounds.fileByteCountMax)
        }
        try cleaner.requireRoom()
        let bounds = ChannelPlan.Bounds(
            byteCountMax: options.channelByteCountMax, fileCountMax: options.channelFileCountMax)
        let time = options.milliseconds?()
        let body: Int64 = try await pool.run { [numbers] session in
            let deadline = session.deadline
            var doubtful: Begun?
            let upload: Begun = try session.repeating { connection, _ in
                try PostgresSession.transaction(connection, until: deadline) {
                    var row = try ChannelRow.lock(connection, channel, until: deadline)
                    // After a lost answer the number is this call's when its row is there. Otherwise others may be given it.
                    if let known = doubtful,
                        try connection.run(Self.uploadThere, known.values, until: deadline).first != nil
                    {
                        return known
                    }
                    try row.recountIfNeeded(connection, until: deadline)
                    let files = try ChannelWriting(connection, deadline).files([request.file], in: row)
                    // A file that is there already is uploaded again all the same, and takes room until its end.
                    _ = try ChannelPlan(row, files, bounds).check(ChannelPlan.Content(request))
                    try Self.requireRoom(request, row, bounds, time, connection, deadline)
                    let begun = try Self.insertRow(request, row, numbers, time, connection, deadline)
                    doubtful = begun
                    return begun
                }
            }
            numbers.keepRest(of: upload.numbers)
            guard let body = upload.body else { throw Self.noNumbers }
            return body
        }
        return RelayUpload(channel: channel, request: request, handle: body)
    }

    private static let noNumbers = RelayProblem(
        .unavailable, "the storage has no numbers left for files")

    private static func insertRow(
        _ request: RelayUploadRequest, _ row: ChannelRow, _ numbers: BodyNumbers, _ time: Int64?,
        _ connection: PostgresConnection, _ deadline: PostgresConnection.Deadline
    ) throws -> Begun {
        let taken = try numbers.take(1, of: row.incarnation, connection, until: deadline)
        guard let number = taken.numbers.first else { throw noNumbers }
        let begun = Begun(
            numbers: taken,
            values: [
                .integer(number), .integer(row.number), .integer(request.byteCount),
                .integer(time ?? row.milliseconds),
            ])
        guard try connection.run(insertUpload, begun.values, until: deadline).changedCount == 1 else {
            numbers.forgetRest()
            throw RelayProblem(
                .unavailable, "another file has the number of this one; ask again", retrySeconds: 1)
        }
        return begun
    }

    /// What is being uploaded is not in the sums of the channel, and must not fill the disk either. What was cut off takes no
    /// room, for its client sends it again.
    private static func requireRoom(
        _ request: RelayUploadRequest, _ row: ChannelRow, _ bounds: ChannelPlan.Bounds, _ time: Int64?,
        _ connection: PostgresConnection, _ deadline: PostgresConnection.Deadline
    ) throws {
        let since = (time ?? row.milliseconds) - RelayBounds.uploadRoomMilliseconds
        let values: [PostgresValue] = [.integer(row.number), .integer(since)]
        let sum = try connection.run(openByteCount, values, until: deadline).first
        let open = try sum?.natural(0) ?? 0
        guard request.byteCount <= max(bounds.byteCountMax - open, 0) || open == 0 else {
            throw RelayProblem(
                .busy, "other files of the channel are being written; try again when they are there",
                status: 503, retrySeconds: 5)
        }
    }

    private static let appendBlock = PostgresStatement(
        "upload-append", [.integer, .integer, .integer, .integer, .integer, .bytes],
        """
        WITH part AS (
            UPDATE cipherstore_relay.upload
            SET received = $3, milliseconds = coalesce($4, \(ChannelRow.now))
            WHERE body = $1 AND received = $2 RETURNING body
        )
        INSERT INTO cipherstore_relay.block (body, number, bytes) SELECT body, $5, $6 FROM part
        """)
    private static let receivedCount = PostgresStatement(
        "upload-received", [.integer], "SELECT received FROM cipherstore_relay.upload WHERE body = $1")

    /// Adds bytes to an upload, as one block. It is tried again when the connection is lost.
    ///
    /// - parameters:
    ///     - bytes: `RelayUpload.pieceByteCount` of them; the last piece may have fewer.
    ///     - offset: How many bytes came before.
    ///     - upload: The upload.
    /// - throws: `RelayProblem`: `malformed` when a piece is not where or as long as it should be, `missing` when the
    ///   upload was abandoned or has other bytes than those before the offset, `unavailable`.
    public func append(_ bytes: Data, at offset: Int64, to upload: RelayUpload) async throws {
        let pieceByteCount = Int64(RelayUpload.pieceByteCount)
        let (end, isTooFar) = offset.addingReportingOverflow(Int64(bytes.count))
        guard !isTooFar, offset >= 0, offset % pieceByteCount == 0, !bytes.isEmpty,
            bytes.count == RelayUpload.pieceByteCount
                || (bytes.count < RelayUpload.pieceByteCount && end == upload.request.byteCount),
            end <= upload.request.byteCount
        else {
            throw RelayProblem(.malformed, "a piece of an upload is not where or as long as it should be")
        }
        let values: [PostgresValue] = [
            .integer(upload.handle), .integer(offset), .integer(end), time,
            .integer(offset / pieceByteCount), .bytes(bytes),
        ]
        try await pool.run { session in
            try session.repeating { connection, attempt in
                let count = try connection.run(Self.appendBlock, values, until: session.deadline).changedCount
                guard count != 1 else { return }
                // The answer to the first attempt may have been lost, and nobody else adds to this upload.
                let received = try connection.run(
                    Self.receivedCount, [.integer(upload.handle)], until: session.deadline)
                guard attempt > 0, try received.first?.integer(0) == end else { throw RelayProblem.noUpload }
            }
        }
        cleaner.noteWritten(Int64(bytes.count))
    }

    /// Makes an upload visible, with other changes of the channel that come at this moment.
    ///
    /// - parameter upload: The upload.
    /// - returns: The position of the file, and whether its name is new.
    /// - throws: `RelayProblem`: `malformed` when not all bytes came, `missing` when the upload was abandoned or its
    ///   channel is gone, `exists`, `full`, `busy`, `unavailable`.
    public func finish(_ upload: RelayUpload) async throws -> RelayOutcome {
        let result: RelayChangeResult
        do {
            result = try await queue.run(.finish(upload), byteCount: 0, in: upload.channel)
        } catch let problem as RelayProblem where problem.code == .unauthorized {
            throw RelayProblem.noUpload
        }
        return result.outcomes.first ?? RelayOutcome(position: result.position, isNew: false)
    }
}
