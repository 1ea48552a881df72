import CipherStore

/// The rows whose deletions have no version yet.
///
/// The log has no index of rows. To look into its tail for each row that is asked for takes longer, the more rows a settlement
/// deletes, each of which makes the tail longer. So each entry of the tail is read once. It is not asked within a savepoint,
/// whose entries may be taken back.
final class UnfoldedDeletions {
    private struct Key: Hashable {
        var table: Int64
        var key: DatabaseValue
    }

    private let db: Database
    private var keys: Set<Key> = []
    /// The last entry that was read; nil when none was.
    private var last: Int64?

    init(_ db: Database) { self.db = db }

    /// Whether the deletion of a row has no version yet.
    func contains(_ table: Int64, _ key: DatabaseValue) throws -> Bool {
        try readOn()
        return keys.contains(Key(table: table, key: key))
    }

    /// Reads what was logged since then, by whoever it was.
    private func readOn() throws {
        let newest =
            try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT coalesce(max(seq), 0) FROM _sync_log")) ?? 0
        // What was rolled back is not there, and its numbers are given again.
        if let last, newest < last { (keys, self.last) = ([], nil) }
        guard last.map({ $0 < newest }) ?? true else { return }
        let statement = try db.cachedStatement(
            sql: """
                SELECT tbl, pk FROM _sync_log
                WHERE seq > coalesce(?, (SELECT folded FROM _sync_state)) AND seq <= ? AND op = ?
                    AND typeof(tbl) = 'integer'
                """)
        let rows = try Row.fetchCursor(statement, arguments: [last, newest, ChangeLog.Operation.delete])
        while let row = try rows.next() {
            keys.insert(Key(table: try row.decodeStrictly(atIndex: 0), key: row.databaseValues[1]))
        }
        last = newest
    }
}
