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
    ///     - lastColumns: The columns of which rows that are gone have values; nil when that is not known.
    func unite(
        _ absent: SyncedTable.Column, into column: SyncedTable.Column, named name: String? = nil,
        of table: SyncedTable, lastColumns: Set<Int>? = nil
    ) throws {
        try db.execute(sql: "DROP TABLE IF EXISTS temp._sync_union")
        defer { try? db.execute(sql: "DROP TABLE IF EXISTS temp._sync_union") }
        try compare(absent, column, named: name ?? column.name, table)
        try ConflictJournal.appendLosersOfUnion(
            db, of: column.number, in: table.number, at: environment.milliseconds())
        try DigestLedger.invalidate(db)
        try VersionTable.replaceWithWinnersOfUnion(db, of: column.number)
        try Parking.replaceWithWinnersOfUnion(db, of: column.number, in: table.number)
        try SeparateCells.unite(db, table, absent.number, into: column.number, named: name ?? column.name)
        try ConflictJournal.renumber(db, column: absent.number, to: column.number, in: table.number)
        if lastColumns?.contains(absent.number) != false {
            try LastRows.renumber(db, column: absent.number, to: column.number, in: table.number)
        }
        try Parking.forget(db, column: absent.number, of: table.number)
        try VersionTable.forget(db, column: absent.number, of: table.number)
        try PartialTable.move(db, ofColumn: absent.number, to: column.number, in: table.number)
        try LostColumns.move(db, ofColumn: absent.number, to: column.number, in: table.number)
        try table.remove(db, column: absent.number)
        // Before the other ones of that column, which may be too many: it is what a peer sends by.
        if absent.name.identifierKey != column.name.identifierKey {
            try NameAliases.add(db, absent.name, ofColumn: column.number, in: table.number, from: .united)
        }
        try NameAliases.move(db, ofColumn: absent.number, to: column.number, in: table.number)
    }

    /// Finds out who wrote each of the two last, for the rows that have both.
    private func compare(
        _ absent: SyncedTable.Column, _ column: SyncedTable.Column, named name: String, _ table: SyncedTable
    ) throws {
        let isStored = table.hasRows && column.isPresent
        let stored = isStored ? "t.\(name.quotedDatabaseIdentifier)" : "NULL"
        let join =
            isStored ? "LEFT JOIN \(table.qualifiedName) AS t ON \(table.keyMatch("r.pk", of: "t"))" : ""
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
                CROSS JOIN _sync_row AS r ON r.tbl = m.tbl AND r.pk = m.pk
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
}
