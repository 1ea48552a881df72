import Foundation
import SyncEngine
import SyncWire

/// What a device may exchange, as the register keeps it:
/// `{"rows":[{"column":2,"table":1,"values":[{"text":"a"}]}],"tables":[1,4]}`, tables and columns by their numbers in the
/// store, so that they keep their place when they are renamed. Without `tables` it is all of them.
struct DeviceScope: Codable, Equatable, Sendable {
    private enum Key: String, CodingKey, CaseIterable { case tables, rows }

    /// The rows of a table.
    private struct Rows: Codable {
        enum Key: String, CodingKey, CaseIterable { case table, column, values }

        let table: Int64
        let column: Int
        let values: [Message.Value]

        init(_ rows: AccessBounds.Rows) {
            (table, column, values) = (rows.table, rows.column, rows.values.map(Message.Value.init))
        }

        init(from decoder: any Decoder) throws {
            try DeviceScope.requireKnown(Key.self, decoder)
            let container = try decoder.container(keyedBy: Key.self)
            table = try container.decode(Int64.self, forKey: .table)
            column = try container.decode(Int.self, forKey: .column)
            values = try container.decode([Message.Value].self, forKey: .values)
        }
    }

    let bounds: AccessBounds

    init(_ bounds: AccessBounds) { self.bounds = bounds }

    /// A newer program may have kept something that bounds the device further: then it is refused, and not let in
    /// further than it may go.
    init(from decoder: any Decoder) throws {
        try Self.requireKnown(Key.self, decoder)
        let container = try decoder.container(keyedBy: Key.self)
        let tables = try container.decodeIfPresent([Int64].self, forKey: .tables)
        let rows = try container.decodeIfPresent([Rows].self, forKey: .rows)
        guard tables != nil || rows != nil, tables?.isEmpty != true, rows?.isEmpty != true else {
            throw Self.unknown
        }
        bounds = AccessBounds(
            tables: tables,
            rows: (rows ?? []).map {
                AccessBounds.Rows(table: $0.table, column: $0.column, values: $0.values.map(\.value))
            })
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeIfPresent(bounds.tables, forKey: .tables)
        if !bounds.rows.isEmpty { try container.encode(bounds.rows.map(Rows.init), forKey: .rows) }
    }

    private static func requireKnown<Known: CodingKey & CaseIterable>(
        _ keys: Known.Type, _ decoder: any Decoder
    ) throws {
        let known = Set(keys.allCases.map(\.stringValue))
        let given = try decoder.container(keyedBy: AnyKey.self).allKeys
        guard given.allSatisfy({ known.contains($0.stringValue) }) else { throw unknown }
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
