import CipherStore
import SyncWire

/// What a policy that keeps values of its own does where rows are read and written.
protocol SeparatePolicyCells: AnyObject {
    /// The columns that it keeps, by table.
    var tables: [Int64: SeparateColumns] { get }

    /// Takes its values out of those that are about to be written to a row, keeps them, and puts what the user's table
    /// shows in their place.
    func absorb(
        _ values: inout [Int: WireValue], _ action: MergePlan.Action, _ table: Int64, _ key: RowKey) throws
    /// Puts its values in the place of what the user's table shows.
    func uncover(
        _ values: inout [Int: WireValue], _ owned: inout [OwnedValue], _ table: Int64, _ key: RowKey) throws
    /// Conflicts as the journal tells them.
    func told(_ conflicts: [MergePlan.Conflict], of table: Int64) -> [MergePlan.Conflict]
}

/// The values of all policies that keep some of their own. A table without such a policy costs one look-up a row.
final class SeparateCells {
    /// The columns that are kept apart, by table.
    let tables: [Int64: SeparateColumns]
    private let policies: [any SeparatePolicyCells]

    /// - returns: nil when the store has no column with such a policy.
    static func ifNeeded(_ db: Database) throws -> SeparateCells? {
        guard let counters = try CounterStore.ifNeeded(db) else { return nil }
        return SeparateCells([counters])
    }

    private init(_ policies: [any SeparatePolicyCells]) {
        self.policies = policies
        tables = policies.reduce(into: [:]) { tables, policy in
            tables.merge(policy.tables) { one, other in
                SeparateColumns(
                    shares: one.shares.merging(other.shares) { one, _ in one },
                    owners: one.owners.merging(other.owners) { one, _ in one })
            }
        }
    }

    /// The columns of a table that one replica writes: a write of the whole row says nothing of them.
    func owned(of table: Int64) -> Set<Int> { Set(tables[table]?.owners.keys.map { $0 } ?? []) }

    /// See ``SeparatePolicyCells/absorb(_:_:_:_:)``.
    func absorb(
        _ values: inout [Int: WireValue], _ action: MergePlan.Action, _ table: Int64, _ key: RowKey
    ) throws {
        guard tables[table] != nil else { return }
        for policy in policies { try policy.absorb(&values, action, table, key) }
    }

    /// See ``SeparatePolicyCells/uncover(_:_:_:_:)``.
    func uncover(
        _ values: inout [Int: WireValue], _ owned: inout [OwnedValue], _ table: Int64, _ key: RowKey
    ) throws {
        guard tables[table] != nil else { return }
        for policy in policies { try policy.uncover(&values, &owned, table, key) }
    }

    /// See ``SeparatePolicyCells/told(_:of:)``.
    func told(_ conflicts: [MergePlan.Conflict], of table: Int64) -> [MergePlan.Conflict] {
        guard tables[table] != nil else { return conflicts }
        return policies.reduce(conflicts) { $1.told($0, of: table) }
    }

    // MARK: Columns

    /// Takes what the rows of a table hold now over into a column that gets such a policy.
    static func begin(_ db: Database, column: Int, in table: SyncedTable) throws {
        try CounterStore.begin(db, column: column, in: table)
    }

    /// Makes one of what two columns have that turned out to be one, while `temp._sync_union` lists the rows that
    /// have both (see ``ColumnUnion``).
    static func unite(
        _ db: Database, _ table: SyncedTable, _ absent: Int, into column: Int, named name: String
    ) throws {
        try CounterUnion(db: db, table: table, absent: absent, column: column, name: name).run()
    }
}
