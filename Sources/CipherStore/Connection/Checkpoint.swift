import CSQLCipher

extension Database {
    /// The kinds of checkpoint.
    ///
    /// Related SQLite documentation: <https://www.sqlite.org/c3ref/wal_checkpoint_v2.html>
    public enum CheckpointMode: CInt, Sendable {
        /// Copies what it can without waiting for anybody.
        case passive = 0
        /// Waits for writers, and copies everything.
        case full = 1
        /// As `full`, and waits for readers, so that the next writer starts the WAL anew.
        case restart = 2
        /// As `restart`, and makes the WAL file empty.
        case truncate = 3
    }

    /// Copies the content of the WAL into the database file.
    ///
    /// - parameters:
    ///     - kind: The kind of checkpoint.
    ///     - schemaName: The attached database; all of them when nil.
    /// - returns: The number of frames in the WAL, and how many of them are in
    ///   the database file now; -1 for a database without a WAL.
    /// - throws: A ``DatabaseError``, for instance of code `SQLITE_BUSY`.
    @discardableResult
    public func checkpoint(
        _ kind: CheckpointMode = .passive, on schemaName: String? = "main"
    ) throws -> (walFrameCount: Int, checkpointedFrameCount: Int) {
        try checkMayRun("PRAGMA wal_checkpoint")
        guard !configuration.readonly else {
            // Two connections that checkpoint may damage the file in SQLite before 3.51.3.
            throw DatabaseError(
                resultCode: .SQLITE_READONLY, message: "only a connection that writes may checkpoint")
        }
        var frameCount: CInt = -1
        var checkpointedCount: CInt = -1
        let code = sqlite3_wal_checkpoint_v2(
            handle, schemaName, kind.rawValue, &frameCount, &checkpointedCount)
        guard code == SQLITE_OK else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(handle)))
        }
        return (Int(frameCount), Int(checkpointedCount))
    }
}
