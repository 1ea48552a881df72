import CipherStore
import SyncWire

/// Reads and writes `_sync_row` and `_sync_cell` while a bundle is applied.
final class VersionTable {
    /// A stamp with the local number of its replica.
    struct LocalStamp {
        let timestamp: Int64
        let replica: Int64
        let sequence: Int64
    }

    /// The replicas by local number.
    var replicas: [Int64: ReplicaID] = [:] {
        didSet { numbers = Dictionary(replicas.map { ($1, $0) }, uniquingKeysWith: { first, _ in first }) }
    }
    private var numbers: [ReplicaID: Int64] = [:]
    /// The sums of what is read and written here.
    var digests: DigestLedger?

    private let db: Database
    private let insertRow: Statement
    private let updateRow: Statement
    private let selectRow: Statement
    private let selectCells: Statement
    private let upsertCell: Statement
    private let deleteCell: Statement

    init(_ db: Database) throws {
        self.db = db
        insertRow = try db.makeStatement(
            sql: "INSERT OR FAIL INTO _sync_row (tbl, pk, cl, hlc, sid, oseq) VALUES (?, ?, ?, ?, ?, ?)")
        updateRow = try db.makeStatement(
            sql: "UPDATE _sync_row SET cl = ?, hlc = ?, sid = ?, oseq = ? WHERE r = ?")
        selectRow = try db.makeStatement(
            sql: "SELECT r, cl, hlc, sid, oseq FROM _sync_row WHERE tbl = ? AND pk = ?")
        selectCells = try db.makeStatement(sql: "SELECT col, hlc, sid, oseq FROM _sync_cell WHERE r = ?")
        upsertCell = try db.makeStatement(
            sql: "INSERT OR REPLACE INTO _sync_cell (r, col, hlc, sid, oseq) VALUES (?, ?, ?, ?, ?)")
        deleteCell = try db.makeStatement(sql: "DELETE FROM _sync_cell WHERE r = ? AND col = ?")
    }

    /// Adds a row that has no version yet.
    ///
    /// - returns: False when it has one; nothing was changed then.
    func insertIfNew(_ table: Int64, _ key: RowKey, life: Int64, _ stamp: LocalStamp) throws -> Bool {
        assert(
            (1...AdmissionLimits.lifeMax).contains(life), "other stores would refuse a row in life \(life)")
        let raw = insertRow.sqliteStatement
        RawStep.reset(raw)
        _ = RawBinding.int64(raw, 1, table)
        key.value.bind(raw, 2)
        _ = RawBinding.int64(raw, 3, life)
        bind(stamp, raw, 4)
        if RawStep.next(raw) != nil {
            RawStep.reset(raw)
            try digests?.row(table, key, life: life, stamp, isAdded: true)
            return true
        }
        guard case .SQLITE_CONSTRAINT = db.lastErrorCode.primaryResultCode else { throw insertRow.failure }
        RawStep.reset(raw)
        return false
    }

    /// Writes the version of a column that has none.
    func insertCell(
        row: Int64, column: Int, _ stamp: LocalStamp, of table: Int64, _ key: RowKey
    ) throws {
        try writeCell(row: row, column: column, stamp)
        try digests?.cell(table, key, column: column, stamp, isAdded: true)
    }

    private func writeCell(row: Int64, column: Int, _ stamp: LocalStamp) throws {
        let raw = upsertCell.sqliteStatement
        _ = RawBinding.int64(raw, 1, row)
        _ = RawBinding.int64(raw, 2, Int64(column))
        bind(stamp, raw, 3)
        try run(upsertCell)
    }

    private func bind(_ stamp: LocalStamp, _ raw: SQLiteStatement, _ index: CInt) {
        _ = RawBinding.int64(raw, index, stamp.timestamp)
        _ = RawBinding.int64(raw, index + 1, stamp.replica)
        _ = RawBinding.int64(raw, index + 2, stamp.sequence)
    }

    private func run(_ statement: Statement) throws {
        while try statement.step() {}
        statement.reset()
    }

    /// Reads the versions of a row, without its values.
    func load(_ table: Int64, _ key: RowKey) throws -> (row: Int64, version: RowVersion)? {
        let raw = selectRow.sqliteStatement
        selectRow.reset()
        defer { selectRow.reset() }
        _ = RawBinding.int64(raw, 1, table)
        key.value.bind(raw, 2)
        guard try selectRow.step() else { return nil }
        let row = RawColumn.int64(raw, 0)
        let version = RowVersion(
            life: RawColumn.int64(raw, 1), base: try stamp(raw, 2), cells: try loadCells(row), values: [:])
        return (row, version)
    }

    private func loadCells(_ row: Int64) throws -> [Int: Stamp] {
        let raw = selectCells.sqliteStatement
        selectCells.reset()
        defer { selectCells.reset() }
        _ = RawBinding.int64(raw, 1, row)
        var cells: [Int: Stamp] = [:]
        while try selectCells.step() { cells[Int(RawColumn.int64(raw, 0))] = try stamp(raw, 1) }
        return cells
    }

    private func stamp(_ raw: SQLiteStatement, _ index: CInt) throws -> Stamp {
        let number = RawColumn.int64(raw, index + 1)
        guard let replica = replicas[number] else {
            throw SyncError(.damagedMetadata, "a stamp names replica \(number), which is not known")
        }
        return Stamp(
            timestamp: HybridTimestamp(rawValue: RawColumn.int64(raw, index)), replica: replica,
            sequence: RawColumn.int64(raw, index + 2))
    }

    /// The local number of a replica.
    func number(of replica: ReplicaID) throws -> Int64 {
        guard let number = numbers[replica] else {
            throw SyncError(.damagedMetadata, "replica \(replica) is not known")
        }
        return number
    }

    private func local(_ stamp: Stamp) throws -> LocalStamp {
        LocalStamp(
            timestamp: stamp.timestamp.rawValue, replica: try number(of: stamp.replica),
            sequence: stamp.sequence)
    }

    /// Removes the versions of a row, as if it had never been here.
    func remove(_ version: RowVersion, row: Int64, _ table: Int64, _ key: RowKey) throws {
        if version.isAlive {
            try digests?.row(table, key, life: version.life, local(version.base), isAdded: false)
            for (column, stamp) in version.cells {
                try digests?.cell(table, key, column: column, local(stamp), isAdded: false)
            }
        }
        try forget(row: row)
    }

    /// Forgets the versions of a row, the sums apart, and what is kept of it by its number.
    func forget(row: Int64) throws { try Self.forget(db, row: row) }

    /// The same, where no bundle is applied.
    static func forget(_ db: Database, row: Int64) throws {
        try db.runCached("DELETE FROM main._sync_cell WHERE r = ?", version: row)
        try CounterStore.remove(db, row: row)
        try LastRows.remove(db, row: row)
        try OriginalValues.remove(db, row: row)
        try db.runCached("DELETE FROM main._sync_row WHERE r = ?", version: row)
    }

    /// Forgets the rows of a table that exist, sums apart. Deletions stay.
    ///
    /// - parameter kept: The numbers of rows that stay too.
    static func forgetRows(_ db: Database, of table: Int64, keeping kept: Set<Int64>) throws {
        let rows = try Int64.fetchAll(
            db, sql: "SELECT r FROM _sync_row WHERE tbl = ? AND cl & 1", arguments: [table])
        for row in rows where !kept.contains(row) { try forget(db, row: row) }
    }

    /// Forgets who wrote columns last of rows whose values in these are gone, sums apart: the value comes back with its
    /// version.
    static func forgetCells(_ db: Database, ofLost columns: [Int], in table: Int64) throws {
        let numbers = columns.map(String.init).joined(separator: ", ")
        try db.execute(
            sql: """
                DELETE FROM _sync_cell WHERE col IN (\(numbers))
                AND r IN (SELECT r FROM _sync_row WHERE tbl = ?)
                AND NOT EXISTS (
                    SELECT 1 FROM _sync_row AS b JOIN _sync_shadow AS s ON s.tbl = b.tbl AND s.pk = b.pk
                    WHERE b.r = _sync_cell.r AND s.col = _sync_cell.col)
                """, arguments: [table])
    }

    /// Writes the versions of a plan.
    func store(
        _ plan: MergePlan, row: Int64?, replacing old: RowVersion?, _ table: Int64, _ key: RowKey
    ) throws {
        assert((row == nil) == (old == nil))
        assert(old.map { $0.life <= plan.life } ?? true, "a life that ended does not come back")
        let base = try local(plan.base)
        guard let row, let old else {
            guard try insertIfNew(table, key, life: plan.life, base) else {
                throw SyncError(.damagedMetadata, "a row has versions that can't be found")
            }
            let row = db.lastInsertedRowID
            for (column, stamp) in plan.cells {
                try insertCell(row: row, column: column, local(stamp), of: table, key)
            }
            return
        }
        // Most changes are of single columns, and a page that is not written is not encrypted.
        if old.life != plan.life || old.base != plan.base {
            let raw = updateRow.sqliteStatement
            _ = RawBinding.int64(raw, 1, plan.life)
            bind(base, raw, 2)
            _ = RawBinding.int64(raw, 5, row)
            try run(updateRow)
            try digests?.row(table, key, life: old.life, local(old.base), isAdded: false)
            try digests?.row(table, key, life: plan.life, base, isAdded: true)
        }
        for column in old.cells.keys where plan.cells[column] == nil {
            _ = RawBinding.int64(deleteCell.sqliteStatement, 1, row)
            _ = RawBinding.int64(deleteCell.sqliteStatement, 2, Int64(column))
            try run(deleteCell)
        }
        for (column, stamp) in old.cells where plan.cells[column] != stamp && old.isAlive {
            try digests?.cell(table, key, column: column, local(stamp), isAdded: false)
        }
        for (column, stamp) in plan.cells where old.cells[column] != stamp {
            try writeCell(row: row, column: column, local(stamp))
            guard plan.life & 1 == 1 else { continue }
            try digests?.cell(table, key, column: column, local(stamp), isAdded: true)
        }
    }
}
