import CipherStore

/// Makes one column of two that turn out to be the same: a peer renamed it, and
/// what came under the new name was parked as another column.
///
/// For each row the later of the two writes stands, as if it had come under the
/// right name. All replicas unite the same writes, so they agree.
struct ColumnUnion {
    let db: Database
    let environment: SyncEnvironment

    /// Unites a column that the table here does not have with one that stays.
    ///
    /// - parameters:
    ///     - absent: A column whose values are parked; its number is forgotten.
    ///     - column: The column that stays.
    ///     - name: What the table calls that now.
    func unite(
        _ absent: SyncedTable.Column, into column: SyncedTable.Column, named name: String? = nil,
        of table: SyncedTable
    ) throws {
        try db.execute(sql: "DROP TABLE IF EXISTS temp._sync_union")
        defer { try? db.execute(sql: "DROP TABLE IF EXISTS temp._sync_union") }
        try compare(absent, column, named: name ?? column.name, table)
        try journalLosers(absent, column, table)
        try DigestLedger.invalidate(db)
        try move(absent, column, table)
        try SeparateCells.unite(db, table, absent.number, into: column.number, named: name ?? column.name)
        let numbers: StatementArguments = [
            "table": table.number, "absent": absent.number, "column": column.number,
        ]
        try db.execute(
            sql: """
                UPDATE _sync_conflict SET col = :column WHERE tbl = :table AND col = :absent;
                UPDATE _sync_partial SET col = :column WHERE tbl = :table AND col = :absent;
                DELETE FROM _sync_shadow WHERE tbl = :table AND col = :absent;
                DELETE FROM _sync_cell WHERE col = :absent AND r IN (SELECT r FROM _sync_row WHERE tbl = :table);
                DELETE FROM _sync_column WHERE tbl = :table AND col = :absent;
                UPDATE OR REPLACE _sync_alias SET col = :column WHERE tbl = :table AND col = :absent;
                """, arguments: numbers)
        if absent.name.identifierKey != column.name.identifierKey {
            try NameAliases.add(db, absent.name, ofColumn: column.number, in: table.number)
        }
    }

    /// Finds out who wrote each of the two last, for the rows that have both.
    private func compare(
        _ absent: SyncedTable.Column, _ column: SyncedTable.Column, named name: String, _ table: SyncedTable
    ) throws {
        let isStored = table.hasRows && column.isPresent
        let stored = isStored ? "t.\(name.quotedDatabaseIdentifier)" : "NULL"
        let join =
            isStored
            ? "LEFT JOIN \(table.qualifiedName) AS t ON t.\(table.key.quotedDatabaseIdentifier) = r.pk" : ""
        // Of two writes that came with the whole row, the one under the parked name has the
        // value: the table has a default for the column that it knows.
        try db.execute(
            sql: """
                CREATE TEMP TABLE _sync_union AS
                SELECT r.r, r.pk, r.cl, m.val AS newer, CASE WHEN s.pk IS NULL THEN \(stored) ELSE s.val END AS older,
                    coalesce(a.hlc, r.hlc) AS hlc, coalesce(a.sid, r.sid) AS sid, a.oseq AS oseq,
                    coalesce(c.hlc, r.hlc) AS other_hlc, coalesce(c.sid, r.sid) AS other_sid,
                    (coalesce(a.hlc, r.hlc), p.rid) >= (coalesce(c.hlc, r.hlc), q.rid) AS wins
                FROM _sync_shadow AS m
                JOIN _sync_row AS r ON r.tbl = m.tbl AND r.pk = m.pk
                LEFT JOIN _sync_cell AS a ON a.r = r.r AND a.col = :absent
                LEFT JOIN _sync_cell AS c ON c.r = r.r AND c.col = :column
                LEFT JOIN _sync_shadow AS s ON s.tbl = m.tbl AND s.pk = m.pk AND s.col = :column
                JOIN _sync_replica AS p ON p.sid = coalesce(a.sid, r.sid)
                JOIN _sync_replica AS q ON q.sid = coalesce(c.sid, r.sid)
                \(join)
                WHERE m.tbl = :table AND m.col = :absent
                """,
            arguments: ["table": table.number, "absent": absent.number, "column": column.number])
    }

    /// Keeps the values that lose, when another replica wrote them.
    private func journalLosers(
        _ absent: SyncedTable.Column, _ column: SyncedTable.Column, _ table: SyncedTable
    ) throws {
        try db.execute(
            sql: """
                INSERT INTO _sync_conflict (at, tbl, pk, col, val, hlc, sid, won, why, life, won_hlc)
                SELECT ?, ?, pk, ?, CASE WHEN wins THEN older ELSE newer END,
                    CASE WHEN wins THEN other_hlc ELSE hlc END, CASE WHEN wins THEN other_sid ELSE sid END,
                    CASE WHEN wins THEN sid ELSE other_sid END, 'newer', cl, CASE WHEN wins THEN hlc ELSE other_hlc END
                FROM temp._sync_union
                WHERE sid <> other_sid AND \(TableTracking.differs("newer", "older"))
                """, arguments: [environment.milliseconds(), table.number, column.number])
    }

    private func move(
        _ absent: SyncedTable.Column, _ column: SyncedTable.Column, _ table: SyncedTable
    ) throws {
        try db.execute(
            sql: """
                DELETE FROM _sync_cell
                WHERE col = :column AND r IN (SELECT r FROM temp._sync_union WHERE wins AND oseq IS NULL);
                INSERT OR REPLACE INTO _sync_cell (r, col, hlc, sid, oseq)
                SELECT r, :column, hlc, sid, oseq FROM temp._sync_union WHERE wins AND oseq IS NOT NULL;
                INSERT OR REPLACE INTO _sync_shadow (tbl, pk, col, val, why)
                SELECT :table, pk, :column, newer, 'no such column' FROM temp._sync_union WHERE wins;
                """, arguments: ["table": table.number, "column": column.number])
    }
}
