import CipherStore
import SyncWire

/// What becomes of bases and shares when two columns turn out to be one, of which at
/// least one counts (see ``ColumnUnion``): the shares of both count, and the base is that
/// of the later write.
struct CounterUnion {
    let db: Database
    let table: SyncedTable
    /// The column that is given up.
    let absent: Int
    /// The column that stays.
    let column: Int
    /// What the table calls that now.
    let name: String

    /// Runs while `temp._sync_union` lists the rows that have both, and who wins.
    func run() throws {
        let counters = try SeparateColumns.loadAll(db)[table.number]
        let isCounter = counters?.shares[column] != nil
        guard let counters, isCounter || counters.shares[absent] != nil else { return }
        if !isCounter { try CounterStore.begin(db, column: column, named: name, in: table) }
        try CounterStore.uniteBases(db, absent, into: column, in: table.number)
        try CounterStore.moveShares(db, of: absent, to: column, in: table.number)
        try PolicyStore.uniteCounters(db, absent, into: column, in: table.number)
        try showSums()
    }

    private func showSums() throws {
        guard let store = try CounterStore.ifNeeded(db) else { return }
        let shares = store.tables[table.number]?.shares[column] ?? []
        for row in try Row.fetchAll(db, sql: "SELECT pk FROM temp._sync_union") {
            let key = OwnedValue.make(try row.decode(atIndex: 0))
            let parts = try store.values(table.number, RowKey(key.value))
            let sum = CounterStore.sum(base: parts[column]?.value, shares.map { parts[$0]?.value })
            try withExtendedLifetime((key, parts)) {
                try Parking.replace(
                    db, with: sum.databaseValue, of: column, in: table.number, key.value.databaseValue)
            }
        }
    }
}
