import CipherStore
import SyncWire

/// What becomes of bases and shares when two columns turn out to be one, of which at
/// least one counts (see ``ColumnUnion``): the shares of both count, and the base is that
/// of the later write.
struct CounterUnion {
    let db: Database
    let table: SyncedTable
    /// The column that is given up.
    let absent: Int
    /// The column that stays.
    let column: Int
    /// What the table calls that now.
    let name: String

    /// Runs while `temp._sync_union` lists the rows that have both, and who wins.
    func run() throws {
        let counters = try SeparateColumns.loadAll(db)[table.number]
        let isCounter = counters?.shares[column] != nil
        guard let counters, isCounter || counters.shares[absent] != nil else { return }
        if !isCounter { try CounterStore.begin(db, column: column, named: name, in: table) }
        let numbers: StatementArguments = ["table": table.number, "absent": absent, "column": column]
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO _sync_part (r, col, val)
                SELECT u.r, :column, CASE WHEN p.r IS NULL THEN u.newer ELSE p.val END FROM temp._sync_union AS u
                LEFT JOIN _sync_part AS p ON p.r = u.r AND p.col = :absent WHERE u.wins;
                DELETE FROM _sync_part WHERE col = :absent AND r IN (SELECT r FROM _sync_row WHERE tbl = :table);
                UPDATE _sync_share SET counter = :column WHERE tbl = :table AND counter = :absent;
                INSERT OR REPLACE INTO _sync_policy (tbl, col, kind, name, hlc, rid)
                SELECT tbl, :column, kind, name, hlc, rid FROM _sync_policy
                WHERE tbl = :table AND kind = 'counter' AND col IN (:absent, :column);
                DELETE FROM _sync_policy WHERE tbl = :table AND col = :absent;
                """, arguments: numbers)
        try showSums()
    }

    private func showSums() throws {
        guard let store = try CounterStore.ifNeeded(db) else { return }
        let shares = store.tables[table.number]?.shares[column] ?? []
        for row in try Row.fetchAll(db, sql: "SELECT pk FROM temp._sync_union") {
            let key = OwnedValue.make(try row.decode(atIndex: 0))
            let parts = try store.values(table.number, RowKey(key.value))
            let sum = CounterStore.sum(base: parts[column]?.value, shares.map { parts[$0]?.value })
            try withExtendedLifetime((key, parts)) {
                try db.execute(
                    sql: """
                        INSERT OR REPLACE INTO _sync_shadow (tbl, pk, col, val, why)
                        VALUES (?, ?, ?, ?, 'no such column')
                        """,
                    arguments: [table.number, key.value.databaseValue, column, sum.databaseValue])
            }
        }
    }
}
