import Foundation
import SyncEngine

extension RelayClient {
    // MARK: Channels

    /// Makes a channel. One that is there already with the same key is no error.
    ///
    /// - parameters:
    ///     - channel: Its identifier and its key, of which the relay gets hashes of tokens.
    ///     - admission: What the relay wants of those who make channels; nil for one that wants nothing.
    /// - throws: ``RelayError``: `unauthorized` when the relay wants another admission token, `conflict`, `unreachable`, ….
    public func make(_ channel: RelayChannel, admission: RelayToken? = nil) throws {
        var request = RelayRequest(
            kind: .channel, method: "PUT", path: "/v1/channels/\(channel.id)", token: admission)
        request.body = .document(Data(try RelayJSON.encode(channel.key.registration)))
        do {
            _ = try send(request)
        } catch let error as RelayError where error.code == .unauthorized {
            throw RelayError(
                .unauthorized,
                "\(address.authority) makes channels for those only who have its admission token",
                hint: admission == nil
                    ? "whoever runs the relay has it: --admission-file"
                    : "compare the file of the admission token with the relay's")
        }
    }

    /// How a channel stands.
    ///
    /// - throws: ``RelayError``.
    public func state(of channel: RelayChannel) throws -> RelayChannelState {
        try send(
            RelayRequest(
                kind: .channel, method: "GET", path: "/v1/channels/\(channel.id)",
                token: channel.key.readToken)
        ).answer.document(RelayChannelState.self)
    }

    /// Removes a channel with all that is in it. One that is gone is no error.
    ///
    /// - throws: ``RelayError``.
    public func delete(_ channel: RelayChannel) throws {
        var request = RelayRequest(
            kind: .channel, method: "DELETE", path: "/v1/channels/\(channel.id)",
            token: channel.key.writeToken)
        request.accepted = [401]
        let outcome = try send(request)
        // After an answer that was lost, there is no channel any more.
        guard outcome.answer.status != 401 || outcome.isRepeated else {
            throw RelayRefusal(outcome.answer).error(address)
        }
    }

    // MARK: Invitations

    /// Leaves an invitation at the relay.
    ///
    /// - parameters:
    ///     - channel: The channel that it lets somebody into.
    ///     - seconds: How long it can be used: up to 30 days.
    ///     - membership: What makes the store of whoever uses it a device of a member, in a database with members.
    /// - returns: The link that uses it, once.
    /// - throws: ``RelayError``.
    public func invite(
        to channel: RelayChannel, seconds: Int64, membership: MembershipInvitation? = nil
    ) throws -> RelayLink {
        let link = RelayLink(address: address)
        try leave(link, to: channel, seconds: seconds, membership: membership)
        return link
    }

    /// Leaves what a link opens, again if it was handed out.
    ///
    /// - throws: ``RelayError``.
    package func leave(
        _ link: RelayLink, to channel: RelayChannel, seconds: Int64, membership: MembershipInvitation? = nil
    ) throws {
        let deposit: RelayInvitationDeposit
        do {
            deposit = try RelayInvitationDeposit(sealed: link.seal(channel, membership), seconds: seconds)
        } catch let problem as RelayProblem {
            throw RelayError(.failed, problem.message)
        }
        var request = RelayRequest(
            kind: .invitation, method: "PUT", path: Self.path(of: link, in: channel),
            token: channel.key.writeToken)
        request.body = .document(Data(try RelayJSON.encode(deposit)))
        _ = try send(request)
    }

    /// Takes an invitation back, whether it was used or not.
    ///
    /// - throws: ``RelayError``.
    public func revoke(_ link: RelayLink, of channel: RelayChannel) throws {
        _ = try send(
            RelayRequest(
                kind: .invitation, method: "DELETE", path: Self.path(of: link, in: channel),
                token: channel.key.writeToken))
    }

    private static func path(of link: RelayLink, in channel: RelayChannel) -> String {
        "/v1/channels/\(channel.id)/invitations/\(link.invitation)"
    }

    /// Uses a link up.
    ///
    /// - parameter link: The link. Its address has to be this client's.
    /// - returns: The channel that it lets into.
    /// - throws: ``RelayError``: `noSuchInvitation`, `forgedInvitation`, `unreachable`, ….
    public func take(_ link: RelayLink) throws -> RelayChannel { try takeWithMembership(link).channel }

    /// Uses a link up, which may also make the store a device of a member.
    ///
    /// - throws: As ``take(_:)``.
    public func takeWithMembership(
        _ link: RelayLink
    ) throws -> (channel: RelayChannel, membership: MembershipInvitation?) {
        var request = RelayRequest(
            kind: .invitation, method: "POST", path: "/v1/invitations/\(link.invitation)")
        request.accepted = [404]
        let outcome = try send(request)
        guard outcome.answer.status != 404 else {
            throw RelayError(
                .noSuchInvitation,
                outcome.isRepeated
                    ? "\(address.authority) has handed the invitation out, and the answer was lost on the way"
                    : "\(address.authority) has no such invitation: it was used, has expired, or was taken back",
                hint: "ask for a new link: syncctl share <store>")
        }
        return try link.open(outcome.answer.document(RelayInvitation.self))
    }
}
