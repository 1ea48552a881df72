import CipherStore

/// The tables of the metadata that are about constraints.
enum ConstraintSchema {
    static let indexName = "_sync_hidden_reason"

    /// Finds the rows that wait for one thing, and those that gave way to one row, among any number that wait.
    private static let index = """
        CREATE INDEX \(indexName) ON _sync_hidden (tbl, reason, other_pk, other_tbl);

        """

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

        """ + index

    /// Makes the index where a program of this version, but from before it, made the store.
    static func bringUpToDate(_ db: Database) throws {
        let exists = try Bool.fetchOne(
            db, sql: "SELECT EXISTS(SELECT 1 FROM main.sqlite_master WHERE name = '\(indexName)')")
        if exists != true { try db.execute(sql: index) }
    }

    /// Removes the index from a copy for others: programs of this version, but from before it, take it for a stranger's.
    static func removeIndex(_ copy: Database) throws {
        try copy.execute(sql: "DROP INDEX IF EXISTS main.\(indexName)")
    }
}
