import CipherStore
import SyncWire

/// Deletions that nobody remembers, while a bundle is applied: it may bring changes of rows that
/// were deleted here, and a bundle of all rows says by its silence which rows have to go.
///
/// What is known, and by whom, is that of the row's table, so it comes with the ``AppliedPart``.
final class ForgottenDeletions {
    private let versions: VersionTable
    private let journal: ConflictJournal
    private let parking: Parking
    private let settlement: Settlement
    private let resync: Resync?
    /// What policies keep, which is lost value by value.
    var separate: SeparateCells?
    private let end: Stamp
    private let requireTime: () throws -> Void
    /// The values that were lost with rows that went, or were not taken in.
    private(set) var conflictCount: Int64 = 0
    /// The rows that went because the bundle does not mention them.
    private(set) var rowCount: Int64 = 0

    /// - parameters:
    ///     - resync: Notes the rows of a bundle that holds all rows of some tables.
    ///     - end: The stamp that stands for the deletions.
    ///     - requireTime: Asked for each row that goes. Throws when the application takes longer than it may.
    init(
        versions: VersionTable, journal: ConflictJournal, parking: Parking, settlement: Settlement,
        resync: Resync?, end: Stamp, requireTime: @escaping () throws -> Void
    ) {
        self.versions = versions
        self.journal = journal
        self.parking = parking
        self.settlement = settlement
        self.resync = resync
        self.end = end
        self.requireTime = requireTime
    }

    // MARK: Rows of the bundle

    /// Notes a row of a bundle that holds all rows of its table.
    func mention(_ table: Int64, _ key: RowKey) throws { try resync?.mention(table, key) }

    /// Takes a row out, or a deletion, that has to make room for the bundle's row.
    ///
    /// - parameter holdsAll: Whether the sender holds all rows of the table.
    /// - returns: The row, if it stays.
    func keep(
        _ local: (row: Int64, version: RowVersion)?, beside change: RowChange, _ part: AppliedPart,
        _ table: AppliedTable, _ key: RowKey, holdsAll: Bool
    ) throws -> (row: Int64, version: RowVersion)? {
        if holdsAll, let local, isForgottenThere(local.version, change, part) {
            try versions.remove(local.version, row: local.row, table.table.number, key)
            return nil
        }
        guard part.isResync, let resync, let local,
            resync.isOutlived(
                local.version, by: change, knownTo: part.peer,
                shares: separate?.owned(of: table.table.number) ?? [])
        else { return local }
        if local.version.isAlive { try takeOut(local.version, part, table, key) }
        try versions.forget(row: local.row)
        return nil
    }

    /// Whether the sender knew a deletion that is here, and has forgotten it: or else the row that it tells would be
    /// of a life after it. A replica that forgot the deletion of a row can hear of an older one afterwards.
    private func isForgottenThere(_ local: RowVersion, _ change: RowChange, _ part: AppliedPart) -> Bool {
        guard !local.isAlive, change.isAlive, change.life < local.life, let base = change.base else {
            return false
        }
        return part.peer.contains(local.base) && !part.known.contains(base)
    }

    /// Whether a change is of a life before a deletion that was forgotten here: its row was here
    /// once, and would not have lost against the one that is.
    func isForgotten(_ change: RowChange, beside local: RowVersion, _ part: AppliedPart) -> Bool {
        guard part.forgotten.exist, let base = change.base, base != local.base, part.known.contains(base)
        else { return false }
        return change.life > local.life || (change.life == local.life && base.isNewer(than: local.base))
    }

    /// A change without the writes of a former row: one whose deletion was forgotten here before the row was inserted that
    /// is here now. Nothing but what is known tells the two rows apart, because lives begin at 1 again.
    ///
    /// The sender does not know the row here, so it says nothing of it. A write that is known here was taken into account
    /// when it came: it is in this row, or it lost, or its row is gone.
    ///
    /// - returns: Nil when that leaves nothing that could be merged.
    func withoutFormerWrites(
        _ change: RowChange, beside local: RowVersion, _ part: AppliedPart
    ) -> RowChange? {
        guard part.forgotten.exist, local.isAlive, change.isAlive, !part.peer.contains(local.base),
            change.base.map(part.known.contains) ?? true
        else { return change }
        var change = change
        change.writes = change.writes.filter { !part.known.contains($0.value.stamp) }
        return change.writes.isEmpty ? nil : change
    }

    /// Does not take a row in whose deletion was forgotten. What nobody here has seen of it is kept.
    func discard(_ change: RowChange, _ part: AppliedPart, _ table: AppliedTable, _ key: RowKey) throws {
        guard change.isAlive else { return }
        var plan = MergePlan(life: change.life, base: end)
        plan.lostLife = change.life
        plan.conflicts = change.writes.filter { !part.known.contains($0.value.stamp) }
            .sorted { $0.key < $1.key }
            .map { column, write in
                MergePlan.Conflict(
                    column: column, lost: write.value, lostStamp: write.stamp, winner: end, reason: .deleted)
            }
        assert(plan.hasOrderedConflicts)
        conflictCount += try journal.append(plan, table.table.number, key, versions)
    }

    // MARK: Rows that are not in it

    /// Takes out the rows that were deleted while this replica was away.
    ///
    /// - parameter parts: The part of each table.
    func finish(_ tables: [AppliedTable], _ parts: [AppliedPart]) throws {
        guard let resync else { return }
        var rest = tables.indices.filter { parts[$0].isResync }
        while let first = rest.first {
            let part = parts[first]
            let group = rest.filter { parts[$0] === part }
            assert(part.isResync && !group.isEmpty)
            rest.removeAll { parts[$0] === part }
            try finish(resync, group.map { tables[$0] }, part)
        }
        try versions.digests?.invalidate()
        try resync.finish()
    }

    private func finish(_ resync: Resync, _ tables: [AppliedTable], _ part: AppliedPart) throws {
        for row in try resync.deletedRows(tables.map(\.table.number), knownTo: part.peer) {
            try requireTime()
            guard let table = tables.first(where: { $0.table.number == row.table }) else { continue }
            let owner = OwnedValue.make(row.key)
            try withExtendedLifetime(owner) {
                let key = RowKey(owner.value)
                if let local = try versions.load(row.table, key)?.version, local.isAlive {
                    try takeOut(local, part, table, key)
                }
                try resync.forget(row)
            }
            rowCount += 1
        }
    }

    private func takeOut(
        _ local: RowVersion, _ part: AppliedPart, _ table: AppliedTable, _ key: RowKey
    ) throws {
        assert(local.isAlive, "a row that is gone can't be taken out")
        var plan = MergePlan(life: local.life, base: end)
        plan.lostLife = local.life
        try table.reader.load(key: key, hasParkedValues: parking.isInUse)
        var values: [Int: WireValue] = [:]
        var owned: [OwnedValue] = []
        for (ordinal, column) in table.table.columns.enumerated() where table.reader.hasValue(ordinal) {
            owned.append(OwnedValue(copying: table.reader.value(ordinal)))
            values[column.number] = owned[owned.count - 1].value
        }
        table.reader.finish()
        try separate?.uncover(&values, &owned, table.table.number, key)
        for (column, value) in values.sorted(by: { $0.key < $1.key }) {
            let stamp = local.stamp(ofColumn: column)
            let isKnown = part.peer.contains(stamp)
            plan.conflicts.append(
                .init(
                    column: column, lost: value, lostStamp: stamp, winner: end,
                    reason: isKnown ? .row : .deleted))
        }
        if plan.conflicts.allSatisfy({ $0.reason == .row }) { plan.conflicts = [] }
        try withExtendedLifetime(owned) {
            conflictCount += try journal.append(plan, table.table.number, key, versions)
        }
        try parking.remove(table.table.number, key)
        try table.delete(key)
        try settlement.touch(table.table.number, key)
    }
}
