@testable import SyncWire

/// The small bundle that most tests begin with.
enum Sample {
    static let replica = ReplicaID(high: 0x0A0A, low: 0x0A0A)

    static let note = BundleHeader.Table(name: "note", key: "id", columns: ["title", "stars"])

    static func header(tables: [BundleHeader.Table] = [note]) -> BundleHeader {
        BundleHeader(
            store: StoreID(high: 1, low: 2), sender: replica, base: VersionVector(),
            target: VersionVector([replica: 9]), replicas: [replica], tables: tables)
    }

    static func row(_ number: UInt8 = 1) -> RowContent {
        var row = RowContent()
        row.key = Array(repeating: number, count: 16)
        row.base = WireStamp(timestamp: 1_000 + Int64(number), replica: 0, sequence: Int64(number))
        row.values = [
            .init(column: 0, value: .text(Array("hello".utf8))),
            .init(column: 1, value: .integer(-3)),
        ]
        return row
    }

    static func content(rowCount: UInt8 = 1) -> BundleContent {
        BundleContent(header: header(), rows: (0..<rowCount).map { row($0 + 1) })
    }

    /// The bytes of rows, as a chunk that begins with them has them.
    static func body(_ rows: [RowContent]) throws -> [UInt8] {
        let frames = try BundleContent(header: header(), rows: rows).frames()
        return Array(frames[1].dropFirst(Frame.prefixByteCount + ChunkLayout.prefixByteCount))
    }
}
