import CipherStore

/// The tables of the metadata that are about constraints.
enum ConstraintSchema {
    static let sql = """
        CREATE TABLE _sync_hidden (
            tbl INTEGER NOT NULL,
            pk NOT NULL,
            reason TEXT NOT NULL,
            since INTEGER NOT NULL,
            other_tbl INTEGER,
            other_pk,
            PRIMARY KEY (tbl, pk)
        ) WITHOUT ROWID;
        CREATE TABLE _sync_orphan_policy (
            tbl INTEGER PRIMARY KEY,
            policy TEXT NOT NULL
        );

        """

    /// Lists the rows that a program of an older version parked. The next
    /// settlement finds out what stands against them.
    static func adoptParkedRows(_ db: Database) throws {
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO _sync_hidden (tbl, pk, reason, since)
                SELECT DISTINCT s.tbl, s.pk, '\(ParkedRow.Reason.other.rawValue)', 0
                FROM _sync_shadow AS s JOIN _sync_table AS t ON t.tbl = s.tbl AND t.tracked = 1
                LEFT JOIN _sync_column AS c ON c.tbl = s.tbl AND c.col = s.col
                WHERE s.col = \(Parking.wholeRow) OR c.present = 1
                """)
    }
}
