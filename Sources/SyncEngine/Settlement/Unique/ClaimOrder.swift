import CipherStore
import SyncWire

/// The order in which rows get the values that only one of them can have: by the
/// time of the write that began the row, its replica, and the key.
///
/// It is made of what all replicas know alike, so that they choose the same row.
/// The older row wins: a row that somebody may have seen for long should not give
/// way to a new one.
struct ClaimOrder: Comparable {
    let timestamp: Int64
    let replica: ReplicaID
    let key: [UInt8]

    static func < (left: ClaimOrder, right: ClaimOrder) -> Bool {
        if left.timestamp != right.timestamp { return left.timestamp < right.timestamp }
        if left.replica != right.replica { return left.replica < right.replica }
        return left.key.lexicographicallyPrecedes(right.key)
    }
}

/// Looks up the place of rows in the order.
struct ClaimOrderLookup {
    private let statement: Statement

    init(_ db: Database) throws {
        statement = try db.makeStatement(
            sql: """
                SELECT r.hlc, p.rid FROM _sync_row AS r JOIN _sync_replica AS p ON p.sid = r.sid
                WHERE r.tbl = ? AND r.pk = ?
                """)
    }

    /// Returns the place of a row, or nil when the row has no version: its key is
    /// no UUID, so it belongs to this store alone.
    func order(_ table: Int64, _ key: RowKey) throws -> ClaimOrder? {
        let raw = statement.sqliteStatement
        statement.reset()
        defer { statement.reset() }
        _ = RawBinding.int64(raw, 1, table)
        key.value.bind(raw, 2)
        guard try statement.step(), let replica = Identifier128(bytes: RawColumn.blob(raw, 1)) else {
            return nil
        }
        return ClaimOrder(timestamp: RawColumn.int64(raw, 0), replica: replica, key: Array(key.bytes))
    }
}
