import CipherStore
import SyncWire

/// Writes what a peer does not know into a bundle, from one snapshot.
struct BundleExporter {
    let db: Database
    let metadata: StoreMetadata
    /// What the peer has to know. It is nothing when the peer does not know a deletion that
    /// was forgotten here.
    let base: VersionVector
    private let facts: ReplicaFacts
    /// The rows to send, all of each; nil for everything that the peer does not know.
    private let chosen: [StateRows]?
    private let tables: [SyncedTable]
    private let replicaIndexes: [Int64: Int]
    private let tableIndexes: [Int64: Int]
    private let readers: [ExportedTable]
    private let hasCells: Bool
    private let hasParkedValues: Bool

    /// Prepares an export in the transaction that is open.
    ///
    /// - parameter base: What the peer knows.
    init(_ db: Database, since base: VersionVector) throws {
        try self.init(db, since: base, chosen: nil)
    }

    /// Prepares an export of all of some rows, which repairs a divergence.
    init(_ db: Database, repairing rows: [StateRows]) throws {
        try self.init(db, since: VersionVector(), chosen: rows)
    }

    private init(_ db: Database, since base: VersionVector, chosen: [StateRows]?) throws {
        self.db = db
        self.chosen = chosen
        metadata = try StoreMetadata.require(db)
        let isResync = try !base.covers(ReplicaRegister(db: db).floor(metadata))
        self.base = isResync ? VersionVector() : base
        var facts = try ReplicaRegister(db: db).facts(metadata, peer: base)
        facts.isRepair = chosen != nil
        self.facts = facts
        tables = try SyncedTable.loadAll(db)
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
            store: metadata.store, sender: try metadata.replicaID(), base: base, target: metadata.vector,
            replicas: metadata.replicas.map(\.id),
            tables: tables.map {
                BundleHeader.Table(name: $0.name, key: $0.key, columns: $0.columns.map(\.name))
            } + NameDeclarations.tables(of: tables, try NameAliases(db))
                + (try PolicyDeclarations.tables(db, of: tables)), facts: facts)
        var writer = try BundleWriter(header: header, sink: sink)
        try fillKnown()
        defer { try? db.execute(sql: "DROP TABLE temp._sync_known") }
        if let chosen { return try write(chosen, &writer) }
        let total = progress == nil ? 0 : try rowCount()
        let report = progress.map { progress in { (count: Int64) in try progress(count, max(count, total)) } }
        try writeRows(Self.newRowsSQL, &writer, report)
        if hasCells { try writeRows(Self.newCellsSQL, &writer, report) }
        // A page that was tampered with shows only now; the end must not be written then.
        try db.verifyReads()
        try writer.finish()
        return TransferSummary(rowCount: Int64(writer.rowCount), byteCount: Int64(writer.byteCount))
    }

    /// Writes all of some rows.
    private func write(_ chosen: [StateRows], _ writer: inout BundleWriter) throws -> TransferSummary {
        try db.execute(
            sql: "CREATE TEMP TABLE _sync_chosen (tbl INTEGER, pk, PRIMARY KEY (tbl, pk)) WITHOUT ROWID")
        defer { try? db.execute(sql: "DROP TABLE temp._sync_chosen") }
        let insertion = try db.makeStatement(sql: "INSERT OR IGNORE INTO temp._sync_chosen VALUES (?, ?)")
        for rows in chosen {
            guard let table = StateReader.find(rows.table, in: tables, name: \.name) else { continue }
            for key in rows.keys {
                insertion.reset()
                _ = RawBinding.int64(insertion.sqliteStatement, 1, table.number)
                key.bytes.withUnsafeBytes { bytes in
                    _ = RowKey(bytes: bytes, isText: key.isText).value.bind(insertion.sqliteStatement, 2)
                }
                while try insertion.step() {}
            }
        }
        insertion.reset()
        try writeRows(Self.chosenRowsSQL, &writer, nil)
        try db.verifyReads()
        try writer.finish()
        return TransferSummary(rowCount: Int64(writer.rowCount), byteCount: Int64(writer.byteCount))
    }

    private static let chosenRowsSQL = """
        SELECT s.r, s.tbl, s.pk, s.cl, s.hlc, s.sid, s.oseq, 1
        FROM temp._sync_chosen AS m CROSS JOIN _sync_row AS s ON s.tbl = m.tbl AND s.pk = m.pk
        """

    /// The peer's vector as a table, to join with.
    private func fillKnown() throws {
        try db.execute(sql: "CREATE TEMP TABLE _sync_known (sid INTEGER PRIMARY KEY, oseq INTEGER NOT NULL)")
        for replica in metadata.replicas {
            try db.execute(
                sql: "INSERT INTO temp._sync_known VALUES (?, ?)", arguments: [replica.sid, base[replica.id]])
        }
    }

    /// About how many rows there are to write, for progress.
    private func rowCount() throws -> Int64 {
        try Int64.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM temp._sync_known AS k
                CROSS JOIN _sync_row AS s ON s.sid = k.sid AND s.oseq > k.oseq
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
        _ sql: String, _ writer: inout BundleWriter, _ progress: ((Int64) throws -> Void)?
    ) throws {
        let feed = try db.makeStatement(sql: sql)
        defer { feed.reset() }
        let cells = try db.makeStatement(
            sql: "SELECT col, hlc, sid, oseq FROM _sync_cell WHERE r = ? ORDER BY col")
        var known: [Int64: Int64] = [:]
        for replica in metadata.replicas { known[replica.sid] = base[replica.id] }
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
