/// The table of the links that show a served store to a person. `SyncHTTP` reads and writes it.
enum ConsoleSchema {
    /// A link's secret opens a session once, before it expires; only its hash is kept.
    static let sql = """
        CREATE TABLE _sync_console (
            id INTEGER PRIMARY KEY,
            hash BLOB NOT NULL UNIQUE,
            expires INTEGER NOT NULL
        );

        """
}
