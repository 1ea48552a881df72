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
}
