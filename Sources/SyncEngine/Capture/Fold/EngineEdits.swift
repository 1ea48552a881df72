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
        try ChangeLog(db).append(operation, table, key, mask: mask, at: environment.milliseconds())
    }
}
