/// The tables of bundles that came in parts.
enum InboxSchema {
    static let sql = """
        CREATE TABLE _sync_inbox (
            id INTEGER PRIMARY KEY,
            bundle BLOB NOT NULL UNIQUE,
            sender BLOB NOT NULL,
            bytes INTEGER NOT NULL,
            at INTEGER NOT NULL
        );
        CREATE TABLE _sync_inbox_part (
            id INTEGER PRIMARY KEY,
            frame BLOB NOT NULL
        );

        """
}
