import CipherStore

/// The rows whose deletions have no version yet.
///
/// The log has no index of rows. To look into its tail for each row that is asked for takes longer, the more rows a settlement
/// deletes, each of which makes the tail longer. So the tail is read once, if ever.
final class UnfoldedDeletions {
    private struct Key: Hashable {
        var table: Int64
        var key: DatabaseValue
    }

    private let db: Database
    private var keys: Set<Key>?

    init(_ db: Database) { self.db = db }

    /// Whether the deletion of a row has no version yet.
    func contains(_ table: Int64, _ key: DatabaseValue) throws -> Bool {
        try loaded().contains(Key(table: table, key: key))
    }

    /// Notes a deletion that was logged since then.
    func add(_ table: Int64, _ key: DatabaseValue) { keys?.insert(Key(table: table, key: key)) }

    private func loaded() throws -> Set<Key> {
        if let keys { return keys }
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT tbl, pk FROM _sync_log
                WHERE seq > (SELECT folded FROM _sync_state) AND op = ? AND typeof(tbl) = 'integer'
                """, arguments: [ChangeLog.Operation.delete])
        let read = Set(try rows.map { Key(table: try $0.decode(atIndex: 0), key: $0.databaseValues[1]) })
        keys = read
        return read
    }
}
