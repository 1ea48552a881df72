import SyncEngine
import SyncWire

extension Message {
    /// What a device asks for: what it knows of all tables, what it knows of some, the tables that it wants, those of
    /// which it wants some rows, and those of which it holds some rows and wants nothing now.
    struct Transfer: Codable {
        struct Part: Codable {
            let tables: [[String]]
            let known: [String: Int64]
        }

        private enum Key: String, CodingKey, CaseIterable { case vector, parts, tables, rows, leftOut, whole }

        let vector: [String: Int64]
        let parts: [Part]
        let tables: [[String]]?
        let rows: [Rows]
        let leftOut: [[String]]
        /// The rows of which it wants all, as the body of a request for repairs, in Base64.
        let whole: String?

        init(_ request: TransferRequest) {
            vector = Vector(request.base).vector
            parts = request.parts.map { Part(tables: $0.tables, known: Vector($0.target).vector) }
            tables = request.tables
            rows = request.rows.map(Rows.init)
            leftOut = request.leftOut
            whole = request.wholeRows.isEmpty ? nil : ByteText.base64(StateRows.encode(request.wholeRows))
        }

        /// Something that is not known here may ask for less: then too much would be sent.
        init(from decoder: any Decoder) throws {
            let known = Set(Key.allCases.map(\.rawValue))
            for key in try decoder.container(keyedBy: AnyKey.self).allKeys {
                guard known.contains(key.stringValue) else {
                    throw RemoteError(
                        .unsupportedVersion,
                        "the request asks for something that this server does not know: \(key.stringValue.prefix(40).debugDescription)"
                    )
                }
            }
            let container = try decoder.container(keyedBy: Key.self)
            vector = try container.decode([String: Int64].self, forKey: .vector)
            parts = try container.decodeIfPresent([Part].self, forKey: .parts) ?? []
            tables = try container.decodeIfPresent([[String]].self, forKey: .tables)
            rows = try container.decodeIfPresent([Rows].self, forKey: .rows) ?? []
            leftOut = try container.decodeIfPresent([[String]].self, forKey: .leftOut) ?? []
            whole = try container.decodeIfPresent(String.self, forKey: .whole)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(vector, forKey: .vector)
            if !parts.isEmpty { try container.encode(parts, forKey: .parts) }
            try container.encodeIfPresent(tables, forKey: .tables)
            if !rows.isEmpty { try container.encode(rows, forKey: .rows) }
            if !leftOut.isEmpty { try container.encode(leftOut, forKey: .leftOut) }
            try container.encodeIfPresent(whole, forKey: .whole)
        }

        /// The request.
        ///
        /// - throws: ``RemoteError``: `malformed`, `tooLarge` for more tables or names than a bundle can have.
        func value() throws -> TransferRequest {
            try checkCounts()
            guard ((tables ?? []) + leftOut).allSatisfy({ !$0.isEmpty }) else {
                throw RemoteError(.malformed, "a table has no name")
            }
            var request = TransferRequest(
                base: try Vector(entries: vector).value(),
                parts: try parts.map {
                    ReplicaFacts.Part(tables: $0.tables, target: try Vector(entries: $0.known).value())
                },
                tables: tables)
            request.rows = try rows.map { try $0.value() }
            request.leftOut = leftOut
            if let whole {
                guard let bytes = ByteText.bytes(base64: whole) else {
                    throw RemoteError(.malformed, "rows are written in Base64")
                }
                request.wholeRows = try bytes.withUnsafeBytes { try StateRows.decode($0) }
            }
            return request
        }

        /// An empty list of names takes three bytes of the document, and many times that in memory.
        private func checkCounts() throws {
            let limits = WireLimits()
            let lists = [tables ?? [], leftOut] + parts.map(\.tables)
            guard max(parts.count, rows.count, lists.map(\.count).max() ?? 0) <= limits.tableCountMax else {
                throw RemoteError(.tooLarge, "the request has over \(limits.tableCountMax) tables")
            }
            let nameCount = lists.joined().reduce(0) { $0 + $1.count }
            guard nameCount <= limits.columnTotalMax else {
                throw RemoteError(
                    .tooLarge, "the tables of the request have over \(limits.columnTotalMax) names")
            }
        }
    }
}

/// Whatever a document's members are called.
struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
