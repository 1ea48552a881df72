import CipherStore
import SyncWire

/// Rows whose changes a remote does not take from this replica, while all others go.
///
/// Who hears that a replica's changes up to a number are known may never get one of these again. So the changes of rows
/// that are held back get the last numbers of all, and a bundle without them reaches to the one before: what it says
/// is true, and what was held back is sent as soon as it is taken.
struct HeldBackRows {
    let store: FoldedStore

    private var db: Database { store.db }

    private typealias Change = (row: Int64, table: Int64, known: Int64)

    /// Gives the changes that a receiver does not know, of the rows that it does not take, the last numbers, and
    /// folds the log again.
    ///
    /// - returns: The last of the other changes, and the local number of this replica, which may get another identity.
    func move(_ request: TransferRequest) throws -> (last: Int64, number: Int64) {
        let metadata = store.metadata
        let changes = try changes(request, metadata)
        if let last = try lastOfOthers(changes, metadata) { return (last, metadata.selfNumber) }
        // One number for all that moves: a mark in the log takes it.
        let number = try ChangeLog(db).appendMark(at: store.environment.milliseconds())
        try note(number)
        // It is the same write under another number: of one moment, the greater number stands (see ``Merge``).
        try VersionTable.renumberHeld(db, of: metadata.selfNumber, as: number)
        try FoldedStore.fold(db, store.environment)
        try DigestLedger.invalidate(db)
        return (number - 1, metadata.selfNumber)
    }

    // MARK: What others wait for

    private static let (markName, editName) = ("held.mark", "held.edit")

    private func note(_ mark: Int64) throws {
        try SyncSetting.set(db, Self.editName, Self.lastEdit(db, upTo: mark - 1))
        try SyncSetting.set(db, Self.markName, mark)
    }

    /// The number of the last local change. That changes got other numbers is nothing that anybody has to be told at once:
    /// two remotes that refuse different rows would wake each other for ever.
    ///
    /// - parameter last: The last number there is.
    static func lastEdit(_ db: Database, upTo last: Int64) throws -> Int64 {
        guard try SyncSetting.integer(db, markName) == last else { return last }
        return try SyncSetting.integer(db, editName) ?? last
    }

    // MARK: Counting them

    /// How many rows a replica lacks changes of that have other numbers than the log gave them, beside those of which the log
    /// says that it lacks them.
    ///
    /// - parameters:
    ///     - known: The last change that it has.
    ///     - condition: `AND` and what the number of the table has to be, or nothing.
    static func count(_ db: Database, after known: Int64, condition: String) throws -> Int64 {
        // A store of an older program that nobody has written to yet may have no settings.
        guard try db.tableExists("_sync_setting", in: "main"),
            let mark = try SyncSetting.integer(db, markName),
            mark > known
        else { return 0 }
        return try Int64.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM (
                    SELECT tbl, pk FROM _sync_row WHERE sid = ?1 AND oseq > ?2
                    UNION SELECT r.tbl, r.pk FROM _sync_cell AS c JOIN _sync_row AS r ON r.r = c.r
                    WHERE c.sid = ?1 AND c.oseq > ?2
                    EXCEPT SELECT tbl, pk FROM _sync_log WHERE seq > ?2 AND op <> 0)
                WHERE 1 \(condition)
                """, arguments: [StoreMetadata.require(db).selfNumber, known]) ?? 0
    }

    // MARK: Looking for them

    /// The rows with changes of this replica that the receiver does not know.
    private func changes(_ request: TransferRequest, _ metadata: StoreMetadata) throws -> [Change] {
        let tables = try SyncedTable.loadAll(db)
        let names = TableNames(tables, try NameAliases(db))
        let own = try metadata.replicaID()
        let known = request.knownOfTables(names)
        let selection = try db.makeStatement(sql: "SELECT r FROM _sync_row WHERE tbl = ?1 AND pk = ?2")
        defer { selection.reset() }
        var changes: [Change] = []
        for rows in request.heldBack {
            guard let number = names.number(of: rows.table) else { continue }
            for key in rows.keys {
                selection.reset()
                _ = RawBinding.int64(selection.sqliteStatement, 1, number)
                _ = key.bytes.withUnsafeBytes {
                    RowKey(bytes: $0, isText: key.isText).value.bind(selection.sqliteStatement, 2)
                }
                guard try selection.step() else { continue }
                let row = RawColumn.int64(selection.sqliteStatement, 0)
                changes.append((row, number, (known[number] ?? request.base)[own]))
            }
        }
        return changes
    }

    /// The last change before those of some rows, if they have the last numbers already; nil if not.
    private func lastOfOthers(_ changes: [Change], _ metadata: StoreMetadata) throws -> Int64? {
        try db.execute(
            sql: """
                CREATE TEMP TABLE IF NOT EXISTS _sync_held (r INTEGER PRIMARY KEY, oseq INTEGER NOT NULL);
                DELETE FROM temp._sync_held;
                """)
        for change in changes {
            try db.execute(
                sql: "INSERT OR IGNORE INTO temp._sync_held VALUES (?, ?)",
                arguments: [change.row, change.known])
        }
        let own = metadata.selfNumber
        // By the few rows, and not by all that this replica wrote.
        let first = try Int64.fetchOne(
            db,
            sql: """
                SELECT min(oseq) FROM (
                    SELECT x.oseq FROM temp._sync_held AS h CROSS JOIN _sync_row AS x ON x.r = h.r
                    WHERE +x.sid = ?1 AND x.oseq > h.oseq
                    UNION ALL SELECT x.oseq FROM temp._sync_held AS h CROSS JOIN _sync_cell AS x ON x.r = h.r
                    WHERE +x.sid = ?1 AND x.oseq > h.oseq)
                """, arguments: [own])
        // Nothing of them is to be sent.
        guard let first else { return metadata.folded }
        let hasOthers = try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS(SELECT 1 FROM _sync_row WHERE sid = ?1 AND oseq >= ?2
                    AND r NOT IN (SELECT r FROM temp._sync_held))
                OR EXISTS(SELECT 1 FROM _sync_cell WHERE sid = ?1 AND oseq >= ?2
                    AND r NOT IN (SELECT r FROM temp._sync_held))
                """, arguments: [own, first])
        // What is claimed has to be a point of the chain, or this replica would look like a copy of itself.
        guard hasOthers != true, try ReplicaChain(db: db).point(of: own, at: first - 1) != nil else {
            return nil
        }
        return first - 1
    }
}
