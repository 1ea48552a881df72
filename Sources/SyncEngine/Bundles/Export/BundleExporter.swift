import CipherStore
import SyncWire

/// Writes what a peer does not know into a bundle, from one snapshot.
struct BundleExporter {
    /// Rows of a table, by its number here.
    struct ChosenRows {
        let table: Int64
        let keys: [StateRowKey]
    }

    let db: Database
    let metadata: StoreMetadata
    let parts: ExportedParts
    private let facts: ReplicaFacts
    /// Rows of which all is sent, and not only what the peer does not know.
    private let chosen: [ChosenRows]
    /// Whether the bundle repairs a divergence, and holds these rows only.
    private let isRepair: Bool
    private let tables: [SyncedTable]
    private let replicas: [StoreMetadata.Replica]
    let replicaIndexes: [Int64: Int]
    let tableIndexes: [Int64: Int]
    let readers: [ExportedTable]
    let hasCells: Bool
    let hasParkedValues: Bool
    /// The last of this replica's changes that are sent.
    let ownLast: Int64

    /// Prepares an export in the transaction that is open.
    ///
    /// - parameters:
    ///     - store: What is exported.
    ///     - request: What the peer knows and wants.
    ///     - ownLast: The last of this replica's changes that are sent; nil for all.
    init(_ store: FoldedStore, _ request: TransferRequest, upTo ownLast: Int64? = nil) throws {
        let metadata = ownLast.map(store.metadata.upTo) ?? store.metadata
        let names = try request.wholeRows.isEmpty ? nil : TableNames(store.db)
        let chosen = request.wholeRows.compactMap { rows in
            names?.number(of: rows.table).map { ChosenRows(table: $0, keys: rows.keys) }
        }
        try self.init(
            store.db, metadata, Coverage.load(store.db, metadata, for: request),
            ExportedParts(store.db, metadata, request), peer: request.reach, chosen: chosen,
            ownLast: ownLast)
    }

    /// Prepares an export of all of some rows, which repairs a divergence.
    ///
    /// - throws: ``SyncError`` of code `changedMeanwhile` when more is known of some of their tables than of others.
    init(_ store: FoldedStore, repairing rows: [ChosenRows]) throws {
        let (db, metadata) = (store.db, store.metadata)
        try self.init(
            db, metadata, Coverage.load(db, metadata),
            ExportedParts(db, metadata, repairing: Set(rows.map(\.table))),
            peer: VersionVector(), chosen: rows, isRepair: true)
    }

    private init(
        _ db: Database, _ metadata: StoreMetadata, _ coverage: Coverage, _ parts: ExportedParts,
        peer: VersionVector, chosen: [ChosenRows], isRepair: Bool = false, ownLast: Int64? = nil
    ) throws {
        self.db = db
        assert(db.isInsideTransaction, "a bundle is of one snapshot")
        assert(!isRepair || parts.others.isEmpty, "a repair has no parts")
        self.ownLast = ownLast ?? .max
        self.chosen = chosen
        self.isRepair = isRepair
        self.metadata = metadata
        self.parts = parts
        var facts = try ReplicaRegister(db: db).facts(metadata, peer: peer, coverage)
        facts.floor = parts.whole.floor
        facts.parts = parts.facts
        facts.isRepair = isRepair
        facts.restrictions = parts.restrictions
        facts.partials = parts.partialNames.map { ReplicaFacts.Partial(names: [$0]) }
        self.facts = facts
        tables = parts.tables
        // Those of which nothing is here can be in no stamp.
        let reach = coverage.reach
        replicas = metadata.replicas.filter { reach[$0.id] > 0 || $0.sid == metadata.selfNumber }
        replicaIndexes = Dictionary(
            replicas.enumerated().map { ($1.sid, $0) }, uniquingKeysWith: { first, _ in first })
        tableIndexes = Dictionary(uniqueKeysWithValues: tables.enumerated().map { ($1.number, $0) })
        hasCells = try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_cell)") ?? false
        hasParkedValues = try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_shadow)") ?? false
        let separate = try SeparateColumns.loadAll(db)
        readers = try tables.map { try ExportedTable(db, $0, separate: separate[$0.number]) }
        assert(tableIndexes.count == readers.count)
        assert(facts.parts.flatMap(\.tables).count <= tables.count, "a table is in two parts")
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
            target: parts.whole.target, replicas: replicas.map(\.id),
            tables: tables.map {
                BundleHeader.Table(name: $0.name, key: $0.announcedKey, columns: $0.columns.map(\.name))
            } + NameDeclarations.tables(of: tables, try NameAliases(db))
                + (try PolicyDeclarations.tables(db, of: tables)), facts: facts)
        var writer = try BundleWriter(header: header, sink: sink)
        try db.execute(
            sql:
                "CREATE TEMP TABLE _sync_known (sid INTEGER PRIMARY KEY, oseq INTEGER NOT NULL, last INTEGER NOT NULL)"
        )
        defer { try? db.execute(sql: "DROP TABLE temp._sync_known") }
        try fillChosen()
        defer { try? db.execute(sql: "DROP TABLE IF EXISTS temp._sync_chosen") }
        if isRepair { try writeRows(Self.chosenRowsSQL, parts.whole, isWhole: true, &writer, nil) }
        for group in isRepair ? [] : parts.all {
            try fillKnown(group.base)
            let total = try progress == nil ? 0 : Int64(writer.rowCount) + rowCount(group)
            let report = progress.map { progress in
                { (count: Int64) in try progress(count, max(count, total)) }
            }
            try report?(Int64(writer.rowCount))
            if let rows = group.rows {
                try write(rows, group, &writer, report)
                continue
            }
            try writeRows(Self.newRowsSQL, group, &writer, report)
            if hasCells { try writeRows(Self.newCellsSQL, group, &writer, report) }
            guard !chosen.isEmpty else { continue }
            try writeRows(Self.chosenRowsSQL, group, isWhole: true, &writer, report)
        }
        // A page that was tampered with shows only now; the end must not be written then.
        try db.verifyReads()
        try writer.finish()
        return TransferSummary(rowCount: Int64(writer.rowCount), byteCount: Int64(writer.byteCount))
    }

    /// Writes the rows of a table of which the receiver holds some.
    private func write(
        _ rows: ExportedRows, _ group: ExportedParts.Group, _ writer: inout BundleWriter,
        _ progress: ((Int64) throws -> Void)?
    ) throws {
        let condition = parts.condition(group)
        try writeScopedRows("\(Self.newRowsSQL) \(condition)", rows, &writer, progress)
        if hasCells { try writeScopedRows("\(Self.newCellsSQL) \(condition)", rows, &writer, progress) }
        guard rows.hasAddedValues else { return }
        try writeScopedRows(
            "SELECT s.r, s.tbl, s.pk, s.cl, s.hlc, s.sid, s.oseq, 1 FROM _sync_row AS s \(condition) AND s.cl & 1",
            rows, &writer, onlyAdded: true, progress)
    }

    /// The rows of which all is sent, as a table.
    private func fillChosen() throws {
        guard isRepair || !chosen.isEmpty else { return }
        try db.execute(
            sql: "CREATE TEMP TABLE _sync_chosen (tbl INTEGER, pk, PRIMARY KEY (tbl, pk)) WITHOUT ROWID")
        let insertion = try db.makeStatement(sql: "INSERT OR IGNORE INTO temp._sync_chosen VALUES (?, ?)")
        for rows in chosen {
            guard tableIndexes[rows.table] != nil else { continue }
            for key in rows.keys {
                insertion.reset()
                _ = RawBinding.int64(insertion.sqliteStatement, 1, rows.table)
                key.bytes.withUnsafeBytes { bytes in
                    _ = RowKey(bytes: bytes, isText: key.isText).value.bind(insertion.sqliteStatement, 2)
                }
                while try insertion.step() {}
            }
        }
        insertion.reset()
    }

    /// What selects the rows of a query.
    ///
    /// - parameter isWhole: Whether it finds the rows of which all is sent, which no other query finds then.
    func condition(_ group: ExportedParts.Group, isWhole: Bool) -> String {
        let condition = parts.condition(group)
        let start = condition.isEmpty ? "WHERE" : "\(condition) AND"
        if isWhole {
            return isRepair ? condition : "\(start) (s.sid <> \(metadata.selfNumber) OR s.oseq <= \(ownLast))"
        }
        guard !chosen.isEmpty else { return condition }
        return """
            \(start) NOT EXISTS (SELECT 1 FROM temp._sync_chosen AS m WHERE m.tbl = s.tbl AND m.pk = s.pk)
            """
    }

    private static let chosenRowsSQL = """
        SELECT s.r, s.tbl, s.pk, s.cl, s.hlc, s.sid, s.oseq, 1
        FROM temp._sync_chosen AS m CROSS JOIN _sync_row AS s ON s.tbl = m.tbl AND s.pk = m.pk
        """

    /// The last change of a replica that is sent.
    func last(of sid: Int64) -> Int64 { sid == metadata.selfNumber ? ownLast : .max }

    /// The peer's vector as a table, to join with.
    private func fillKnown(_ base: VersionVector) throws {
        try db.execute(sql: "DELETE FROM temp._sync_known")
        for replica in metadata.replicas {
            try db.execute(
                sql: "INSERT INTO temp._sync_known VALUES (?, ?, ?)",
                arguments: [replica.sid, base[replica.id], last(of: replica.sid)])
        }
    }

    /// About how many rows there are to write, in this bundle and those that follow, for progress.
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
        FROM temp._sync_known AS k
        CROSS JOIN _sync_row AS s ON s.sid = k.sid AND s.oseq > k.oseq AND s.oseq <= k.last
        """

    /// Rows that are known but for some of their columns.
    private static let newCellsSQL = """
        SELECT s.r, s.tbl, s.pk, s.cl, s.hlc, s.sid, s.oseq, 0
        FROM (SELECT DISTINCT c.r AS r FROM temp._sync_known AS k
              CROSS JOIN _sync_cell AS c ON c.sid = k.sid AND c.oseq > k.oseq AND c.oseq <= k.last) AS n
        CROSS JOIN _sync_row AS s ON s.r = n.r
        CROSS JOIN temp._sync_known AS k ON k.sid = s.sid AND s.oseq <= k.oseq
        """
}
