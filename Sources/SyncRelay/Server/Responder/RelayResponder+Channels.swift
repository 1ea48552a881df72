import Hummingbird
import HummingbirdCore
import NIOCore

/// Channels, listings, invitations, and the relay itself.
extension RelayResponder {
    func makeChannel(
        _ channel: RelayChannelID, _ request: Request, _ context: RelayContext
    ) async throws -> Response {
        try authorizeAdmission(request, context)
        return try await withDocument(
            RelayRegistration.self, of: request, upTo: RelayBounds.documentByteCountMax, context
        ) { registration in
            // Storages make channels one after the other, and nobody is to keep them busy with that.
            if try await storage.registration(of: channel) == nil { try newChannels.take(context.address) }
            let isNew = try await storage.makeChannel(channel, registration)
            return try document(try await storage.state(of: channel), isNew ? .created : .ok)
        }
    }

    func list(_ channel: RelayChannelID, _ request: Request) async throws -> Response {
        if let page = request.uri.queryParameters["page"] {
            return try document(try await storage.list(channel, .page(String(page))))
        }
        let moment = try moment(of: request)
        return try document(try await storage.list(channel, moment.map { .since($0) } ?? .all))
    }

    func change(
        _ channel: RelayChannelID, _ request: Request, _ context: RelayContext
    ) async throws -> Response {
        try await withDocument(
            RelayChanges.self, of: request, upTo: RelayBounds.changesByteCountMax, context
        ) { document in
            let result = try await storage.change(channel, document.changes)
            for case .write(_, _, let content) in document.changes {
                metrics.count(bytes: content.count, "in")
            }
            return try self.document(RelayPlace(position: result.position))
        }
    }

    // MARK: Invitations

    func leaveInvitation(
        _ invitation: RelayInvitationID, _ channel: RelayChannelID, _ request: Request,
        _ context: RelayContext
    ) async throws -> Response {
        try await withDocument(
            RelayInvitationDeposit.self, of: request, upTo: RelayBounds.documentByteCountMax, context
        ) { deposit in
            try await storage.leave(deposit, as: invitation, in: channel)
            return Response(status: .created)
        }
    }

    func takeInvitation(_ invitation: RelayInvitationID, _ context: RelayContext) async throws -> Response {
        do {
            return try document(try await storage.takeInvitation(invitation))
        } catch let problem as RelayProblem where problem.code == .missing {
            try countGuess(context)
            throw problem
        }
    }

    // MARK: The relay

    private struct Health: Codable {
        let status: String
    }

    /// The value that ``health()`` asks for, which no storage has.
    private static let healthName = "health"

    func health() async throws -> Response {
        // One look into an index, whatever the storage holds: anybody may ask.
        _ = try await storage.kept(Self.healthName)
        return try document(Health(status: "ok"))
    }

    func metricsAnswer() async throws -> Response {
        let figures = try await storage.figures()
        let text = metrics.text([
            .watches: Double(watches.count), .channels: Double(figures.channelCount),
            .files: Double(figures.fileCount), .fileBytes: Double(figures.byteCount),
            .storageBytes: Double(figures.storageByteCount),
        ])
        return octets(Array(text.utf8), "text/plain; version=0.0.4; charset=utf-8")
    }
}
