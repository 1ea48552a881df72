@testable import SyncWire

/// Makes bundles of any valid content.
struct RandomBundle {
    var generator: SplitMix64
    /// The most rows of a bundle.
    var rowCountMax = 40

    init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    mutating func content() -> BundleContent {
        let header = header()
        var content = BundleContent(header: header)
        guard !header.tables.isEmpty, !header.replicas.isEmpty else { return content }
        for _ in 0..<generator.below(rowCountMax) { content.rows.append(row(header)) }
        return content
    }

    // MARK: The header

    private mutating func identifier() -> Identifier128 {
        Identifier128(high: generator.next(), low: generator.next())
    }

    private mutating func header() -> BundleHeader {
        let replicas = (0..<generator.below(6)).map { _ in identifier() }
        let tables = (0..<generator.below(5)).map { _ in table() }
        return BundleHeader(
            store: identifier(), sender: identifier(), base: vector(replicas), target: vector(replicas),
            replicas: replicas, tables: tables)
    }

    private mutating func table() -> BundleHeader.Table {
        let columnCount = generator.below(generator.oneIn(5) ? 40 : 5)
        return BundleHeader.Table(
            name: name(), key: name(), columns: (0..<columnCount).map { _ in name() })
    }

    private mutating func vector(_ replicas: [ReplicaID]) -> VersionVector {
        var vector = VersionVector()
        for replica in replicas where !generator.oneIn(3) { vector[replica] = sequence() }
        return vector
    }

    private mutating func name() -> String {
        let scalars: [Unicode.Scalar] = ["a", "Z", " ", "\"", "\0", "\u{7F}", "é", "\u{301}", "日", "🐟"]
        var name = ""
        for _ in 0..<generator.below(12) {
            name.unicodeScalars.append(scalars[generator.below(scalars.count)])
        }
        return name
    }

    // MARK: Rows

    private mutating func row(_ header: BundleHeader) -> RowContent {
        var row = RowContent()
        row.table = generator.below(header.tables.count)
        key(&row)
        row.life = generator.oneIn(8) ? .max - Int64(generator.below(2)) : 1 + Int64(generator.below(4))
        if !generator.oneIn(3) { row.base = stamp(header) }
        guard row.isAlive else { return row }
        // A column is in the base, has a cell, or is not in the bundle.
        let isWhole = generator.oneIn(2)
        for column in header.tables[row.table].columns.indices {
            if row.base != nil, isWhole || generator.oneIn(2) {
                row.values.append(.init(column: column, value: value()))
            } else if !isWhole, generator.oneIn(2) {
                row.cells.append(.init(column: column, stamp: stamp(header), value: value()))
            }
        }
        return row
    }

    private mutating func key(_ row: inout RowContent) {
        let bytes = generator.bytes(16)
        guard generator.oneIn(2) else {
            row.key = bytes
            return
        }
        row.isTextKey = true
        row.key = Array(repeating: 0, count: 36)
        let isUppercase = generator.oneIn(2)
        bytes.withUnsafeBytes { bytes in
            row.key.withUnsafeMutableBytes {
                RowKeyCoding.unpack(bytes, isUppercase: isUppercase, into: $0)
            }
        }
        // Now and then one digit in the other case.
        let index = generator.below(36)
        if generator.oneIn(3), row.key[index] >= 0x41 { row.key[index] ^= 0x20 }
    }

    private mutating func stamp(_ header: BundleHeader) -> WireStamp {
        WireStamp(
            timestamp: sequence() - 1, replica: generator.below(header.replicas.count), sequence: sequence())
    }

    /// A number from 1, of any size.
    private mutating func sequence() -> Int64 {
        max(1, Int64(bitPattern: generator.next() >> UInt64(1 + generator.below(63))))
    }

    mutating func value() -> ValueContent {
        switch generator.below(6) {
        case 0: return .null
        case 1: return .integer(Int64(bitPattern: generator.next()) >> Int64(generator.below(64)))
        case 2: return .real(bits: generator.next())
        case 3:
            let edges = [0.0, -0.0, .infinity, -.infinity, .nan, .signalingNaN, .leastNonzeroMagnitude, 1]
            return .real(bits: edges[generator.below(edges.count)].bitPattern)
        case 4: return .text(generator.bytes(length()))
        default: return .blob(generator.bytes(length()))
        }
    }

    private mutating func length() -> Int {
        generator.oneIn(20) ? generator.below(2_000) : generator.below(20)
    }
}
