import CipherStore
import SyncWire

/// Edits that the engine makes while it applies a bundle. The triggers are mute then, so what they would log is
/// written here, and becomes a change of this replica at the next fold.
struct EngineEdits {
    let db: Database
    let environment: SyncEnvironment

    /// Logs an edit.
    ///
    /// - parameters:
    ///     - operation: One of ``CaptureTriggers/Operation``, with the group of the columns.
    ///     - mask: The columns of the group.
    func log(_ table: Int64, _ key: RowKey, _ operation: Int, mask: Int64 = 0) throws {
        let statement = try db.cachedStatement(
            sql: "INSERT INTO _sync_log (tbl, op, pk, mask, ms) VALUES (?, ?, ?, ?, ?)")
        let raw = statement.sqliteStatement
        statement.reset()
        _ = RawBinding.int64(raw, 1, table)
        _ = RawBinding.int64(raw, 2, Int64(operation))
        key.value.bind(raw, 3)
        _ = RawBinding.int64(raw, 4, mask)
        _ = RawBinding.int64(raw, 5, environment.milliseconds())
        while try statement.step() {}
        statement.reset()
    }
}
