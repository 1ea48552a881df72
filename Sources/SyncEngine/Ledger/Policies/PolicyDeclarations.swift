import CipherStore
import SyncWire

/// What a bundle says about policies and counters: tables of its header whose names
/// are reserved and that have no rows.
struct PolicyDeclarations {
    /// A policy: the key is the table's name; the columns are the column's name, the kind,
    /// the name of the function or "", the timestamp in decimal digits, and the replica.
    static let policies = "_sync_policy"
    /// The shares of a counter: the key is the table's name; the columns are the
    /// counter's name, and for each share the name of its column and the replica.
    static let shares = "_sync_share"

    /// The tables that the header of a bundle needs.
    static func tables(_ db: Database, of tables: [SyncedTable]) throws -> [BundleHeader.Table] {
        let numbers = Set(tables.map(\.number))
        let entries = try PolicyStore.loadAll(db).filter {
            numbers.contains($0.table) && $0.policy.kind.hasAdmissibleName
        }
        guard !entries.isEmpty else { return [] }
        let counters = try SeparateColumns.loadAll(db)
        let names = Dictionary(
            tables.flatMap { table in table.columns.map { ([table.number, Int64($0.number)], $0.name) } },
            uniquingKeysWith: { first, _ in first })
        return entries.flatMap { entry in
            let kind = entry.policy.kind
            let policy = BundleHeader.Table(
                name: policies, key: entry.policy.table,
                columns: [
                    entry.policy.column, kind.word, kind.policy.functionName, "\(entry.timestamp)",
                    "\(entry.replica)",
                ])
            let columns = counters[entry.table]
            let parts = (columns?.shares[entry.column] ?? []).flatMap { share -> [String] in
                guard let name = names[[entry.table, Int64(share)]], let owner = columns?.owners[share] else {
                    return []
                }
                return [name, "\(owner)"]
            }
            guard !parts.isEmpty else { return [policy] }
            return [
                policy,
                BundleHeader.Table(
                    name: shares, key: entry.policy.table, columns: [entry.policy.column] + parts),
            ]
        }
    }

    /// The declarations by the table that they are about.
    let groups: [String: [BundleHeader.Table]]

    init(_ header: BundleHeader) {
        groups = Dictionary(
            grouping: header.tables.filter { [Self.policies, Self.shares].contains($0.name) },
            by: \.key.identifierKey)
    }

    /// Whether a bundle says anything of policies and counters.
    func concerns(_ named: some Sequence<BundleHeader.Table>) -> Bool {
        // Most tables have no counters, and no policies.
        !groups.isEmpty || named.contains { Self.hasShares($0) }
    }

    private static func hasShares(_ header: BundleHeader.Table) -> Bool {
        header.columns.contains { $0.utf8.contains(UInt8(ascii: "+")) }
    }

    /// Takes over what a bundle says, and what the names of its columns say: a program
    /// that knows nothing of counters forwards their shares without these declarations.
    ///
    /// - parameter match: Finds a table of the bundle here, with its columns.
    func learn(
        _ store: PolicyStore, _ named: some Sequence<BundleHeader.Table>,
        match: (BundleHeader.Table) throws -> (table: SyncedTable, columns: [SyncedTable.Column])
    ) throws {
        for header in named {
            let groups = groups[header.name.identifierKey] ?? []
            guard !groups.isEmpty || Self.hasShares(header) else { continue }
            let (table, columns) = try match(header)
            let numbers = Dictionary(
                zip(header.columns.map(\.identifierKey), columns.map(\.number)),
                uniquingKeysWith: { first, _ in first })
            try learnPolicies(store, groups, table, numbers)
            try learnShares(store, groups, table, numbers)
        }
    }

    private func learnPolicies(
        _ store: PolicyStore, _ groups: [BundleHeader.Table], _ table: SyncedTable, _ numbers: [String: Int]
    ) throws {
        for group in groups where group.name == Self.policies && group.columns.count >= 5 {
            let words = group.columns
            guard let column = numbers[words[0].identifierKey],
                let kind = ColumnPolicy.Kind(word: words[1], functionName: words[2]), kind.hasAdmissibleName,
                let timestamp = Int64(words[3]), (0...AdmissionLimits.timestampMax).contains(timestamp),
                let replica = CounterStore.parse(shareName: "+\(words[4])")?.replica
            else { continue }
            try store.learn(kind, ofColumn: column, in: table, timestamp: timestamp, replica: replica)
        }
    }

    private typealias Share = (column: Int, counter: Int, replica: ReplicaID)

    private func learnShares(
        _ store: PolicyStore, _ groups: [BundleHeader.Table], _ table: SyncedTable, _ numbers: [String: Int]
    ) throws {
        var shares: [Share] = []
        var declared: Set<Int> = []
        for group in groups where group.name == Self.shares {
            guard let first = group.columns.first, let counter = numbers[first.identifierKey] else {
                continue
            }
            for index in stride(from: 1, to: group.columns.count - 1, by: 2) {
                guard let column = numbers[group.columns[index].identifierKey], column != counter,
                    let replica = CounterStore.parse(shareName: "+\(group.columns[index + 1])")?.replica
                else { continue }
                declared.insert(column)
                shares.append((column, counter, replica))
            }
        }
        for (name, column) in numbers where !declared.contains(column) {
            guard let share = CounterStore.parse(shareName: name), let counter = numbers[share.column]
            else { continue }
            shares.append((column, counter, share.replica))
        }
        guard !shares.isEmpty else { return }
        let known = try SeparateColumns.loadAll(store.db)[table.number]
        var counters = Set((known?.shares ?? [:]).keys)
        // A column of the user's is no share, whatever its name is.
        let elsewhere = Set(table.columns.filter { $0.place == .elsewhere }.map(\.number))
        for share in shares.sorted(by: { $0.column < $1.column })
        where known?.owners[share.column] == nil && elsewhere.contains(share.column) {
            if counters.insert(share.counter).inserted {
                try store.learn(
                    .counter, ofColumn: share.counter, in: table, timestamp: 0, replica: share.replica)
            }
            try CounterStore.register(
                store.db, share: share.column, of: share.counter, in: table.number, replica: share.replica)
            try adoptParked(store.db, share.column, share.counter, table)
        }
    }

    /// Shares that came before anybody here knew what they are, and are parked.
    private func adoptParked(_ db: Database, _ share: Int, _ counter: Int, _ table: SyncedTable) throws {
        let rows = try Row.fetchAll(
            db, sql: "SELECT pk, val FROM _sync_shadow WHERE tbl = ? AND col = ?",
            arguments: [table.number, share])
        guard !rows.isEmpty, let store = try CounterStore.ifNeeded(db) else { return }
        try Parking.forget(db, column: share, of: table.number)
        let target = try AppliedTable(db, table, columns: table.columns)
        for row in rows {
            let owned = (
                key: OwnedValue.make(try row.decode(atIndex: 0)),
                value: OwnedValue.make(try row.decode(atIndex: 1))
            )
            let key = RowKey(owned.key.value)
            var values = [share: owned.value.value]
            try store.absorb(&values, .update, table.number, key)
            if let name = target.presentNames[counter], let sum = values[counter], try target.hasRow(key) {
                // What a constraint refuses stays as it is until the row is written the next time.
                _ = try target.update(key, [(name: name, value: sum)])
            }
            withExtendedLifetime(owned) {}
        }
        // The sums may be UNIQUE, and no bundle names the rows.
        try SettlementMark.remove(db)
    }
}
