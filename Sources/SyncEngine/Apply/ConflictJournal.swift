import CipherStore
import SyncWire

/// Keeps the values that lost against a write that did not know them.
final class ConflictJournal {
    private let statement: Statement
    private let at: Int64

    init(_ db: Database, at milliseconds: Int64) throws {
        at = milliseconds
        statement = try db.makeStatement(
            sql: """
                INSERT INTO _sync_conflict (at, tbl, pk, col, val, hlc, sid, won, why)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
    }

    /// Adds the conflicts of a row.
    ///
    /// - returns: How many there were.
    func append(
        _ conflicts: [MergePlan.Conflict], _ table: Int64, _ key: RowKey, _ versions: VersionTable
    ) throws -> Int64 {
        let raw = statement.sqliteStatement
        for conflict in conflicts {
            statement.reset()
            _ = RawBinding.int64(raw, 1, at)
            _ = RawBinding.int64(raw, 2, table)
            key.value.bind(raw, 3)
            _ = RawBinding.int64(raw, 4, Int64(conflict.column))
            conflict.lost.bind(raw, 5)
            _ = RawBinding.int64(raw, 6, conflict.lostStamp.timestamp.rawValue)
            _ = RawBinding.int64(raw, 7, try versions.number(of: conflict.lostStamp.replica))
            _ = RawBinding.int64(raw, 8, try versions.number(of: conflict.winner.replica))
            _ = RawBinding.string(raw, 9, conflict.reason.rawValue)
            while try statement.step() {}
            statement.reset()
        }
        return Int64(conflicts.count)
    }
}
