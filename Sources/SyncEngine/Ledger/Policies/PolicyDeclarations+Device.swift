import SyncWire

/// What a device with bounds may say of policies and counters.
extension PolicyDeclarations {
    /// Throws when a bundle says anything of policies that is not known here: how columns are merged concerns everybody.
    /// The device's own shares of counters are the exception.
    ///
    /// - throws: ``SyncError`` of code `outsideScope`.
    func requireKnown(
        _ names: KnownNames, _ policies: [PolicyStore.Entry], _ counters: [Int64: SeparateColumns],
        sender: ReplicaID
    ) throws {
        for group in groups.values.joined() {
            guard let table = names.number(ofTable: group.key), let first = group.columns.first else {
                continue
            }
            let column = names.column(first, of: table)?.number
            let isKnown =
                group.name == Self.policies
                ? Self.saysNothing(group, column, table, policies)
                    || policies.contains {
                        $0.table == table && $0.column == column && !Self.changes($0, group)
                    }
                : areKnown(group, column, table, names, counters[table], sender)
            guard !isKnown else { continue }
            throw SyncError(
                .outsideScope,
                """
                the bundle says how column \(first.debugDescription) of table \(group.key.debugDescription) is merged, \
                which is not known at the server, and this device may not: declare it there first
                """)
        }
    }

    /// Whether a declaration says what holds without one.
    private static func saysNothing(
        _ group: BundleHeader.Table, _ column: Int?, _ table: Int64, _ policies: [PolicyStore.Entry]
    ) -> Bool {
        guard group.columns.count >= 3 else { return true }
        let kind = ColumnPolicy.Kind(word: group.columns[1], functionName: group.columns[2])
        return kind == .lastWriter && !policies.contains { $0.table == table && $0.column == column }
    }

    /// Whether a declaration would take the place of a policy.
    private static func changes(_ entry: PolicyStore.Entry, _ group: BundleHeader.Table) -> Bool {
        let words = group.columns
        guard words.count >= 5, let kind = ColumnPolicy.Kind(word: words[1], functionName: words[2]),
            let timestamp = Int64(words[3]), kind != entry.policy.kind
        else { return false }
        return kind.replaces(entry.policy.kind, isNewer: timestamp >= entry.timestamp)
    }

    private func areKnown(
        _ group: BundleHeader.Table, _ counter: Int?, _ table: Int64, _ names: KnownNames,
        _ counters: SeparateColumns?, _ sender: ReplicaID
    ) -> Bool {
        guard let counter, let counters, counters.isShown(counter) else { return false }
        return stride(from: 1, to: group.columns.count - 1, by: 2).allSatisfy { index in
            let owner = CounterStore.parse(shareName: "+\(group.columns[index + 1])")?.replica
            if let share = names.column(group.columns[index], of: table)?.number,
                counters.shares[counter]?.contains(share) == true
            {
                return counters.owners[share] == owner
            }
            return owner == sender && CounterStore.parse(shareName: group.columns[index])?.replica == sender
        }
    }
}
