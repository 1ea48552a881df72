import CipherStore
import SyncWire

/// What happens to parked values, and to the list of hidden rows, by statements of their own, most of them for many rows.
extension Parking {

    // MARK: Writes of this replica

    /// Lists the parked values that local writes replace in `temp._sync_replaced`, while a fold lists the rows in
    /// `temp._sync_fold`. Of these two there are few, while any number of values can be parked, so they say where to look.
    ///
    /// `INSERT OR REPLACE` writes the columns that are here: what peers have in
    /// others stays, as part of the new row.
    ///
    /// - parameter folded: The last entry of the log before those of the fold.
    static func listReplacedByFold(_ db: Database, after folded: Int64) throws {
        let written = try WrittenColumns(db, after: folded, [ChangeLog.Operation.update])
        defer { written.finish() }
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS temp._sync_replaced;
                CREATE TEMP TABLE _sync_replaced (tbl INTEGER, pk, col INTEGER, PRIMARY KEY (tbl, pk, col)) WITHOUT ROWID;
                INSERT OR IGNORE INTO temp._sync_replaced
                SELECT l.tbl, l.pk, c.col FROM _sync_log AS l \(written.join)
                WHERE l.seq > \(folded) AND EXISTS (
                    SELECT 1 FROM _sync_shadow AS s WHERE s.tbl = l.tbl AND s.pk = l.pk AND s.col = c.col);
                INSERT OR IGNORE INTO temp._sync_replaced
                SELECT s.tbl, s.pk, s.col FROM temp._sync_fold AS f
                CROSS JOIN _sync_shadow AS s ON s.tbl = f.tbl AND s.pk = f.pk
                WHERE f.turns > 0 AND NOT (f.alive AND f.cl & 1 AND EXISTS (
                    SELECT 1 FROM _sync_column AS a
                    WHERE a.tbl = f.tbl AND a.col = s.col AND a.present <> 1));
                """)
    }

    /// Forgets what a fold's writes replace, and takes rows that they wrote whole off the list of hidden ones.
    static func removeReplacedByFold(_ db: Database) throws {
        // Row by row: for a list of keys, SQLite would read all that is parked.
        let deletions = [
            (
                "SELECT tbl, pk, col FROM temp._sync_replaced",
                "DELETE FROM _sync_shadow WHERE tbl = ? AND pk = ? AND col = ?"
            ),
            (
                """
                SELECT h.tbl, h.pk FROM temp._sync_fold AS f
                CROSS JOIN _sync_hidden AS h ON h.tbl = f.tbl AND h.pk = f.pk WHERE f.turns > 0
                """, "DELETE FROM _sync_hidden WHERE tbl = ? AND pk = ?"
            ),
        ]
        for (selection, deletion) in deletions {
            let rows = try Row.fetchAll(db, sql: selection)
            let statement = try db.cachedStatement(sql: deletion)
            for row in rows { try statement.execute(arguments: StatementArguments(row.databaseValues)) }
        }
    }

    // MARK: Adding

    /// Keeps the values of a column that is about to be dropped, except those that are missing and were never written.
    /// What is parked already is newer than the table.
    ///
    /// The order is fixed: by old statistics of either table, SQLite would read all rows of one for each row of the other. The keys
    /// come first, out of their index `k`, so that values are written in the order in which they are stored, one at a time. A sorter
    /// would hold all of them in memory, and so would a look into the table that is written to.
    ///
    /// - parameter isMissing: Whether the table `t` has no value of its own, as SQL.
    static func keepDropped(
        _ db: Database, _ column: SyncedTable.Column, of table: SyncedTable, unless isMissing: String
    ) throws {
        let name = column.name.quotedDatabaseIdentifier
        try db.execute(
            sql: """
                UPDATE _sync_shadow SET why = :why WHERE tbl = :table AND col = :column;
                INSERT OR IGNORE INTO _sync_shadow (tbl, pk, col, val, why)
                SELECT :table, k.pk, :column, t.\(name), :why
                FROM _sync_row AS k CROSS JOIN _sync_row AS r ON r.r = k.r AND r.cl & 1
                CROSS JOIN \(table.qualifiedName) AS t ON \(table.keyMatch("k.pk", of: "t"))
                LEFT JOIN _sync_cell AS c ON c.r = k.r AND c.col = :column
                WHERE k.tbl = :table AND (NOT \(isMissing) OR c.r IS NOT NULL);
                """,
            arguments: [
                "table": table.number, "column": column.number, "why": KeptReason.dropped,
            ])
    }

    /// Parks, for columns that the table does not have, that rows have no value, where the last write of a column says so:
    /// one of which nothing is parked.
    static func keepNothing(_ db: Database, of columns: [Int], in table: Int64) throws {
        guard !columns.isEmpty else { return }
        let numbers = columns.map(String.init).joined(separator: ", ")
        try db.execute(
            sql: """
                INSERT INTO _sync_shadow (tbl, pk, col, val, why)
                SELECT r.tbl, r.pk, w.col, NULL, :why FROM _sync_row AS r CROSS JOIN _sync_cell AS w ON w.r = r.r
                WHERE r.tbl = :table AND r.cl & 1 AND w.col IN (\(numbers)) AND NOT EXISTS (
                    SELECT 1 FROM _sync_shadow AS s WHERE s.tbl = r.tbl AND s.pk = r.pk AND s.col = w.col)
                ORDER BY r.pk
                """, arguments: ["table": table, "why": KeptReason.dropped])
    }

    /// Parks rows whole that were kept of a dropped table, where nothing is parked of them.
    ///
    /// - parameters:
    ///     - kept: The rows that were kept.
    ///     - condition: Which of these rows `k`, as SQL.
    static func add(_ db: Database, rowsOf kept: SyncedTable, where condition: String) throws {
        let key = kept.key.quotedDatabaseIdentifier
        let values = kept.presentColumns.map { ("\($0.number)", "k.\($0.name.quotedDatabaseIdentifier)") }
        for (number, value) in values + [("\(wholeRow)", "NULL")] {
            try db.execute(
                sql: """
                    INSERT OR IGNORE INTO _sync_shadow (tbl, pk, col, val, why)
                    SELECT ?, k.\(key), \(number), \(value), 'no such table' FROM \(kept.qualifiedName) AS k
                    WHERE \(condition)
                    """, arguments: [kept.number])
        }
    }

    /// Parks values of a column, where none is parked.
    ///
    /// - parameters:
    ///     - value: The value, as SQL over the rows.
    ///     - rows: The rows, as SQL from FROM on.
    ///     - key: Their keys, as SQL over the rows.
    ///     - condition: Which of them, as SQL.
    static func add(
        _ db: Database, _ value: String, of column: Int, in table: Int64, rows: String, key: String,
        where condition: String
    ) throws {
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO _sync_shadow (tbl, pk, col, val, why)
                SELECT ?, \(key), ?, \(value), '\(KeptReason.noColumn)' \(rows)
                WHERE \(condition)
                """, arguments: [table, column])
    }

    /// Parks the values that stand when two columns become one, in the place of what is parked. They stand in
    /// `temp._sync_union` (see ``ColumnUnion``).
    static func replaceWithWinnersOfUnion(_ db: Database, of column: Int, in table: Int64) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO _sync_shadow (tbl, pk, col, val, why)
                SELECT :table, pk, :column, newer, 'no such column' FROM temp._sync_union WHERE wins;
                """, arguments: ["table": table, "column": column])
    }

    /// Parks a value in the place of what is parked of its column.
    static func replace(
        _ db: Database, with value: DatabaseValue, of column: Int, in table: Int64, _ key: DatabaseValue
    ) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO _sync_shadow (tbl, pk, col, val, why)
                VALUES (?, ?, ?, ?, 'no such column')
                """,
            arguments: [table, key, column, value])
    }

    /// Lists the rows that a program of an older version parked as hidden. The next
    /// settlement finds out what stands against them.
    static func adoptParkedRows(_ db: Database) throws {
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO _sync_hidden (tbl, pk, reason, since)
                SELECT DISTINCT s.tbl, s.pk, '\(ParkedRow.Reason.other.rawValue)', 0
                FROM _sync_shadow AS s JOIN _sync_table AS t ON t.tbl = s.tbl AND t.tracked = 1
                LEFT JOIN _sync_column AS c ON c.tbl = s.tbl AND c.col = s.col
                WHERE s.col = \(wholeRow) OR c.present = 1
                """)
    }

    private static let isListComplete = "hidden.complete"

    /// Whether each row is listed as hidden that exists and is not in its tracked table. Programs from before 29 November 2026
    /// left out rows of which no value had a column here, and listed them nowhere.
    static func listsMissingRows(_ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_setting WHERE name = ?)", arguments: [isListComplete])
            == true
    }

    /// Notes that each such row is listed.
    static func noteMissingRowsAreListed(_ db: Database) throws {
        try SyncSetting.set(db, isListComplete, 1)
    }

    /// Lists rows as hidden that exist and are not in their table, and of which values wait, but none that has a column
    /// here. The next settlement finds out what stands against them. A row that was deleted since the last fold is none.
    ///
    /// - parameters:
    ///     - since: When they were hidden, in Unix milliseconds; 0 where nobody knows.
    ///     - condition: Which of the rows `r` of the metadata, as SQL.
    static func adoptMissingRows(
        _ db: Database, of table: SyncedTable, since: Int64, where condition: String = "1"
    ) throws {
        let numbers = table.presentColumns.map(\.number) + [wholeRow]
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO _sync_hidden (tbl, pk, reason, since)
                SELECT s.tbl, s.pk, '\(ParkedRow.Reason.other.rawValue)', :since
                FROM _sync_shadow AS s CROSS JOIN _sync_row AS r ON r.tbl = s.tbl AND r.pk = s.pk AND r.cl & 1
                WHERE s.tbl = :table
                  AND NOT EXISTS (
                    SELECT 1 FROM _sync_shadow AS w WHERE w.tbl = s.tbl AND w.pk = s.pk
                      AND w.col IN (\(numbers.map(String.init).joined(separator: ", "))))
                  AND NOT EXISTS (SELECT 1 FROM \(table.qualifiedName) AS t WHERE \(table.keyMatch("s.pk", of: "t")))
                  AND s.pk NOT IN (
                    SELECT pk FROM _sync_log WHERE seq > (SELECT folded FROM _sync_state) AND tbl = :table)
                  AND \(condition)
                """, arguments: ["table": table.number, "since": since])
    }

    // MARK: Forgetting

    /// Forgets what is parked of a column.
    static func forget(_ db: Database, column: Int, of table: Int64) throws {
        try db.execute(
            sql: "DELETE FROM _sync_shadow WHERE tbl = ? AND col = ?", arguments: [table, column])
    }

    /// Forgets what is parked of rows of a table that are not known any more. What is parked of others waits for the
    /// table, which is gone, and hides nothing.
    static func loseTable(_ db: Database, _ table: Int64) throws {
        try db.execute(
            sql: """
                DELETE FROM _sync_shadow WHERE tbl = :table AND NOT EXISTS (
                    SELECT 1 FROM _sync_row AS r
                    WHERE r.tbl = _sync_shadow.tbl AND r.pk = _sync_shadow.pk AND r.cl & 1);
                UPDATE _sync_shadow SET why = :why WHERE tbl = :table;
                DELETE FROM _sync_hidden WHERE tbl = :table;
                """, arguments: ["table": table, "why": KeptReason.noTable])
    }

    /// Forgets what is parked of a column in the row of a version.
    static func forget(_ db: Database, column: Int, ofVersion row: Int64) throws {
        let isOfRow = "WHERE r.r = :row"
        try db.execute(
            sql: """
                DELETE FROM _sync_shadow WHERE tbl = (SELECT r.tbl FROM _sync_row AS r \(isOfRow))
                AND pk = (SELECT r.pk FROM _sync_row AS r \(isOfRow)) AND col = :column
                """, arguments: ["row": row, "column": column])
    }

    /// Forgets the parked values of a row, which stays on the list of hidden ones if it is there.
    static func forget(_ db: Database, valuesOf key: DatabaseValue, in table: Int64) throws {
        try db.execute(
            sql: "DELETE FROM _sync_shadow WHERE tbl = ? AND pk = ?", arguments: [table, key])
    }
}
