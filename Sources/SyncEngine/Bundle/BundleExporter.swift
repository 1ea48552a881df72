import CipherStore
import SyncWire

/// Writes what a peer does not know into a bundle, from one snapshot.
struct BundleExporter {
    let db: Database
    let metadata: StoreMetadata
    private let parts: ExportedParts
    private let facts: ReplicaFacts
    private let tables: [SyncedTable]
    private let replicaIndexes: [Int64: Int]
    private let tableIndexes: [Int64: Int]
    private let readers: [ExportedTable]
    private let hasCells: Bool
    private let hasParkedValues: Bool

    /// Prepares an export in the transaction that is open.
    ///
    /// - parameter request: What the peer knows and wants.
    init(_ db: Database, _ request: TransferRequest) throws {
        self.db = db
        metadata = try StoreMetadata.require(db)
        parts = try ExportedParts(db, metadata, request)
        var facts = try ReplicaRegister(db: db).facts(metadata, peer: request.reach)
        facts.floor = parts.whole.floor
        facts.parts = parts.facts
        self.facts = facts
        tables = parts.tables
        replicaIndexes = Dictionary(uniqueKeysWithValues: metadata.replicas.enumerated().map { ($1.sid, $0) })
        tableIndexes = Dictionary(uniqueKeysWithValues: tables.enumerated().map { ($1.number, $0) })
        hasCells = try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_cell)") ?? false
        hasParkedValues = try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_shadow)") ?? false
        let counters = try CounterColumns.loadAll(db)
        readers = try tables.map { try ExportedTable(db, $0, counters: counters[$0.number]) }
    }

    /// Writes the bundle.
    ///
    /// - parameters:
    ///     - progress: Called now and then; it may throw to cancel.
    ///     - sink: Takes the frames.
    func write(
        progress: SyncProgressHandler?, to sink: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws -> TransferSummary {
        let header = BundleHeader(
            store: metadata.store, sender: try metadata.replicaID(), base: parts.whole.base,
            target: parts.whole.target, replicas: metadata.replicas.map(\.id),
            tables: tables.map {
                BundleHeader.Table(name: $0.name, key: $0.key, columns: $0.columns.map(\.name))
            } + NameDeclarations.tables(of: tables, try NameAliases(db))
                + (try PolicyDeclarations.tables(db, of: tables)), facts: facts)
        var writer = try BundleWriter(header: header, sink: sink)
        try db.execute(sql: "CREATE TEMP TABLE _sync_known (sid INTEGER PRIMARY KEY, oseq INTEGER NOT NULL)")
        defer { try? db.execute(sql: "DROP TABLE temp._sync_known") }
        for group in parts.all {
            try fillKnown(group.base)
            let total = try progress == nil ? 0 : Int64(writer.rowCount) + rowCount(group)
            let report = progress.map { progress in
                { (count: Int64) in try progress(count, max(count, total)) }
            }
            try writeRows(Self.newRowsSQL, group, &writer, report)
            if hasCells { try writeRows(Self.newCellsSQL, group, &writer, report) }
        }
        // A page that was tampered with shows only now; the end must not be written then.
        try db.verifyReads()
        try writer.finish()
        return TransferSummary(rowCount: Int64(writer.rowCount), byteCount: Int64(writer.byteCount))
    }

    /// The peer's vector as a table, to join with.
    private func fillKnown(_ base: VersionVector) throws {
        try db.execute(sql: "DELETE FROM temp._sync_known")
        for replica in metadata.replicas {
            try db.execute(
                sql: "INSERT INTO temp._sync_known VALUES (?, ?)", arguments: [replica.sid, base[replica.id]])
        }
    }

    /// About how many rows there are to write, for progress.
    private func rowCount(_ group: ExportedParts.Group) throws -> Int64 {
        try Int64.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM temp._sync_known AS k
                CROSS JOIN _sync_row AS s ON s.sid = k.sid AND s.oseq > k.oseq \(parts.condition(group))
                """) ?? 0
    }

    /// Rows whose whole-row write is new, in the order of their origin.
    private static let newRowsSQL = """
        SELECT s.r, s.tbl, s.pk, s.cl, s.hlc, s.sid, s.oseq, 1
        FROM temp._sync_known AS k CROSS JOIN _sync_row AS s ON s.sid = k.sid AND s.oseq > k.oseq
        """

    /// Rows that are known but for some of their columns.
    private static let newCellsSQL = """
        SELECT s.r, s.tbl, s.pk, s.cl, s.hlc, s.sid, s.oseq, 0
        FROM (SELECT DISTINCT c.r AS r FROM temp._sync_known AS k
              CROSS JOIN _sync_cell AS c ON c.sid = k.sid AND c.oseq > k.oseq) AS n
        CROSS JOIN _sync_row AS s ON s.r = n.r
        CROSS JOIN temp._sync_known AS k ON k.sid = s.sid AND s.oseq <= k.oseq
        """

    private func writeRows(
        _ sql: String, _ group: ExportedParts.Group, _ writer: inout BundleWriter,
        _ progress: ((Int64) throws -> Void)?
    ) throws {
        let feed = try db.makeStatement(sql: "\(sql) \(parts.condition(group))")
        defer { feed.reset() }
        let cells = try db.makeStatement(
            sql: "SELECT col, hlc, sid, oseq FROM _sync_cell WHERE r = ? ORDER BY col")
        var known: [Int64: Int64] = [:]
        for replica in metadata.replicas { known[replica.sid] = group.base[replica.id] }
        while try feed.step() {
            let row = feed.sqliteStatement
            let entry = FeedEntry(row)
            guard let index = tableIndexes[entry.table] else {
                throw SyncError(.damagedMetadata, "a row names table \(entry.table), which is not known")
            }
            let all = hasCells && entry.isAlive ? try readCells(cells, of: entry.row) : []
            try writeRow(
                entry, key: row, table: index, cells: all, isNew: { $0.sequence > known[$0.sid] ?? 0 },
                &writer)
            if writer.rowCount & 0xFFF == 0 { try progress?(Int64(writer.rowCount)) }
        }
        try progress?(Int64(writer.rowCount))
    }

    /// A row of the feed.
    private struct FeedEntry {
        let row: Int64
        let table: Int64
        let life: Int64
        let stamp: (timestamp: Int64, sid: Int64, sequence: Int64)
        let isNewBase: Bool
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
    }

    /// The version of one column.
    private struct CellEntry {
        let column: Int
        let timestamp: Int64
        let sid: Int64
        let sequence: Int64
    }

    private func readCells(_ statement: Statement, of row: Int64) throws -> [CellEntry] {
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

    private func writeRow(
        _ entry: FeedEntry, key statement: SQLiteStatement, table index: Int, cells: [CellEntry],
        isNew: (CellEntry) -> Bool, _ writer: inout BundleWriter
    ) throws {
        let reader = readers[index]
        let isText = RawColumn.storageClass(statement, 2) == RawColumn.textClass
        let key = isText ? RawColumn.text(statement, 2) : RawColumn.blob(statement, 2)
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

    private func wireStamp(_ stamp: (timestamp: Int64, sid: Int64, sequence: Int64)) throws -> WireStamp {
        guard let replica = replicaIndexes[stamp.sid] else {
            throw SyncError(.damagedMetadata, "a stamp names replica \(stamp.sid), which is not known")
        }
        return WireStamp(timestamp: stamp.timestamp, replica: replica, sequence: stamp.sequence)
    }
}
