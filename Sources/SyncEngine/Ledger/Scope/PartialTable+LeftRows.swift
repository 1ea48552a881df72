import CipherStore
import SyncWire

/// The rows of `_sync_left`: they left the part of their table that is held here, and wait until somebody has what they
/// hold.
extension PartialTable {
    /// Marks a row that left, and waits.
    static func markLeft(_ db: Database, _ table: Int64, _ key: RowKey) throws {
        try db.runCached("INSERT OR IGNORE INTO _sync_left (tbl, pk) VALUES (?, ?)", table, key)
    }

    /// Marks the rows that a replica deleted after one of its changes.
    ///
    /// - returns: Whether there were any that had no mark.
    static func markDeleted(_ db: Database, _ table: Int64, by replica: Int64, after sequence: Int64) throws
        -> Bool
    {
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO _sync_left (tbl, pk)
                SELECT tbl, pk FROM _sync_row WHERE sid = ? AND oseq > ? AND tbl = ? AND NOT cl & 1
                """, arguments: [replica, sequence, table])
        return db.changesCount > 0
    }

    /// Takes the mark of a row away.
    static func unmarkLeft(_ db: Database, _ table: Int64, _ key: RowKey) throws {
        try db.runCached("DELETE FROM _sync_left WHERE tbl = ? AND pk = ?", table, key)
    }
}
