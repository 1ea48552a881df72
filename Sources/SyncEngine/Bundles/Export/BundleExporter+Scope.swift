import CipherStore
import SyncWire

/// How the rows of a table get into a bundle for a receiver that holds some of them.
extension BundleExporter {
    /// Writes the rows that a query finds, as far as the receiver is to know of them.
    ///
    /// - parameter onlyAdded: Whether rows are sought that did not change, and are wanted now.
    func writeScopedRows(
        _ sql: String, _ rows: ExportedRows, _ writer: inout BundleWriter, onlyAdded: Bool = false,
        _ progress: ((Int64) throws -> Void)?
    ) throws {
        let feed = try db.makeStatement(sql: sql)
        defer { feed.reset() }
        let statement = try db.makeStatement(sql: Self.cellsSQL)
        while try feed.step() {
            let row = feed.sqliteStatement
            var entry = FeedEntry(row)
            guard let index = tableIndexes[entry.table] else {
                throw SyncError(.damagedMetadata, "a row names table \(entry.table), which is not known")
            }
            guard entry.isAlive else {
                if !onlyAdded {
                    try writeRow(entry, key: row, table: index, cells: [], isNew: { _ in true }, &writer)
                }
                continue
            }
            let key = FeedEntry.key(row)
            let cells = hasCells ? try readCells(statement, of: entry.row) : []
            let stamps = cells.map { (column: $0.column, stamp: (sid: $0.sid, sequence: $0.sequence)) }
            let base = (sid: entry.stamp.sid, sequence: entry.stamp.sequence)
            let decision = try decide(rows, readers[index], key, entry.life, base, stamps, onlyAdded)
            switch decision {
            case .nothing:
                continue
            case .leave:
                writer.beginRow(
                    table: index, key: key.bytes, isTextKey: key.isText, life: entry.life,
                    base: try wireStamp(entry.stamp), mask: nil, cellCount: 0, isLeave: true)
                try writer.endRow()
            case .whole:
                entry.isNewBase = true
                try writeRow(entry, key: row, table: index, cells: cells, isNew: { _ in true }, &writer)
            case .changes:
                entry.isNewBase = rows.isNew(base)
                try writeRow(
                    entry, key: row, table: index, cells: cells,
                    isNew: { entry.isNewBase || rows.isNew((sid: $0.sid, sequence: $0.sequence)) }, &writer)
            }
            if writer.rowCount & 0xFFF == 0 { try progress?(Int64(writer.rowCount)) }
        }
        try progress?(Int64(writer.rowCount))
    }

    private func decide(
        _ rows: ExportedRows, _ reader: ExportedTable, _ key: RowKey, _ life: Int64,
        _ base: ExportedRows.Stamp,
        _ cells: [(column: Int, stamp: ExportedRows.Stamp)], _ onlyAdded: Bool
    ) throws -> ExportedRows.Decision {
        if onlyAdded, rows.isChange(base) || cells.contains(where: { rows.isChange($0.stamp) }) {
            return .nothing
        }
        try reader.load(key: key, hasParkedValues: hasParkedValues)
        defer { reader.finish() }
        let value = rows.ordinal.map { reader.hasValue($0) ? reader.value($0) : .null } ?? .null
        if onlyAdded { return rows.isAdded(value) ? .whole : .nothing }
        return rows.decide(
            life: life, base: base, cells: cells, value: value, mayComeTwice: ExportedRows.mayComeTwice(key))
    }
}
