import HTTPTypes
import Hummingbird
import HummingbirdCore
import SyncEngine
import SyncWire

/// How people look at a conflict, and deal with it.
extension ConsoleResponder {
    /// What somebody chose.
    private enum Choice: String, Decodable {
        /// What is there stays.
        case keep
        /// The value that lost is written again.
        case restore
    }

    private struct ChoiceRequest: Decodable {
        let choice: Choice
        /// The state of the conflict as it was shown.
        let state: String?
    }

    private struct Resolved: Encodable {
        let resolved: Int
        let restoredValues: Int
        let restoredRows: Int
        let remaining: Int
    }

    /// The most bytes of a body.
    private static var byteCountMax: Int { 1 << 10 }

    /// Shows a conflict with both values, and what happened to its row.
    func conflict(
        _ request: Request, store: String, _ id: String, _ hub: HubResponder
    ) async throws -> Response {
        let (served, _, _) = try await admitted(request, store, hub)
        try served.readings.take()
        let number = try Self.number(id)
        return try hub.document(try await hub.onThread { try served.feed.reader.conflict(number) })
    }

    /// Closes a conflict, or writes the value again that lost, as an edit of this store.
    func resolve(
        _ request: Request, store: String, _ id: String, _ hub: HubResponder
    ) async throws -> Response {
        let (served, _, _) = try await admitted(request, store, hub)
        try Self.requireOwnPage(request)
        try served.choices.take()
        let number = try Self.number(id)
        let body = try await RequestReading(limits).body(of: request, upTo: Self.byteCountMax)
        let asked = try JSONDocument.decode(ChoiceRequest.self, from: body)
        let choice = asked.choice
        let result = try await hub.onThread {
            try served.feed.reader.resolve(
                number, by: choice == .keep ? .keepCurrent : .restoreLost, state: asked.state)
        }
        logger.notice(
            "a conflict was resolved on the page",
            metadata: [
                "store": "\(served.store.store)", "conflict": "\(number)", "choice": "\(choice.rawValue)",
            ])
        return try hub.document(
            Resolved(
                resolved: result.resolvedCount, restoredValues: result.restoredValueCount,
                restoredRows: result.restoredRowCount, remaining: result.remainingCount))
    }

    private static func number(_ text: String) throws -> Int64 {
        guard let number = Int64(text), number > 0, String(number) == text else {
            throw RemoteError(.notFound, "there is no such conflict")
        }
        return number
    }
}
