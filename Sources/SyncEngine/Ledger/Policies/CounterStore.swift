import CipherStore
import SyncWire

/// The counters of a table: which columns they are, and whose shares are where.
///
/// A counter is the sum of a base, which is what the row was inserted with, and of a
/// share for each replica that added to it. A share is a column of its own in the
/// metadata, that only its replica writes: so it is merged, sent and forwarded like any
/// other column, also by programs that know nothing of counters. Base and shares are in
/// `_sync_part`; the user's table shows their sum.
struct CounterColumns {
    /// The columns of the shares by the column of the counter.
    var shares: [Int: [Int]] = [:]
    /// The owner of each column of shares.
    var owners: [Int: ReplicaID] = [:]

    /// Whether a column is a counter itself.
    func isCounter(_ column: Int) -> Bool { shares[column] != nil }

    /// The counter that a column belongs to, as itself or as a share.
    func counter(of column: Int) -> Int? {
        shares[column] != nil ? column : shares.first { $0.value.contains(column) }?.key
    }

    /// Reads the counters of all tables that have some.
    static func loadAll(_ db: Database) throws -> [Int64: CounterColumns] {
        guard try StoreMetadata.load(db)?.format ?? 0 >= 3 else { return [:] }
        var tables: [Int64: CounterColumns] = [:]
        for row in try Row.fetchAll(db, sql: "SELECT tbl, col FROM _sync_policy WHERE kind = 'counter'") {
            tables[try row.decode(atIndex: 0), default: CounterColumns()].shares[try row.decode(atIndex: 1)] =
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

/// Reads and writes the bases and shares of counters.
final class CounterStore {
    let tables: [Int64: CounterColumns]
    private let db: Database
    private let selection: Statement
    private let writing: Statement
    private let deletion: Statement

    /// - returns: nil when the store has no counter.
    static func ifNeeded(_ db: Database) throws -> CounterStore? {
        let tables = try CounterColumns.loadAll(db)
        return tables.isEmpty ? nil : try CounterStore(db, tables)
    }

    private init(_ db: Database, _ tables: [Int64: CounterColumns]) throws {
        self.db = db
        self.tables = tables
        let row = "(SELECT r FROM _sync_row WHERE tbl = ?1 AND pk = ?2)"
        selection = try db.makeStatement(sql: "SELECT col, val FROM _sync_part WHERE r = \(row)")
        writing = try db.makeStatement(
            sql:
                "INSERT OR REPLACE INTO _sync_part (r, col, val) SELECT r, ?3, ?4 FROM _sync_row WHERE tbl = ?1 AND pk = ?2"
        )
        deletion = try db.makeStatement(sql: "DELETE FROM _sync_part WHERE r = \(row)")
    }

    /// The columns of a table that hold shares.
    func shares(of table: Int64) -> Set<Int> { Set(tables[table]?.owners.keys.map { $0 } ?? []) }

    /// The bases and shares of a row, by column.
    func values(_ table: Int64, _ key: RowKey) throws -> [Int: OwnedValue] {
        let raw = bind(selection, table, key)
        defer { selection.reset() }
        var values: [Int: OwnedValue] = [:]
        while try selection.step() {
            values[Int(RawColumn.int64(raw, 0))] = OwnedValue(copying: WireValue(raw, 1))
        }
        return values
    }

    /// Writes a base or a share.
    func write(_ value: WireValue, column: Int, _ table: Int64, _ key: RowKey) throws {
        let raw = bind(writing, table, key)
        _ = RawBinding.int64(raw, 3, Int64(column))
        value.bind(raw, 4)
        while try writing.step() {}
        writing.reset()
    }

    private func remove(_ table: Int64, _ key: RowKey) throws {
        _ = bind(deletion, table, key)
        while try deletion.step() {}
        deletion.reset()
    }

    /// Forgets the bases and shares of a row, by the number of its version.
    static func remove(_ db: Database, row: Int64) throws {
        try db.runCached("DELETE FROM main._sync_part WHERE r = ?", version: row)
    }

    private func bind(_ statement: Statement, _ table: Int64, _ key: RowKey) -> SQLiteStatement {
        statement.reset()
        _ = RawBinding.int64(statement.sqliteStatement, 1, table)
        key.value.bind(statement.sqliteStatement, 2)
        return statement.sqliteStatement
    }

    /// Takes bases and shares out of the values that are about to be written to a row,
    /// keeps them, and puts the sums in their place.
    func absorb(
        _ values: inout [Int: WireValue], _ action: MergePlan.Action, _ table: Int64, _ key: RowKey
    ) throws {
        guard let columns = tables[table] else { return }
        if action == .delete || action == .replace { try remove(table, key) }
        let own = values.filter { columns.counter(of: $0.key) != nil }
        guard !own.isEmpty else { return }
        for (column, value) in own {
            try write(value, column: column, table, key)
            values[column] = nil
        }
        let parts = try self.values(table, key)
        for counter in Set(own.keys.compactMap { columns.counter(of: $0) }) {
            let shares = (columns.shares[counter] ?? []).map { parts[$0]?.value }
            let sum = withExtendedLifetime(parts) { Self.sum(base: parts[counter]?.value, shares) }
            switch sum {
            // What is no number is the base itself, and shown already unless it is new.
            case .text, .blob: values[counter] = own[counter]
            default: values[counter] = sum
            }
        }
    }

    /// What a counter shows: sums wrap around. A base that is no integer is shown as it
    /// is; where there is none, it counts as 0.
    static func sum(base: WireValue?, _ shares: [WireValue?]) -> WireValue {
        let start: Int64
        switch base {
        case nil: start = 0
        case .integer(let number): start = number
        case .some(let other): return other
        }
        return .integer(start &+ total(shares))
    }

    /// What shares add up to, in whatever order they are.
    static func total(_ shares: [WireValue?]) -> Int64 {
        var total = CounterTotal()
        total.add(shares)
        return total.sum
    }

    /// Conflicts as the journal tells them: of a share, what it adds to those before it.
    func told(_ conflicts: [MergePlan.Conflict], of table: Int64) -> [MergePlan.Conflict] {
        guard let columns = tables[table] else { return conflicts }
        var totals: [Int: CounterTotal] = [:]
        return conflicts.map { conflict in
            guard columns.owners[conflict.column] != nil, let counter = columns.counter(of: conflict.column)
            else { return conflict }
            return conflict.losing(.integer(totals[counter, default: CounterTotal()].add(conflict.lost)))
        }
    }

    /// Puts base and shares of each counter in the place of what it shows.
    func uncover(
        _ values: inout [Int: WireValue], _ owned: inout [OwnedValue], _ table: Int64, _ key: RowKey
    ) throws {
        guard let columns = tables[table] else { return }
        for column in values.keys where columns.counter(of: column) != nil { values[column] = nil }
        for (column, value) in try self.values(table, key) {
            owned.append(value)
            values[column] = value.value
        }
    }
}
