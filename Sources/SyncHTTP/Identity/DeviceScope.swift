import Foundation

/// What a device may exchange, as the register keeps it: `{"tables":[1,4]}`, tables by their numbers in the store, so
/// that they keep their place when they are renamed.
struct DeviceScope: Codable, Equatable, Sendable {
    private enum Key: String, CodingKey { case tables }

    let tables: [Int64]

    init(tables: [Int64]) { self.tables = tables }

    /// A newer program may have kept something that bounds the device further, such as rows: then it is refused, and
    /// not let in further than it may go.
    init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: AnyKey.self).allKeys
        guard keys.map(\.stringValue) == [Key.tables.rawValue] else { throw Self.unknown }
        tables = try decoder.container(keyedBy: Key.self).decode([Int64].self, forKey: .tables)
        guard !tables.isEmpty else { throw Self.unknown }
    }

    private static var unknown: RemoteError {
        RemoteError(.failed, "what a device may exchange was written by a newer program, or is damaged")
    }

    /// Reads what the register keeps; nil for everything.
    static func read(_ text: String?) throws -> DeviceScope? {
        guard let text else { return nil }
        do {
            return try JSONDecoder().decode(DeviceScope.self, from: Data(text.utf8))
        } catch {
            throw Self.unknown
        }
    }

    /// What the register keeps.
    var text: String {
        get throws { String(decoding: try JSONDocument.encode(self), as: UTF8.self) }
    }
}
