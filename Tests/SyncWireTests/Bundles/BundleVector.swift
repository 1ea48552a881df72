@testable import SyncWire

/// A bundle of `bundles.json` and what it holds.
struct BundleVector: Decodable {
    let name: String
    let chunkByteCountMax: Int?
    let decodeOnly: String?
    let header: VectorHeader
    let rows: [VectorRow]
    let frames: [VectorBytes]

    static func all() throws -> [BundleVector] { try VectorFile<BundleVector>.load("bundles") }

    var frameBytes: [[UInt8]] { frames.map(\.bytes) }

    var limits: WireLimits {
        var limits = WireLimits()
        if let chunkByteCountMax { limits.chunkByteCountMax = chunkByteCountMax }
        return limits
    }

    func content() throws -> BundleContent {
        BundleContent(header: try header.content(), rows: try rows.map { try $0.content() })
    }

    /// The rows whose base has a mask.
    var maskedRows: Set<Int> {
        Set(rows.indices.filter { rows[$0].whole == false })
    }
}

/// A bundle's header.
struct VectorHeader: Decodable {
    struct Table: Decodable {
        let name: String
        let key: String
        let columns: [String]
    }

    let store: String
    let sender: String
    let base: [String: VectorNumber<Int64>]
    let target: [String: VectorNumber<Int64>]
    let replicas: [String]
    let tables: [Table]
    let facts: VectorFacts?

    func content() throws -> BundleHeader {
        BundleHeader(
            store: try Self.identifier(store), sender: try Self.identifier(sender),
            base: try Self.vector(base), target: try Self.vector(target),
            replicas: try replicas.map { try Self.identifier($0) },
            tables: tables.map { BundleHeader.Table(name: $0.name, key: $0.key, columns: $0.columns) },
            facts: try facts?.content() ?? ReplicaFacts())
    }

    static func identifier(_ text: String) throws -> Identifier128 {
        let bytes = try Hexadecimal.bytes(text)
        guard let identifier = bytes.withUnsafeBytes({ Identifier128(bytes: $0) }) else {
            throw VectorError(message: "no identifier: \(text)")
        }
        return identifier
    }

    static func vector(_ entries: [String: VectorNumber<Int64>]) throws -> VersionVector {
        var vector = VersionVector()
        for (replica, sequence) in entries { vector[try identifier(replica)] = sequence.value }
        return vector
    }
}

/// A stamp.
struct VectorStamp: Decodable {
    let timestamp: VectorNumber<Int64>
    let replica: Int
    let sequence: VectorNumber<Int64>

    var content: WireStamp {
        WireStamp(timestamp: timestamp.value, replica: replica, sequence: sequence.value)
    }
}

/// A row.
struct VectorRow: Decodable {
    struct Key: Decodable {
        let text: String?
        let blob: VectorBytes?
    }

    struct Value: Decodable {
        let column: Int
        let value: VectorValue
    }

    struct Cell: Decodable {
        let column: Int
        let stamp: VectorStamp
        let value: VectorValue
    }

    let table: Int
    let key: Key
    let life: VectorNumber<Int64>
    let base: VectorStamp?
    let whole: Bool?
    let values: [Value]?
    let cells: [Cell]?

    func content() throws -> RowContent {
        guard let bytes = key.text.map({ Array($0.utf8) }) ?? key.blob?.bytes else {
            throw VectorError(message: "a row has no key")
        }
        var row = RowContent()
        row.table = table
        row.key = bytes
        row.isTextKey = key.text != nil
        row.life = life.value
        row.base = base?.content
        row.values = (values ?? []).map { .init(column: $0.column, value: $0.value.content) }
        row.cells = (cells ?? []).map {
            .init(column: $0.column, stamp: $0.stamp.content, value: $0.value.content)
        }
        return row
    }
}
