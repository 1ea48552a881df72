import Foundation
import SyncRelay

extension PostgresRelayStorage {
    private static let removeOld = PostgresStatement(
        "invitation-old", [.integer, .integer],
        "DELETE FROM cipherstore_relay.invitation WHERE channel = $1 AND expiry <= $2")
    private static let known = PostgresStatement(
        "invitation-known", [.bytes],
        "SELECT channel, sealed, expiry, taken IS NOT NULL FROM cipherstore_relay.invitation WHERE id = $1 FOR UPDATE"
    )
    private static let count = PostgresStatement(
        "invitation-count", [.integer],
        "SELECT count(*) FROM cipherstore_relay.invitation WHERE channel = $1 AND taken IS NULL")
    private static let insert = PostgresStatement(
        "invitation-insert", [.bytes, .integer, .bytes, .integer, .integer],
        """
        INSERT INTO cipherstore_relay.invitation AS old (id, channel, sealed, expiry) VALUES ($1, $2, $3, $4)
        ON CONFLICT (id) DO UPDATE SET
            channel = excluded.channel, sealed = excluded.sealed, expiry = excluded.expiry, taken = NULL
        WHERE old.expiry <= $5 OR old.taken IS NOT NULL
        """)

    /// Keeps an invitation for a time, and removes those of the channel that have expired. The same one may be left
    /// again: an answer may have been lost.
    ///
    /// - parameters:
    ///     - deposit: The sealed invitation, and for how many seconds it is kept.
    ///     - invitation: The name it is taken by.
    ///     - channel: The channel.
    /// - throws: `RelayProblem`: `unauthorized`, `conflict`, `full`, `unavailable`.
    public func leave(
        _ deposit: RelayInvitationDeposit, as invitation: RelayInvitationID, in channel: RelayChannelID
    ) async throws {
        let time = options.milliseconds?()
        try await pool.run { session in
            try session.repeating { connection, _ in
                let deadline = session.deadline
                try PostgresSession.transaction(connection, until: deadline) {
                    let row = try ChannelRow.lock(connection, channel, until: deadline)
                    try Self.leave(
                        deposit, .bytes(Data(invitation.bytes)), row.number, time ?? row.milliseconds,
                        connection, deadline)
                }
            }
        }
    }

    private static func leave(
        _ deposit: RelayInvitationDeposit, _ id: PostgresValue, _ channel: Int64, _ now: Int64,
        _ connection: PostgresConnection, _ deadline: PostgresConnection.Deadline
    ) throws {
        try connection.run(removeOld, [.integer(channel), .integer(now)], until: deadline)
        if let row = try connection.run(known, [id], until: deadline).first,
            try row.integer(2) > now, try !row.bool(3)
        {
            // The answer to the first request may have been lost.
            guard try row.integer(0) == channel, try row.bytes(1) == deposit.sealed else {
                throw RelayProblem(.conflict, "there is another invitation of that name")
            }
            return
        }
        let open = try connection.run(count, [.integer(channel)], until: deadline).first?.integer(0) ?? 0
        guard open < RelayBounds.invitationCountMax else {
            throw RelayProblem(
                .full,
                "the channel has \(RelayBounds.invitationCountMax) open invitations; remove some, or wait until they expire"
            )
        }
        let (expiry, isTooLate) = now.addingReportingOverflow(deposit.seconds * 1000)
        let values: [PostgresValue] = [
            id, .integer(channel), .bytes(deposit.sealed), .integer(isTooLate ? .max : expiry), .integer(now),
        ]
        guard try connection.run(insert, values, until: deadline).changedCount == 1 else {
            // Another channel has left one of that name in this moment.
            throw RelayProblem(.conflict, "there is another invitation of that name")
        }
    }

    private static let removeOne = PostgresStatement(
        "invitation-remove", [.bytes, .integer],
        "DELETE FROM cipherstore_relay.invitation WHERE id = $1 AND channel = $2")

    /// Removes an invitation of a channel. One that is not there, or that is another channel's, is no problem.
    ///
    /// - parameters:
    ///     - invitation: The name of the invitation.
    ///     - channel: The channel.
    /// - throws: `RelayProblem`: `unauthorized`, `unavailable`.
    public func removeInvitation(
        _ invitation: RelayInvitationID, of channel: RelayChannelID
    ) async throws {
        try await pool.run { session in
            let row = try ChannelRow.require(session, channel)
            _ = try session.run(Self.removeOne, [.bytes(Data(invitation.bytes)), .integer(row.number)])
        }
    }

    /// How long an invitation stays that was handed out: until then the call that it was handed out to may ask again.
    private static let takenMilliseconds: Int64 = 60_000
    private static let isThere = PostgresStatement(
        "invitation-there", [.bytes, .integer],
        """
        SELECT 1 FROM cipherstore_relay.invitation
        WHERE id = $1 AND taken IS NULL AND expiry > coalesce($2, \(ChannelRow.now))
        """)
    private static let take = PostgresStatement(
        "invitation-take", [.bytes, .integer, .bytes, .integer],
        """
        UPDATE cipherstore_relay.invitation AS invitation
        SET taken = $3, expiry = coalesce($2, \(ChannelRow.now)) + $4
        FROM cipherstore_relay.channel AS channel
        WHERE channel.number = invitation.channel AND invitation.id = $1
            AND invitation.expiry > coalesce($2, \(ChannelRow.now))
            AND (invitation.taken IS NULL OR invitation.taken = $3)
        RETURNING channel.id, invitation.sealed
        """)
    private static let removeTaken = PostgresStatement(
        "invitation-remove-taken", [.bytes, .bytes],
        "DELETE FROM cipherstore_relay.invitation WHERE id = $1 AND taken = $2")

    /// Hands out an invitation once, whichever relays are asked for it. It is marked with this call first and removed
    /// then, so that a lost connection loses no invitation.
    ///
    /// - parameter invitation: The name of the invitation.
    /// - returns: The sealed invitation, and the channel it is for.
    /// - throws: `RelayProblem`: `missing`, `unavailable`.
    public func takeInvitation(_ invitation: RelayInvitationID) async throws -> RelayInvitation {
        let time = time
        let id = PostgresValue.bytes(Data(invitation.bytes))
        let ticket = PostgresValue.bytes(Data(RelayInvitationID.random().bytes))
        return try await pool.run { session in
            // Whoever guesses must not make the relay write.
            guard try session.run(Self.isThere, [id, time]).first != nil else { throw Self.noInvitation }
            // It is marked with the call that gets it, and removed afterwards: when the answer to the first is lost, the
            // same call may ask again, and no other one gets it.
            let values = [id, time, ticket, .integer(Self.takenMilliseconds)]
            guard let row = try session.run(Self.take, values).first,
                let channel = RelayChannelID(bytes: Array(try row.bytes(0)))
            else { throw Self.noInvitation }
            let sealed = try row.bytes(1)
            // Otherwise it is removed when its time is over, and nobody gets it until then.
            _ = try? session.run(Self.removeTaken, [id, ticket])
            return RelayInvitation(channel: channel, sealed: sealed)
        }
    }

    private static let noInvitation = RelayProblem(
        .missing, "there is no such invitation: it was used, has expired, or never was there")
}
