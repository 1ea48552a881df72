import CipherStore
import SyncWire

/// How the tables of the metadata are created and removed. `Schemas/metadata/v3.sql` is the contract; a test compares it
/// with what this creates.
extension MetadataSchema {
    /// What version 2 has, and version 1 had not.
    static let addedInVersion2 = """
        CREATE TABLE _sync_alias (
            tbl INTEGER NOT NULL,
            col INTEGER NOT NULL,
            name TEXT NOT NULL COLLATE NOCASE,
            PRIMARY KEY (tbl, col, name)
        ) WITHOUT ROWID;

        """

    /// What version 3 has, and version 2 had not, by subject.
    static let addedInVersion3 = [
        settings, ConflictJournal.schema, ConstraintSchema.sql, ReplicaChain.schema, ReplicaRegister.schema,
        SyncAttempts.schema, PolicyStore.schema, InboxSchema.sql, DigestLedger.schema, Coverage.schema,
        ScopeStore.schema, Acknowledgement.schema, RemoteSchema.sql, PartialTable.schema, ConsoleSchema.sql,
        LastRows.schema, OriginalValues.schema, MembershipSchema.sql,
    ].joined()

    private static let settings = """
        CREATE TABLE _sync_setting (
            name TEXT PRIMARY KEY,
            value NOT NULL
        ) WITHOUT ROWID;

        """

    /// What creates the tables.
    static let sql = """
        CREATE TABLE _sync_state (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            format INTEGER NOT NULL,
            store BLOB NOT NULL,
            self INTEGER NOT NULL,
            applying INTEGER NOT NULL DEFAULT 0,
            clock INTEGER NOT NULL DEFAULT 0,
            folded INTEGER NOT NULL DEFAULT 0
        );
        CREATE TABLE _sync_replica (
            sid INTEGER PRIMARY KEY,
            rid BLOB NOT NULL UNIQUE,
            oseq INTEGER NOT NULL DEFAULT 0,
            seen INTEGER
        );
        CREATE TABLE _sync_table (
            tbl INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE COLLATE NOCASE,
            key TEXT NOT NULL,
            tracked INTEGER NOT NULL
        );
        CREATE TABLE _sync_column (
            tbl INTEGER NOT NULL,
            col INTEGER NOT NULL,
            name TEXT NOT NULL COLLATE NOCASE,
            present INTEGER NOT NULL,
            PRIMARY KEY (tbl, col),
            UNIQUE (tbl, name)
        ) WITHOUT ROWID;
        CREATE TABLE _sync_log (
            seq INTEGER PRIMARY KEY,
            tbl INTEGER NOT NULL,
            op INTEGER NOT NULL,
            pk NOT NULL,
            mask INTEGER NOT NULL,
            ms INTEGER NOT NULL
        );
        CREATE TRIGGER _sync_log_guard BEFORE DELETE ON _sync_log
        WHEN OLD.seq = (SELECT max(seq) FROM _sync_log) BEGIN
            SELECT RAISE(ABORT, 'the last entry of the change log has to stay: it numbers the next one');
        END;
        CREATE TABLE _sync_row (
            r INTEGER PRIMARY KEY,
            tbl INTEGER NOT NULL,
            pk NOT NULL,
            cl INTEGER NOT NULL,
            hlc INTEGER NOT NULL,
            sid INTEGER NOT NULL,
            oseq INTEGER NOT NULL
        );
        CREATE UNIQUE INDEX _sync_row_key ON _sync_row (tbl, pk);
        CREATE INDEX _sync_row_feed ON _sync_row (sid, oseq);
        CREATE TABLE _sync_cell (
            r INTEGER NOT NULL,
            col INTEGER NOT NULL,
            hlc INTEGER NOT NULL,
            sid INTEGER NOT NULL,
            oseq INTEGER NOT NULL,
            PRIMARY KEY (r, col)
        ) WITHOUT ROWID;
        CREATE INDEX _sync_cell_feed ON _sync_cell (sid, oseq);
        CREATE TABLE _sync_shadow (
            tbl INTEGER NOT NULL,
            pk NOT NULL,
            col INTEGER NOT NULL,
            val,
            why TEXT NOT NULL,
            PRIMARY KEY (tbl, pk, col)
        ) WITHOUT ROWID;
        CREATE TABLE _sync_conflict (
            id INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,
            tbl INTEGER NOT NULL,
            pk NOT NULL,
            col INTEGER NOT NULL,
            val,
            hlc INTEGER NOT NULL,
            sid INTEGER NOT NULL,
            won INTEGER NOT NULL,
            why TEXT NOT NULL
        );
        CREATE TABLE _sync_peer (
            rid BLOB PRIMARY KEY,
            name TEXT NOT NULL,
            at INTEGER NOT NULL,
            acked INTEGER NOT NULL
        ) WITHOUT ROWID;

        """ + addedInVersion2 + addedInVersion3

    /// Creates the metadata of a new store.
    static func create(_ db: Database, store: StoreID, replica: ReplicaID) throws {
        try db.execute(sql: sql)
        let own = try ReplicaRegister(db: db).add(replica)
        try StoreMetadata.create(db, store: store, own: own)
    }

    /// Removes all metadata and the triggers, which leaves the user's tables alone.
    static func remove(_ db: Database) throws {
        let triggers = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_master WHERE type = 'trigger' AND substr(name, 1, 6) = '_sync_'"
        )
        for trigger in triggers { try db.execute(sql: "DROP TRIGGER \(trigger.quotedDatabaseIdentifier)") }
        let tables = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 6) = '_sync_'")
        for table in tables { try db.execute(sql: "DROP TABLE \(table.quotedDatabaseIdentifier)") }
    }
}
