import CipherStore
import SyncWire

/// Turns local writes of counters into shares.
///
/// The log says that a counter was written, and not by how much: the share of this
/// replica is what the table shows, without the base and the shares of others. So any
/// program can count, with `SET n = n + 1` or by writing a sum.
struct CounterFold {
    let db: Database
    let metadata: StoreMetadata
    let tables: [Int64: SeparateColumns]
    /// A random number, which tells this fold from one of a copy of the file.
    let nonce: UInt32
    let stamps: StampRule

    /// What was written to counters of a row.
    private struct Write {
        let row: Int64
        let table: Int64
        let key: DatabaseValue
        let column: Int
        let sequence: Int64
        let milliseconds: Int64
        let isRewrite: Bool
    }

    /// Counts after rows and other columns have their versions.
    ///
    /// - parameter hasUpdates: Whether `temp._sync_fold` lists the rows that were written.
    func run(hasUpdates: Bool) throws {
        let known = try SchemaInspection(db: db).storedTables()
        try beginRows(known)
        guard hasUpdates else { return }
        let store = try CounterStore.ifNeeded(db)
        for write in try writes() {
            guard let table = known.first(where: { $0.number == write.table }),
                let column = table.presentColumns.first(where: { $0.number == write.column })
            else { continue }
            try fold(write, column, table, store)
        }
    }

    /// A row that was inserted begins with what it holds now: nobody has seen it before. A row that was replaced goes
    /// on with what is parked of a counter that is not here, since its writer could not write that.
    private func beginRows(_ known: [SyncedTable]) throws {
        let isNew = "r.sid = \(metadata.selfNumber) AND r.oseq > \(metadata.folded)"
        try CounterStore.removeParts(db, ofRowsWhere: isNew)
        for table in known {
            guard let counters = tables[table.number] else { continue }
            for column in table.columns where counters.shares[column.number] != nil {
                if column.isPresent {
                    try CounterStore.begin(db, column, in: table, ofRowsWhere: isNew)
                } else {
                    try CounterStore.beginParked(db, column.number, of: table.number, ofRowsWhere: isNew)
                }
            }
        }
    }

    private func writes() throws -> [Write] {
        let rewrite = ChangeLog.Operation.rewrite
        return try Row.fetchAll(
            db,
            sql: """
                SELECT f.r, u.tbl, u.pk, u.col, u.seq, u.ms, u.kind
                FROM (SELECT l.tbl, l.pk, c.col, max(l.seq) AS seq, l.ms, l.op & 15 AS kind
                      FROM _sync_log AS l CROSS JOIN _sync_policy AS c ON c.tbl = l.tbl AND c.kind = 'counter'
                          AND l.op IN (2 | ((c.col / 60) << 4), \(rewrite) | ((c.col / 60) << 4)) AND l.mask >> (c.col % 60) & 1
                      WHERE l.seq > \(metadata.folded) GROUP BY l.tbl, l.pk, c.col) AS u
                JOIN temp._sync_fold AS f ON f.tbl = u.tbl AND f.pk = u.pk AND f.turns = 0 AND f.cl & 1
                ORDER BY u.seq
                """
        ).map { row in
            Write(
                row: try row.decode(atIndex: 0), table: try row.decode(atIndex: 1),
                key: try row.decode(atIndex: 2), column: try row.decode(atIndex: 3),
                sequence: try row.decode(atIndex: 4), milliseconds: try row.decode(atIndex: 5),
                isRewrite: try row.decode(Int.self, atIndex: 6) == rewrite)
        }
    }

    private func fold(
        _ write: Write, _ column: SyncedTable.Column, _ table: SyncedTable, _ store: CounterStore?
    ) throws {
        let shown = try DatabaseValue.fetchOne(
            db,
            sql:
                "SELECT \(column.name.quotedDatabaseIdentifier) FROM \(table.qualifiedName) WHERE \(table.keyMatch("?1"))",
            arguments: [write.key])
        guard let shown, let store else { return }
        let owned = (key: OwnedValue.make(write.key), shown: OwnedValue.make(shown))
        defer { withExtendedLifetime(owned) {} }
        let key = RowKey(owned.key.value)
        let parts = try store.values(table.number, key)
        defer { withExtendedLifetime(parts) {} }
        let counted = CounterStore.total(
            (tables[table.number]?.shares[column.number] ?? []).map { parts[$0]?.value })
        // A migration writes the same on each replica, and must not count on each.
        if !write.isRewrite, case .integer(let shown) = owned.shown.value,
            case .integer(let base)? = parts[column.number]?.value
        {
            let added = shown &- base &- counted
            guard added != 0 else { return }
            return try add(added, write, column, table.number, key, parts, store)
        }
        var base = owned.shown.value
        if case .integer(let shown) = base { base = .integer(shown &- counted) }
        try store.write(base, column: column.number, table.number, key)
        try setVersion(write, column: column.number)
    }

    /// Adds to the share of this replica.
    private func add(
        _ number: Int64, _ write: Write, _ column: SyncedTable.Column, _ table: Int64, _ key: RowKey,
        _ parts: [Int: OwnedValue], _ store: CounterStore
    ) throws {
        let replica = try metadata.replicaID()
        let own = try CounterStore.shareColumn(db, of: column, in: table, replica: replica)
        var share = CounterShare(parts[own]?.value) ?? CounterShare(origin: replica)
        if case .integer(let sum)? = parts[own]?.value, let (timestamp, sequence) = try version(write, own) {
            // Counted by an older program.
            share.append(.init(sequence: sequence, timestamp: timestamp, nonce: 0, sum: sum))
        }
        try setVersion(write, column: own)
        guard let (timestamp, sequence) = try version(write, own) else { return }
        share.append(
            .init(sequence: sequence, timestamp: timestamp, nonce: nonce, sum: share.sum &+ number))
        try share.bytes.withUnsafeBytes { try store.write(.blob($0), column: own, table, key) }
    }

    /// When a column of a row was written.
    private func version(_ write: Write, _ column: Int) throws -> (timestamp: Int64, sequence: Int64)? {
        let row = try Row.fetchOne(
            db, sql: "SELECT hlc, oseq FROM _sync_cell WHERE r = ? AND col = ?",
            arguments: [write.row, column])
        return try row.map { (try $0.decode(atIndex: 0), try $0.decode(atIndex: 1)) }
    }

    private func setVersion(_ write: Write, column: Int) throws {
        let stamp = write.isRewrite ? 0 : stamps.stamp(write.milliseconds)
        try VersionTable.foldCell(
            db, row: write.row, column: column, stamp: stamp, replica: metadata.selfNumber,
            sequence: write.sequence)
    }
}
