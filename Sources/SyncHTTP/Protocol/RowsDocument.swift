import SyncEngine
import SyncWire

extension Message {
    /// A value by which rows are chosen: an object with one member, which says its type.
    struct Value: Codable, Equatable {
        private enum Key: String, CodingKey { case null, integer, text, blob }

        let value: ScopeValue

        init(_ value: ScopeValue) { self.value = value }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            guard try decoder.container(keyedBy: AnyKey.self).allKeys.count == 1,
                let key = container.allKeys.first
            else { throw RemoteError(.malformed, "a value has one member, which says its type") }
            switch key {
            case .null:
                guard try container.decode(Bool.self, forKey: key) else {
                    throw RemoteError(.malformed, "NULL is written as {\"null\":true}")
                }
                value = .null
            case .integer: value = .integer(try container.decode(Int64.self, forKey: key))
            case .text: value = .text(try container.decode(String.self, forKey: key))
            case .blob:
                guard let bytes = ByteText.bytes(hex: try container.decode(String.self, forKey: key)) else {
                    throw RemoteError(.malformed, "a blob is written as hexadecimal digits")
                }
                value = .blob(bytes)
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            switch value {
            case .null: try container.encode(true, forKey: .null)
            case .integer(let number): try container.encode(number, forKey: .integer)
            case .text(let text): try container.encode(text, forKey: .text)
            case .blob(let bytes): try container.encode(ByteText.hex(bytes), forKey: .blob)
            }
        }
    }

    /// A table of which a device wants some rows only: what it knows of them, and which they are.
    struct Rows: Codable {
        let names: [String]
        let since: [String: Int64]
        let own: [String: Int64]
        let dropped: [String: Int64]
        let whole: Bool
        let due: Bool
        let columns: [String]
        /// Absent when all rows are wanted again.
        let values: [Value]?
        let held: [Value]
        let receiver: String
        let revision: Int64

        init(_ request: RowRequest) {
            let partial = request.partial
            names = partial.names
            since = Vector(partial.since).vector
            own = Vector(partial.own).vector
            dropped = Vector(partial.dropped).vector
            whole = partial.isWhole
            due = partial.isDue
            columns = request.columns
            values = request.values?.map(Value.init)
            held = request.heldValues.map(Value.init)
            receiver = request.receiver.description
            revision = request.revision
        }

        func value() throws -> RowRequest {
            guard !names.isEmpty, !columns.isEmpty else {
                throw RemoteError(.malformed, "a table or its column has no name")
            }
            var partial = ReplicaFacts.Partial(
                names: names, since: try Vector(entries: since).value(),
                own: try Vector(entries: own).value(),
                dropped: try Vector(entries: dropped).value())
            partial.isWhole = whole
            partial.isDue = due
            partial.wantsEverything = values == nil
            return RowRequest(
                partial: partial, columns: columns, values: values?.map(\.value),
                heldValues: held.map(\.value), receiver: try Message.identifier(receiver), revision: revision)
        }
    }
}
