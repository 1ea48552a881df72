import Foundation
import SyncRelay

extension PostgresRelayStorage {
    private static let digests = PostgresStatement(
        "registration", [.bytes],
        "SELECT read_digest, write_digest FROM cipherstore_relay.channel WHERE id = $1")
    private static let countLock = PostgresStatement(
        "channel-count-lock", [], "SELECT pg_advisory_xact_lock(4851574867217408625)")
    private static let insert = PostgresStatement(
        "channel-insert", [.bytes, .bytes, .bytes, .bytes],
        """
        INSERT INTO cipherstore_relay.channel (id, birth, read_digest, write_digest, position, byte_count,
            file_count, removal_count, forgotten, tickets)
        VALUES ($1, $2, $3, $4, 0, 0, 0, 0, 0, '')
        """)

    /// Makes a channel. Relays that make channels at the same time wait for each other, so that there are not too
    /// many, and each waits with one connection.
    ///
    /// - parameters:
    ///     - channel: The identifier of the channel.
    ///     - registration: The digests of its tokens.
    /// - returns: Whether it was made; false when it was there, with the same tokens. After a lost connection it may
    ///   be true for one that was there.
    /// - throws: `RelayProblem`: `conflict`, `full`, `unavailable`, and `busy` when too many are made at a time.
    public func makeChannel(
        _ channel: RelayChannelID, _ registration: RelayRegistration
    ) async throws -> Bool {
        // Most clients ask for one that is there: nothing is written for them.
        if let known = try await self.registration(of: channel) {
            return try Self.compare(known, registration)
        }
        try channelCount.requireHope()
        let end = pool.deadline
        return try await channelCount.inTurn { try await makeNew(channel, registration, until: end) }
    }

    private func makeNew(
        _ channel: RelayChannelID, _ registration: RelayRegistration, until end: PostgresConnection.Deadline
    ) async throws -> Bool {
        let countMax = options.channelCountMax
        let birth = Data(RelayEpoch.random().bytes)
        return try await pool.run(until: end) { [channelCount] session in
            try session.repeating { connection, attempt in
                let deadline = session.deadline
                return try PostgresSession.transaction(connection, until: deadline) {
                    // They are counted one after the other, so that there are not more than there may be.
                    try connection.run(Self.countLock, until: deadline)
                    let id = PostgresValue.bytes(Data(channel.bytes))
                    if let row = try connection.run(Self.digests, [id], until: deadline).first {
                        let isKnown = try Self.compare(try Self.registration(row), registration)
                        // After a lost answer it is most likely the one that was made then.
                        return attempt > 0 ? true : isKnown
                    }
                    try channelCount.requireRoom(for: countMax, connection, until: deadline)
                    try connection.run(
                        Self.insert,
                        [
                            id, .bytes(birth), .bytes(Data(registration.readToken.bytes)),
                            .bytes(Data(registration.writeToken.bytes)),
                        ], until: deadline)
                    return true
                }
            }
        }
    }

    /// - returns: false, for the channel was not made.
    private static func compare(_ known: RelayRegistration, _ new: RelayRegistration) throws -> Bool {
        let isRead = known.readToken.isSame(as: new.readToken)
        let isWrite = known.writeToken.isSame(as: new.writeToken)
        guard isRead && isWrite else {
            throw RelayProblem(.conflict, "the channel is there, with other tokens")
        }
        return false
    }

    /// The digests of a channel's tokens, read from the database; nil when there is no such channel.
    ///
    /// - parameter channel: The channel.
    /// - throws: `RelayProblem` of code `unavailable`, also when a digest in the database is damaged.
    public func registration(of channel: RelayChannelID) async throws -> RelayRegistration? {
        try await pool.run { session in
            try session.run(Self.digests, [.bytes(Data(channel.bytes))]).first.map {
                try Self.registration($0)
            }
        }
    }

    private static func registration(_ row: PostgresRow) throws -> RelayRegistration {
        guard let read = RelayDigest(bytes: Array(try row.bytes(0))),
            let write = RelayDigest(bytes: Array(try row.bytes(1)))
        else { throw RelayProblem(.unavailable, "the storage is damaged: a digest has not 32 bytes") }
        return RelayRegistration(readToken: read, writeToken: write)
    }

    /// How a channel stands, by the sums that its row keeps.
    ///
    /// - parameter channel: The channel.
    /// - throws: `RelayProblem`: `unauthorized`, `unavailable`.
    public func state(of channel: RelayChannelID) async throws -> RelayChannelState {
        let row = try await pool.run { try ChannelRow.require($0, channel) }
        return RelayChannelState(
            epoch: try row.epoch(), position: row.position, byteCount: row.byteCount,
            byteCountMax: options.channelByteCountMax, fileCount: row.fileCount)
    }

    /// Tells of each change of a channel, made by this relay or by another one, until the observation is cancelled.
    ///
    /// The database tells of those of others. Where it doesn't, ``Options/lookSeconds`` says how late they are
    /// noticed.
    ///
    /// - parameters:
    ///     - channel: The channel.
    ///     - onMoment: Called with the moment after a change, and with nil when the channel was removed. It must
    ///       not block.
    /// - returns: The observation; it ends when it is gone.
    public func observe(
        _ channel: RelayChannelID, _ onMoment: @escaping @Sendable (RelayMoment?) -> Void
    ) -> RelayObservation {
        feed.observe(channel, onMoment)
    }

    // MARK: Removal

    private static let discardFiles = PostgresStatement(
        "remove-file-bodies", [.integer],
        """
        INSERT INTO cipherstore_relay.discarded (body)
        SELECT body FROM cipherstore_relay.file WHERE channel = $1 AND body > 0 ON CONFLICT DO NOTHING
        """)
    /// As ``abandonUploads``, of a channel.
    private static let discardUploads = PostgresStatement(
        "remove-upload-bodies", [.integer],
        """
        WITH ended AS (DELETE FROM cipherstore_relay.upload WHERE channel = $1 RETURNING body, received)
        INSERT INTO cipherstore_relay.discarded (body) SELECT body FROM ended WHERE received > 0
        ON CONFLICT DO NOTHING
        """)
    private static let removals = ["file", "invitation"].map { table in
        PostgresStatement(
            "remove-\(table)", [.integer], "DELETE FROM cipherstore_relay.\(table) WHERE channel = $1")
    }
    private static let remove = PostgresStatement(
        "remove-channel", [.integer], "DELETE FROM cipherstore_relay.channel WHERE number = $1")

    /// Removes a channel with all that is in it, and tells the other relays. The blocks of its files go later.
    ///
    /// One that is not there is no problem.
    ///
    /// - parameter channel: The channel.
    /// - throws: `RelayProblem` of code `unavailable`.
    public func removeChannel(_ channel: RelayChannelID) async throws {
        try await pool.run { session in
            try session.repeating { connection, _ in
                let deadline = session.deadline
                try PostgresSession.transaction(connection, until: deadline) {
                    let row: ChannelRow
                    do {
                        row = try ChannelRow.lock(connection, channel, until: deadline)
                    } catch let problem as RelayProblem where problem.code == .unauthorized {
                        return
                    }
                    let number = [PostgresValue.integer(row.number)]
                    for statement in [Self.discardFiles, Self.discardUploads] + Self.removals + [Self.remove]
                    {
                        try connection.run(statement, number, until: deadline)
                    }
                }
            }
        }
        channelCount.noteRemoval()
        feed.tellRemoval(of: channel)
        listener.announce(channel, nil)
        cleaner.wake()
    }
}
