import CipherStore

/// The tables of peers that are reached over a network. `SyncHTTP` reads and writes them.
///
/// They say who may reach this file and how it reaches others, so no copy of the file has a use
/// for them, and none may keep their keys (see ``forget(_:)``).
enum RemoteSchema {
    /// - `_sync_device_key`: this replica's own private key, by which servers know it.
    /// - `_sync_remote`: the servers that it knows.
    /// - `_sync_server`: its certificate and private key as a server, and where it listened last.
    /// - `_sync_device`: the devices that may reach it as a server.
    /// - `_sync_invite`: invitations, of whose secrets only hashes are kept.
    static let sql = """
        CREATE TABLE _sync_device_key (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            key BLOB NOT NULL
        );
        CREATE TABLE _sync_remote (
            name TEXT PRIMARY KEY,
            host TEXT NOT NULL,
            port INTEGER NOT NULL,
            trust INTEGER NOT NULL,
            certificate BLOB,
            readonly INTEGER NOT NULL,
            scope TEXT
        );
        CREATE TABLE _sync_server (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            certificate BLOB,
            key BLOB,
            address TEXT,
            trust INTEGER,
            fingerprint BLOB
        );
        CREATE TABLE _sync_device (
            id INTEGER PRIMARY KEY,
            key BLOB NOT NULL UNIQUE,
            label TEXT NOT NULL,
            readonly INTEGER NOT NULL,
            scope TEXT,
            replica BLOB,
            at INTEGER NOT NULL,
            seen INTEGER,
            revoked INTEGER,
            revision INTEGER NOT NULL DEFAULT 0
        );
        CREATE TABLE _sync_invite (
            id INTEGER PRIMARY KEY,
            hash BLOB NOT NULL UNIQUE,
            label TEXT NOT NULL,
            readonly INTEGER NOT NULL,
            scope TEXT,
            expires INTEGER NOT NULL,
            device BLOB
        );

        """

    /// Removes what belongs to one file only from a copy of it: keys, devices, invitations, and
    /// uploads that are not finished.
    ///
    /// The bytes are overwritten: whoever gets the copy could read deleted content out of its
    /// free space.
    static func forget(_ db: Database) throws {
        let former = try Int64.fetchOne(db, sql: "PRAGMA secure_delete") ?? 0
        try db.execute(sql: "PRAGMA secure_delete = 1")
        for table in [
            "_sync_device_key", "_sync_remote", "_sync_server", "_sync_device", "_sync_invite",
            "_sync_console", "_sync_inbox_part", "_sync_inbox", "_sync_member_key", "_sync_epoch_key",
            "_sync_statement_file",
        ] {
            try db.execute(sql: "DELETE FROM main.\(table)")
        }
        try SyncSetting.removeAllOfDevices(db)
        try forgetRemembered(db)
        try db.execute(sql: "PRAGMA secure_delete = \(former)")
    }
}
