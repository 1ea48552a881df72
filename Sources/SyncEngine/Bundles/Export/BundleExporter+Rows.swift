import CipherStore
import SyncWire

/// How the rows of a query get into a bundle.
extension BundleExporter {
    /// Writes the rows that a query finds, and of each what the peer does not know, or all.
    ///
    /// Of a row whose base the peer does not know, it gets all cells. It may have met one of them before, as a late edit of
    /// a former row, and dropped it.
    func writeRows(
        _ sql: String, _ group: ExportedParts.Group, isWhole: Bool = false, _ writer: inout BundleWriter,
        _ progress: ((Int64) throws -> Void)?
    ) throws {
        let feed = try db.makeStatement(sql: "\(sql) \(condition(group, isWhole: isWhole))")
        defer { feed.reset() }
        let cells = try db.makeStatement(sql: Self.cellsSQL)
        var known: [Int64: Int64] = [:]
        var target: [Int64: Int64] = [:]
        for replica in metadata.replicas {
            if !isWhole { known[replica.sid] = group.base[replica.id] }
            target[replica.sid] = group.target[replica.id]
        }
        while try feed.step() {
            let row = feed.sqliteStatement
            let entry = FeedEntry(row)
            guard let index = tableIndexes[entry.table] else {
                throw SyncError(.damagedMetadata, "a row names table \(entry.table), which is not known")
            }
            let all = hasCells && entry.isAlive ? try readCells(cells, of: entry.row) : []
            try writeRow(
                entry, key: row, table: index, cells: all,
                isNew: {
                    guard $0.sequence <= last(of: $0.sid) else { return false }
                    return $0.sequence > known[$0.sid] ?? 0
                        || (entry.isNewBase && $0.sequence <= target[$0.sid] ?? 0)
                },
                &writer)
            if writer.rowCount & 0xFFF == 0 { try progress?(Int64(writer.rowCount)) }
        }
        try progress?(Int64(writer.rowCount))
    }

    static let cellsSQL = "SELECT col, hlc, sid, oseq FROM _sync_cell WHERE r = ? ORDER BY col"

    /// A row of the feed.
    struct FeedEntry {
        let row: Int64
        let table: Int64
        let life: Int64
        let stamp: (timestamp: Int64, sid: Int64, sequence: Int64)
        var isNewBase: Bool
        var isAlive: Bool { life & 1 == 1 }

        init(_ statement: SQLiteStatement) {
            row = RawColumn.int64(statement, 0)
            table = RawColumn.int64(statement, 1)
            life = RawColumn.int64(statement, 3)
            stamp = (
                RawColumn.int64(statement, 4), RawColumn.int64(statement, 5), RawColumn.int64(statement, 6)
            )
            isNewBase = RawColumn.int64(statement, 7) != 0
        }

        /// The key of the row, which is valid until the statement moves on.
        static func key(_ statement: SQLiteStatement) -> RowKey {
            let isText = RawColumn.storageClass(statement, 2) == RawColumn.textClass
            let bytes = isText ? RawColumn.text(statement, 2) : RawColumn.blob(statement, 2)
            return RowKey(bytes: bytes, isText: isText)
        }
    }

    /// The version of one column.
    struct CellEntry {
        let column: Int
        let timestamp: Int64
        let sid: Int64
        let sequence: Int64
    }

    func readCells(_ statement: Statement, of row: Int64) throws -> [CellEntry] {
        let raw = statement.sqliteStatement
        statement.reset()
        _ = RawBinding.int64(raw, 1, row)
        var cells: [CellEntry] = []
        while try statement.step() {
            cells.append(
                CellEntry(
                    column: Int(RawColumn.int64(raw, 0)), timestamp: RawColumn.int64(raw, 1),
                    sid: RawColumn.int64(raw, 2), sequence: RawColumn.int64(raw, 3)))
        }
        statement.reset()
        return cells
    }

    func writeRow(
        _ entry: FeedEntry, key statement: SQLiteStatement, table index: Int, cells: [CellEntry],
        isNew: (CellEntry) -> Bool, _ writer: inout BundleWriter
    ) throws {
        let reader = readers[index]
        let (key, isText) = (FeedEntry.key(statement).bytes, FeedEntry.key(statement).isText)
        let base = try entry.isNewBase ? wireStamp(entry.stamp) : nil
        guard entry.isAlive else {
            writer.beginRow(
                table: index, key: key, isTextKey: isText, life: entry.life, base: base, mask: nil,
                cellCount: 0)
            return try writer.endRow()
        }
        try reader.load(key: RowKey(bytes: key, isText: isText), hasParkedValues: hasParkedValues)
        defer { reader.finish() }
        // A value that is no longer here, because its table or column was dropped, is nobody's NULL.
        let newCells = cells.filter { cell in
            isNew(cell) && (reader.ordinals[cell.column].map(reader.hasValue) ?? true)
        }
        var mask: [Bool]?
        if entry.isNewBase && (!cells.isEmpty || !reader.hasEveryColumn || !reader.hasRow) {
            mask = (0..<reader.columnCount).map(reader.hasValue)
            for cell in cells { if let ordinal = reader.ordinals[cell.column] { mask?[ordinal] = false } }
        }
        writer.beginRow(
            table: index, key: key, isTextKey: isText, life: entry.life, base: base, mask: mask,
            cellCount: newCells.count)
        if entry.isNewBase {
            for ordinal in 0..<reader.columnCount where mask?[ordinal] ?? true {
                writer.value(reader.value(ordinal))
            }
        }
        for cell in newCells {
            guard let ordinal = reader.ordinals[cell.column] else {
                throw SyncError(.damagedMetadata, "a cell names column \(cell.column), which is not known")
            }
            let stamp = try wireStamp((cell.timestamp, cell.sid, cell.sequence))
            writer.cell(column: ordinal, stamp: stamp, value: reader.value(ordinal))
        }
        try writer.endRow()
    }

    func wireStamp(_ stamp: (timestamp: Int64, sid: Int64, sequence: Int64)) throws -> WireStamp {
        guard let replica = replicaIndexes[stamp.sid] else {
            throw SyncError(.damagedMetadata, "a stamp names replica \(stamp.sid), which is not known")
        }
        return WireStamp(timestamp: stamp.timestamp, replica: replica, sequence: stamp.sequence)
    }
}
