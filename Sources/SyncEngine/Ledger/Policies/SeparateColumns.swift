import CipherStore
import SyncWire

/// The columns of a table of which the values are kept apart, in `_sync_part`, by policies such as counters.
///
/// A counter is the sum of a base, which is what the row was inserted with, and of a
/// share for each replica that added to it. A share is a column of its own in the
/// metadata, that only its replica writes: so it is merged, sent and forwarded like any
/// other column, also by programs that know nothing of counters. Base and shares are in
/// `_sync_part`; the user's table shows their sum.
struct SeparateColumns {
    /// The columns that replicas write, by the column that shows what follows from them.
    var shares: [Int: [Int]] = [:]
    /// The owner of each column that one replica writes.
    var owners: [Int: ReplicaID] = [:]

    /// Whether a column shows what follows from others.
    func isShown(_ column: Int) -> Bool { shares[column] != nil }

    /// The column that shows a column's values, which can be itself; nil for a column that is kept as any other.
    func shown(for column: Int) -> Int? {
        shares[column] != nil ? column : shares.first { $0.value.contains(column) }?.key
    }

    /// What the name of a column says that one replica writes: which column shows it, and who writes it; nil for
    /// another name.
    static func parse(_ name: String) -> (column: String, replica: ReplicaID)? {
        CounterStore.parse(shareName: name)
    }

    /// Reads those of all tables that have some.
    static func loadAll(_ db: Database) throws -> [Int64: SeparateColumns] {
        guard try StoreMetadata.load(db)?.format ?? 0 >= 3 else { return [:] }
        var tables: [Int64: SeparateColumns] = [:]
        let words = ColumnPolicy.Kind.separateWords
        for row in try Row.fetchAll(db, sql: "SELECT tbl, col FROM _sync_policy WHERE kind IN (\(words))") {
            tables[try row.decode(atIndex: 0), default: SeparateColumns()].shares[
                try row.decode(atIndex: 1)] =
                []
        }
        guard !tables.isEmpty else { return tables }
        for row in try Row.fetchAll(
            db, sql: "SELECT tbl, col, counter, rid FROM _sync_share ORDER BY tbl, col")
        {
            let table: Int64 = try row.decode(atIndex: 0)
            let column: Int = try row.decode(atIndex: 1)
            tables[table]?.shares[try row.decode(atIndex: 2)]?.append(column)
            tables[table]?.owners[column] = try StoreMetadata.identifier(row.decode(atIndex: 3))
        }
        return tables
    }
}
