import SyncWire

/// A bundle that a program made which holds to nothing.
struct ForgedBundle {
    /// A value, those included that nobody should send.
    enum Value {
        case plain(ScopeValue)
        case real(Double)
        /// Text that is not UTF-8.
        case brokenText([UInt8])

        func withWireValue(_ body: (WireValue) -> Void) {
            switch self {
            case .plain(let value): value.withWireValue(body)
            case .real(let number): body(.real(number))
            case .brokenText(let bytes): bytes.withUnsafeBytes { body(.text($0)) }
            }
        }
    }

    struct Cell {
        let column: Int
        let stamp: WireStamp
        let value: Value
    }

    struct Row {
        var table = 0
        var key: [UInt8]
        var isTextKey = false
        var life: Int64 = 1
        /// Who wrote the whole row; nil when only columns were written.
        var base: WireStamp?
        /// The values of the whole row, by column.
        var values: [Int: Value] = [:]
        var cells: [Cell] = []
        var isLeave = false
    }

    var store: StoreID
    var sender: ReplicaID
    var base = VersionVector()
    var target = VersionVector()
    /// The sender, and after it others.
    var replicas: [ReplicaID]
    var tables: [BundleHeader.Table] = []
    var facts = ReplicaFacts()
    var rows: [Row] = []

    init(store: StoreID, sender: ReplicaID) {
        (self.store, self.sender) = (store, sender)
        replicas = [sender]
    }

    var header: BundleHeader {
        BundleHeader(
            store: store, sender: sender, base: base, target: target, replicas: replicas, tables: tables,
            facts: facts)
    }

    /// The bundle with all checksums right.
    ///
    /// - throws: `WireError` when there is no way to write it.
    func frames() throws -> [[UInt8]] {
        nonisolated(unsafe) var frames: [[UInt8]] = []
        var writer = try BundleWriter(header: header) { frames.append(Array($0)) }
        for row in rows {
            let columns = tables.indices.contains(row.table) ? tables[row.table].columns.indices : 0..<0
            let isAlive = row.life & 1 == 1 && !row.isLeave
            row.key.withUnsafeBytes {
                writer.beginRow(
                    table: row.table, key: $0, isTextKey: row.isTextKey, life: row.life, base: row.base,
                    mask: columns.map { row.values[$0] != nil }, cellCount: isAlive ? row.cells.count : 0,
                    isLeave: row.isLeave)
            }
            if isAlive {
                if row.base != nil {
                    for column in columns { row.values[column]?.withWireValue { writer.value($0) } }
                }
                for cell in row.cells {
                    cell.value.withWireValue {
                        writer.cell(column: cell.column, stamp: cell.stamp, value: $0)
                    }
                }
            }
            try writer.endRow()
        }
        try writer.finish()
        return frames
    }
}
