import CipherStore
import Crypto
import Foundation

extension SQLiteRelayStorage {
    /// Makes a channel, by a commit of its own or with others. For one that is there already, nothing is written.
    ///
    /// - parameters:
    ///     - channel: The identifier of the channel.
    ///     - registration: The digests of its tokens.
    /// - returns: Whether it was made; false when it was there, with the same tokens.
    /// - throws: ``RelayProblem``: `conflict`, `full`, `busy`, `unavailable`.
    public func makeChannel(
        _ channel: RelayChannelID, _ registration: RelayRegistration
    ) async throws -> Bool {
        // Most clients ask for one that is there: nothing is written for them.
        if let known = try await self.registration(of: channel) {
            return try Self.compare(known, registration)
        }
        let options = options
        return try await queue.run { db in
            if let known = try Self.registration(db, channel) {
                return try Self.compare(known, registration)
            }
            let count = try db.row("SELECT count(*) FROM channel")?.decode(Int64.self, atIndex: 0) ?? 0
            guard count < options.channelCountMax else {
                throw RelayProblem(.full, "the relay has as many channels as it may have")
            }
            try db.run(
                """
                INSERT INTO channel (id, birth, readDigest, writeDigest, position, byteCount, fileCount,
                    removalCount, forgotten)
                VALUES (?, ?, ?, ?, 0, 0, 0, 0, 0)
                """,
                [
                    Data(channel.bytes), Data(RelayEpoch.random().bytes),
                    Data(registration.readToken.bytes), Data(registration.writeToken.bytes),
                ])
            return true
        }
    }

    private static func compare(_ known: RelayRegistration, _ new: RelayRegistration) throws -> Bool {
        let isRead = known.readToken.isSame(as: new.readToken)
        let isWrite = known.writeToken.isSame(as: new.writeToken)
        guard isRead && isWrite else {
            throw RelayProblem(.conflict, "the channel is there, with other tokens")
        }
        return false
    }

    /// The digests of a channel's tokens, read from the file; nil when there is no such channel.
    ///
    /// - parameter channel: The channel.
    /// - throws: ``RelayProblem`` of code `unavailable`, also when a digest in the file is damaged.
    public func registration(of channel: RelayChannelID) async throws -> RelayRegistration? {
        try await read { try Self.registration($0, channel) }
    }

    private static func registration(_ db: Database, _ channel: RelayChannelID) throws -> RelayRegistration? {
        guard
            let row = try db.row(
                "SELECT readDigest, writeDigest FROM channel WHERE id = ?", [Data(channel.bytes)])
        else { return nil }
        guard let read = RelayDigest(bytes: Array(try row.decode(Data.self, atIndex: 0))),
            let write = RelayDigest(bytes: Array(try row.decode(Data.self, atIndex: 1)))
        else { throw RelayProblem(.unavailable, "the storage is damaged: a digest has not 32 bytes") }
        return RelayRegistration(readToken: read, writeToken: write)
    }

    /// How a channel stands, by the sums that its row keeps. Impossible ones are counted anew.
    ///
    /// - parameter channel: The channel.
    /// - throws: ``RelayProblem``: `unauthorized`, `unavailable`.
    public func state(of channel: RelayChannelID) async throws -> RelayChannelState {
        let row = try await read { try ChannelRow.require($0, channel) }
        return RelayChannelState(
            epoch: try epoch(row.birth), position: row.position, byteCount: row.byteCount,
            byteCountMax: options.channelByteCountMax, fileCount: row.fileCount)
    }

    /// Removes a channel with all that is in it. The blocks of its files go later, in slices, when nobody waits.
    ///
    /// One that is not there is no problem.
    ///
    /// - parameter channel: The channel.
    /// - throws: ``RelayProblem``: `busy`, `unavailable`.
    public func removeChannel(_ channel: RelayChannelID) async throws {
        let feed = feed
        let tellRemoval: @Sendable (()) -> Void = { _ in feed.tellRemoval(of: channel) }
        try await queue.run(onCommit: tellRemoval) { db in
            guard let row = try ChannelRow.fetch(db, channel) else { return }
            for table in ["file", "upload"] {
                try db.run(
                    """
                    INSERT INTO discarded (body)
                    SELECT body FROM \(table) WHERE channel = ? AND body IS NOT NULL AND body > 0
                    """, [row.number])
            }
            for table in ["file", "upload", "invitation"] {
                try db.run("DELETE FROM \(table) WHERE channel = ?", [row.number])
            }
            try db.run("DELETE FROM channel WHERE number = ?", [row.number])
        }
        queue.noteLeisureWork()
    }

    /// Tells of each change of a channel after its commit, until the observation is cancelled. Only one relay has
    /// the file open, so no change is made elsewhere.
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
}
