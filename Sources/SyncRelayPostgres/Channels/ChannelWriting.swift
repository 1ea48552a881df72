import Foundation
import SyncRelay

/// The statements of a transaction that changes a channel.
struct ChannelWriting {
    private let connection: PostgresConnection
    private let deadline: PostgresConnection.Deadline
    /// Whether bodies were noted whose blocks are to be removed later.
    private(set) var hasDiscarded = false

    init(_ connection: PostgresConnection, _ deadline: PostgresConnection.Deadline) {
        self.connection = connection
        self.deadline = deadline
    }

    // MARK: Reading

    /// Each name is looked up by the first key that is not before it, whatever the server knew of the table when it planned: no
    /// other index has that order. A plan for an empty table would go through all files of the channel.
    static let files = PostgresStatement(
        "commit-files", [.integer, .texts, .texts],
        """
        SELECT file.folder, file.name, file.position, file.byte_count, file.digest, file.body
        FROM unnest($2::text[], $3::text[]) AS wanted (folder, name)
        CROSS JOIN LATERAL (
            SELECT * FROM cipherstore_relay.file AS file
            WHERE (file.channel, file.folder, file.name) >= ($1, wanted.folder, wanted.name)
            ORDER BY file.channel, file.folder, file.name LIMIT 1) AS file
        WHERE file.channel = $1 AND file.folder = wanted.folder AND file.name = wanted.name
        """)

    /// What is known of names. It is read after the channel was locked, in a statement of its own: one that waited for the
    /// lock would see what was there before.
    func files(_ names: Set<RelayFileName>, in row: ChannelRow) throws -> [RelayFileName: FileRow] {
        guard !names.isEmpty else { return [:] }
        let names = Array(names)
        let values: [PostgresValue] = [
            .integer(row.number), .texts(names.map(\.folder)), .texts(names.map(\.name)),
        ]
        var files: [RelayFileName: FileRow] = [:]
        for row in try connection.run(Self.files, values, until: deadline).rows {
            let name = try RelayFileName(folder: row.text(0), name: row.text(1))
            files[name] = FileRow(
                position: try row.natural(2, upTo: .max),
                byteCount: try row.natural(3, upTo: RelayBounds.fileByteCountMax),
                digest: try row.optionalBytes(4), body: try row.optionalInteger(5))
        }
        return files
    }

    private static let uploads = PostgresStatement(
        "commit-uploads", [.integers, .integer],
        """
        SELECT body, received FROM cipherstore_relay.upload WHERE body = ANY ($1) AND channel = $2 FOR UPDATE
        """)

    /// How many bytes came of uploads.
    func uploads(_ bodies: [Int64], of row: ChannelRow) throws -> [Int64: Int64] {
        guard !bodies.isEmpty else { return [:] }
        let values: [PostgresValue] = [.integers(bodies), .integer(row.number)]
        var received: [Int64: Int64] = [:]
        for row in try connection.run(Self.uploads, values, until: deadline).rows {
            received[try row.integer(0)] = try row.integer(1)
        }
        return received
    }

    // MARK: Writing

    static let write = PostgresStatement(
        "commit-write",
        [
            .integer, .integers, .integers, .byteStrings, .texts, .texts, .integers, .integers, .byteStrings,
            .integers, .integer, .integer, .integer, .integer, .integer, .bytes,
        ],
        """
        WITH blocks AS (
            INSERT INTO cipherstore_relay.block (body, number, bytes)
            -- Blocks of a number that is being removed would go with it. The table refuses them.
            -- EXISTS would read all numbers that are being removed into a table in memory.
            SELECT new.body, CASE WHEN (
                SELECT old.body FROM cipherstore_relay.discarded AS old WHERE old.body = new.body) IS NULL
                THEN new.number END, new.bytes
            FROM unnest($2::bigint[], $3::bigint[], $4::bytea[]) AS new (body, number, bytes)
        ), files AS (
            INSERT INTO cipherstore_relay.file AS old
                (channel, folder, name, position, byte_count, digest, body, milliseconds)
            SELECT $1, new.*, $11 FROM unnest(
                $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::bytea[], $10::bigint[]) AS new
            ON CONFLICT (channel, folder, name) DO UPDATE SET
                position = excluded.position, byte_count = excluded.byte_count, digest = excluded.digest,
                body = excluded.body, milliseconds = excluded.milliseconds
        )
        UPDATE cipherstore_relay.channel SET position = $12, byte_count = $13, file_count = $14,
            removal_count = $15, tickets = $16
        WHERE number = $1
        """)

    /// Writes what a plan has come to, but for the last statements.
    ///
    /// - parameters:
    ///     - finished: The uploads that have become files, or have turned out not to be needed.
    ///     - ticket: What marks the commit.
    ///     - milliseconds: The time, when it is not the database's.
    /// - returns: The statements that are left to be run.
    mutating func write(
        _ plan: inout ChannelPlan, _ finished: [Int64], _ ticket: Data, milliseconds: Int64?
    ) throws -> [PostgresCall] {
        if !finished.isEmpty {
            try connection.run(Self.finishUploads, [.integers(finished)], until: deadline)
        }
        try discard(plan.discarded)
        let files = plan.changedFiles.compactMap { name in plan.files[name].map { (name, $0) } }
        // A commit that changes no file but ends an upload has a ticket too: it is not to be made twice.
        guard !files.isEmpty || !finished.isEmpty else { return [] }
        let blocks = Self.blocks(plan.bodies)
        let row = plan.row
        let write = PostgresCall(
            Self.write,
            [
                .integer(row.number), .integers(blocks.map(\.body)), .integers(blocks.map(\.number)),
                .byteStrings(blocks.map(\.bytes)), .texts(files.map(\.0.folder)),
                .texts(files.map(\.0.name)), .integers(files.map(\.1.position)),
                .integers(files.map(\.1.byteCount)), .byteStrings(files.map(\.1.digest)),
                .integers(files.map(\.1.body)), .integer(milliseconds ?? row.milliseconds),
                .integer(row.position), .integer(row.byteCount), .integer(row.fileCount),
                .integer(row.removalCount), .bytes(row.tickets.adding(ticket).bytes),
            ])
        guard plan.forgottenCount > 0 else { return [write] }
        try connection.run(write.statement, write.values, until: deadline)
        try forgetRemovals(&plan)
        return []
    }

    /// The pieces of bodies.
    static func blocks(_ bodies: [Int64: Data]) -> [(body: Int64, number: Int64, bytes: Data)] {
        bodies.flatMap { body, bytes in
            stride(from: 0, to: bytes.count, by: RelayUpload.pieceByteCount).enumerated().map {
                number, start in
                (body, Int64(number), Data(bytes.dropFirst(start).prefix(RelayUpload.pieceByteCount)))
            }
        }
    }

    private static let finishUploads = PostgresStatement(
        "commit-finish", [.integers], "DELETE FROM cipherstore_relay.upload WHERE body = ANY ($1)")
    private static let removeBlocks = PostgresStatement(
        "commit-remove", [.integers],
        "DELETE FROM cipherstore_relay.block WHERE body = ANY ($1) AND number = 0")
    private static let discard = PostgresStatement(
        "commit-discard", [.integers],
        "INSERT INTO cipherstore_relay.discarded (body) SELECT unnest($1::bigint[]) ON CONFLICT DO NOTHING")

    /// Removes bodies of one block at once, and notes longer ones: whoever waits for the channel doesn't wait for them.
    private mutating func discard(_ discarded: [ChannelPlan.Discarded]) throws {
        let isSmall = { (one: ChannelPlan.Discarded) in one.byteCount <= Int64(RelayUpload.pieceByteCount) }
        let small = discarded.filter(isSmall).map(\.body)
        let large = discarded.filter { !isSmall($0) }.map(\.body)
        if !small.isEmpty { try connection.run(Self.removeBlocks, [.integers(small)], until: deadline) }
        guard !large.isEmpty else { return }
        try connection.run(Self.discard, [.integers(large)], until: deadline)
        hasDiscarded = true
    }

    // MARK: Removals

    private static let lastForgotten = PostgresStatement(
        "commit-last-forgotten", [.integer, .integer],
        """
        SELECT position FROM cipherstore_relay.file WHERE channel = $1 AND body IS NULL
        ORDER BY position LIMIT 1 OFFSET $2
        """)
    private static let forget = PostgresStatement(
        "commit-forget", [.integer, .integer],
        "DELETE FROM cipherstore_relay.file WHERE channel = $1 AND body IS NULL AND position <= $2")
    private static let noteForgotten = PostgresStatement(
        "commit-note-forgotten", [.integer, .integer, .integer],
        "UPDATE cipherstore_relay.channel SET removal_count = $2, forgotten = $3 WHERE number = $1")

    private func forgetRemovals(_ plan: inout ChannelPlan) throws {
        let count = plan.forgottenCount
        let number = plan.row.number
        let last = try connection.run(
            Self.lastForgotten, [.integer(number), .integer(count - 1)], until: deadline
        ).first
        guard let position = try last?.integer(0) else { return }
        try connection.run(Self.forget, [.integer(number), .integer(position)], until: deadline)
        plan.forget(count, upTo: position)
        try connection.run(
            Self.noteForgotten,
            [.integer(number), .integer(plan.row.removalCount), .integer(position)], until: deadline)
    }
}
