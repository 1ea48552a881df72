import CipherStore
import SyncWire

/// Cells of programs before version 3 of the metadata that are older than the last write of their row.
///
/// Those programs took a write of a whole row for one of the columns that its writer had, and kept the
/// others. Now it is one of all columns: the others are at their default (see ``Merge``). Left as they
/// were, these cells would differ from what replicas have that merge the same changes today.
struct OutlivedCells {
    let db: Database

    /// Removes them, sets their columns to their defaults, and keeps values that this replaces in the journal.
    ///
    /// Runs once, when the metadata become those of version 3.
    func remove() throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT s.tbl, c.r, c.col FROM _sync_cell AS c JOIN _sync_row AS s ON s.r = c.r
                JOIN _sync_replica AS p ON p.sid = c.sid JOIN _sync_replica AS b ON b.sid = s.sid
                WHERE s.cl & 1 AND (c.hlc < s.hlc OR (c.hlc = s.hlc AND p.rid < b.rid)) ORDER BY c.r, c.col
                """)
        guard !rows.isEmpty else { return }
        let tables = try SyncedTable.loadAll(db)
        let muting = try Muting(db)
        for row in rows {
            let number: Int64 = try row.decode(atIndex: 0)
            guard let table = tables.first(where: { $0.number == number }) else { continue }
            try remove(row: try row.decode(atIndex: 1), column: try row.decode(atIndex: 2), table)
        }
        try muting.end(hasChanges: true)
    }

    private func remove(row: Int64, column: Int, _ table: SyncedTable) throws {
        let name = table.columns.first { $0.number == column && $0.isPresent }?.name
        // Somebody may have changed the table since it was last looked at.
        let present =
            try table.hasRows && db.tableExists(table.storageName)
            ? db.columns(in: table.storageName) : []
        let info = present.first { $0.name.identifierKey == name?.identifierKey }
        // It may end in a comment, which must not go on.
        let standard = (info?.defaultExpressionSQL ?? "NULL") + "\n"
        let shown = info.map { "t.\($0.name.quotedDatabaseIdentifier)" } ?? "NULL"
        let join =
            info == nil
            ? "" : "LEFT JOIN \(table.qualifiedName) AS t ON \(table.keyMatch("r.pk", of: "t"))"
        try ConflictJournal.appendOutlived(
            db, row: row, column: column, shown: shown, join: join, default: standard)
        if let info {
            let column = info.name.quotedDatabaseIdentifier
            do {
                try db.execute(
                    sql: """
                        UPDATE OR IGNORE \(table.qualifiedName) SET \(column) = (\(standard))
                        WHERE \(table.keyMatch("(SELECT r.pk FROM _sync_row AS r WHERE r.r = :row)"))
                        """, arguments: ["row": row])
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                // The default names a row that is not there: what is shown stays as it is.
            }
        }
        try Parking.forget(db, column: column, ofVersion: row)
        try VersionTable.forget(db, column: column, ofRow: row)
    }
}
