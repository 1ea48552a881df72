import CipherStore
import Foundation

extension SQLiteRelayStorage {
    /// Keeps an invitation for a time, and removes all that have expired. The same one may be left again: an answer
    /// may have been lost.
    ///
    /// - parameters:
    ///     - deposit: The sealed invitation, and for how many seconds it is kept.
    ///     - invitation: The name it is taken by.
    ///     - channel: The channel.
    /// - throws: ``RelayProblem``: `unauthorized`, `conflict`, `full`, `busy`, `unavailable`.
    public func leave(
        _ deposit: RelayInvitationDeposit, as invitation: RelayInvitationID, in channel: RelayChannelID
    ) async throws {
        let now = options.milliseconds()
        let expiry = now.addingReportingOverflow(deposit.seconds * 1000)
        let id = Data(invitation.bytes)
        try await queue.run { db in
            let row = try ChannelRow.require(db, channel)
            // Those of others are removed now and then: all channels wait for this connection.
            try db.run("DELETE FROM invitation WHERE channel = ? AND expiry <= ?", [row.number, now])
            try db.run("DELETE FROM invitation WHERE id = ? AND expiry <= ?", [id, now])
            if let known = try db.row("SELECT channel, sealed FROM invitation WHERE id = ?", [id]) {
                // The answer to the first request may have been lost.
                guard try known.decode(Int64.self, atIndex: 0) == row.number,
                    try known.decode(Data.self, atIndex: 1) == deposit.sealed
                else { throw RelayProblem(.conflict, "there is another invitation of that name") }
                return
            }
            let count = try db.row("SELECT count(*) FROM invitation WHERE channel = ?", [row.number])
            guard try count?.decode(Int64.self, atIndex: 0) ?? 0 < RelayBounds.invitationCountMax else {
                throw RelayProblem(
                    .full,
                    "the channel has \(RelayBounds.invitationCountMax) open invitations; remove some, or wait until they expire"
                )
            }
            try db.run(
                "INSERT INTO invitation (id, channel, sealed, expiry) VALUES (?, ?, ?, ?)",
                [id, row.number, deposit.sealed, expiry.overflow ? Int64.max : expiry.partialValue])
        }
    }

    /// Removes an invitation of a channel. One that is not there, or that is another channel's, is no problem.
    ///
    /// - parameters:
    ///     - invitation: The name of the invitation.
    ///     - channel: The channel.
    /// - throws: ``RelayProblem``: `unauthorized`, `busy`, `unavailable`.
    public func removeInvitation(
        _ invitation: RelayInvitationID, of channel: RelayChannelID
    ) async throws {
        try await queue.run { db in
            let row = try ChannelRow.require(db, channel)
            try db.run(
                "DELETE FROM invitation WHERE id = ? AND channel = ?", [Data(invitation.bytes), row.number])
        }
    }

    /// Hands out an invitation once, and removes it by the same transaction. For a name that is not there, nothing is
    /// written.
    ///
    /// - parameter invitation: The name of the invitation.
    /// - returns: The sealed invitation, and the channel it is for.
    /// - throws: ``RelayProblem``: `missing`, `busy`, `unavailable`.
    public func takeInvitation(_ invitation: RelayInvitationID) async throws -> RelayInvitation {
        let now = options.milliseconds()
        let id = Data(invitation.bytes)
        // Whoever guesses must not make the relay write.
        let isThere = try await read { db in
            try db.row("SELECT 1 FROM invitation WHERE id = ? AND expiry > ?", [id, now]) != nil
        }
        guard isThere else { throw Self.noInvitation }
        return try await queue.run { db in
            guard
                let row = try db.row(
                    """
                    SELECT channel.id, sealed FROM invitation JOIN channel ON channel.number = invitation.channel
                    WHERE invitation.id = ? AND expiry > ?
                    """, [id, now]),
                let channel = RelayChannelID(bytes: Array(try row.decode(Data.self, atIndex: 0)))
            else { throw Self.noInvitation }
            let sealed = try row.decode(Data.self, atIndex: 1)
            try db.run("DELETE FROM invitation WHERE id = ?", [id])
            return RelayInvitation(channel: channel, sealed: sealed)
        }
    }

    private static let noInvitation = RelayProblem(
        .missing, "there is no such invitation: it was used, has expired, or never was there")
}
