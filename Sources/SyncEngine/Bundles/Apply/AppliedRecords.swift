import CipherStore
import SyncWire

/// Applies the rows of a bundle whose header was opened, and what follows from all of them.
final class AppliedRecords {
    private let stores: ApplyingStores
    private let context: BundleContext
    private var records: BundleRecords
    private let writer: RowWriter
    private let halfKnown: HalfKnownDeletions
    private var summary = ApplySummary()
    /// What was known of the row that is being applied, where that is less than of its table.
    private var wasKnown: VersionVector?
    /// Rows that the bundle changes and does not begin, and that are not here.
    private var missing = MissingRows()

    private var db: Database { stores.db }
    private let tables: [AppliedTable]

    init(_ stores: ApplyingStores, _ context: BundleContext, _ records: BundleRecords) {
        self.stores = stores
        self.context = context
        tables = context.names.tables
        self.records = records
        writer = RowWriter(parking: stores.parking)
        halfKnown = HalfKnownDeletions(stores.db, stores.environment)
        summary.renewedReplica = context.formerReplica
    }

    // MARK: Rows

    /// Applies a row.
    func apply(_ record: borrowing RowRecord) throws {
        summary.rowCount += 1
        try stores.clock.beginRow()
        guard record.table < tables.count else {
            throw SyncError(.invalidBundle, "the bundle has a row of a table that can't have any")
        }
        let table = tables[record.table]
        let part = context.parts.byTable[record.table]
        let key = RowKey(bytes: record.key, isText: record.isTextKey)
        assert(key.isUUIDLong)
        try Admission.check(life: record.life)
        try records.note(record, part.targetSequences)
        if record.isLeave {
            guard let rows = context.rows else {
                throw SyncError(.invalidBundle, "the bundle says that a row left its table")
            }
            summary.changedRowCount += 1
            return try rows.leave(table, key)
        }
        if let uploads = stores.uploads {
            try uploads.checkAuthors(
                of: records.change(record, table), sender: context.header.sender, table, key,
                isForgotten: record.base.map(part.forgotten.covers) ?? part.forgotten.exist)
        }
        try stores.uploads?.before(table, key)
        try context.settlement.touch(table.table.number, key)
        // Before it loses its mark.
        wasKnown = part.isRestricted ? try context.rows?.known(table.table.number, key) : nil
        if part.isRestricted { try context.rows?.mention(table.table.number, key) }
        if part.isResync { try context.deletions.mention(table.table.number, key) }
        if let base = record.base, record.isAlive, !table.namesColumnsTwice, !part.forgotten.covers(base),
            try stores.versions.insertIfNew(table.table.number, key, life: record.life, records.stamp(base))
        {
            try insertNew(record, table, key)
            summary.changedRowCount += 1
        } else {
            try merge(record, table, part, key)
        }
        try stores.uploads?.after(table, key)
    }

    /// The fast way for a row that was never seen: what ``Merge`` plans for it,
    /// without building the plan. A test compares the two.
    private func insertNew(_ record: borrowing RowRecord, _ table: AppliedTable, _ key: RowKey) throws {
        let row = record.cells.count > 0 ? db.lastInsertedRowID : 0
        for index in 0..<record.cells.count {
            let cell = record.cells[index]
            try stores.versions.insertCell(
                row: row, column: table.columnNumbers[cell.column], records.stamp(cell.stamp),
                of: table.table.number, key)
        }
        let isWhole = record.baseValues.count + record.cells.count == table.columnNumbers.count
        guard isWhole, table.knowsEveryColumn, let statement = table.wholeInsert,
            context.names.separate?.tables[table.table.number] == nil
        else {
            var values = records.values(record, table)
            try context.names.separate?.absorb(&values, .insert, table.table.number, key)
            return try writer.write(values, table, key)
        }
        let raw = statement.sqliteStatement
        RawStep.reset(raw)
        key.value.bind(raw, 1)
        var mayConvert = false
        for index in 0..<record.baseValues.count {
            let (column, value) = (record.baseValues[index].column, record.baseValues[index].value)
            try value.bind(to: statement, table.insertParameters[column])
            if table.affinities[column].mayConvert(value) { mayConvert = true }
        }
        for index in 0..<record.cells.count {
            let (column, value) = (record.cells[index].column, record.cells[index].value)
            try value.bind(to: statement, table.insertParameters[column])
            if table.affinities[column].mayConvert(value) { mayConvert = true }
        }
        if let failure = try table.constraintFailure(of: statement) {
            try stores.parking.hide(table, key, records.values(record, table), because: failure)
        } else if mayConvert {
            let names = table.presentNames
            try table.keepOriginals(
                key,
                records.values(record, table).compactMap { column, value in
                    names[column].map { (name: $0, value: value) }
                })
        }
    }

    /// The way through the pure merge.
    private func merge(
        _ record: borrowing RowRecord, _ table: AppliedTable, _ part: AppliedPart, _ key: RowKey
    ) throws {
        var change = records.change(record, table)
        var local = try stores.versions.load(table.table.number, key)
        let deletions = context.deletions
        local = try deletions.keep(
            local, beside: change, part, table, key, holdsAll: !context.isPartial(record.table))
        let isForgotten =
            local.map { deletions.isForgotten(change, beside: $0.version, part) }
            ?? record.base.map(part.forgotten.covers) ?? part.forgotten.exist
        if isForgotten {
            try stores.uploads?.check(nil, beside: local?.version, table, key)
            return try deletions.discard(change, part, table, key)
        }
        if let local {
            guard let rest = deletions.withoutFormerWrites(change, beside: local.version, part) else {
                return try stores.uploads?.check(nil, beside: local.version, table, key) ?? ()
            }
            change = rest
        }
        var owned: [OwnedValue] = []
        var converted: [Int] = []
        var version = local?.version
        if version?.isAlive == true { converted = try readValues(&version, &owned, table, key) }
        let known = wasKnown ?? part.known
        if let uploads = stores.uploads {
            change = try uploads.withoutContradictions(
                change, beside: version, knownUpTo: known[context.header.sender],
                sender: context.header.sender, isRepair: context.isRepair, table)
        }
        guard
            var plan = Merge.plan(
                local: version, incoming: change, peer: peer(part, change, beside: version, record.table),
                known: known, isRepair: context.isRepair,
                separate: context.names.separate?.owned(of: table.table.number) ?? [])
        else { return missing.add(context.header.tables[record.table].name, key) }
        try stores.uploads?.check(plan, beside: local?.version, table, key)
        // What somebody knows of a table that it holds in part says nothing of each row.
        if let local, change.isAlive != local.version.isAlive, !part.isRestricted,
            !context.isRepair, !context.isPartial(record.table)
        {
            try halfKnown.note(change, beside: local.version, part, table.table.number, key)
        }
        if let local { try keepLastRow(&plan, local, values: version?.values ?? [:], table, key, &owned) }
        try withExtendedLifetime(owned) {
            try carryOut(&plan, local: (local?.row, local?.version, version), part, table, key)
            guard plan.action == .keep || plan.action == .update else { return }
            assert(converted.isEmpty || version?.life == plan.life, "values of another life would stand")
            // What stayed may have got the stamp of an equal write.
            for column in converted where plan.writes[column] == nil && !plan.resets.contains(column) {
                guard let value = version?.values[column] else { continue }
                try table.reader.originals.record(value, column: column, key)
            }
        }
    }

    /// Adds the values that a row has here to its version.
    ///
    /// - returns: The columns whose values are not as they were written.
    private func readValues(
        _ version: inout RowVersion?, _ owned: inout [OwnedValue], _ table: AppliedTable, _ key: RowKey
    ) throws -> [Int] {
        guard var known = version else { return [] }
        try table.reader.load(key: key, hasParkedValues: stores.parking.isInUse)
        let lost = context.lost[table.table.number]
        for (ordinal, column) in table.table.columns.enumerated() where table.reader.hasValue(ordinal) {
            if lost?.contains(column.number, of: known) == true, !table.reader.isParked(ordinal) { continue }
            let value = OwnedValue(copying: table.reader.value(ordinal))
            owned.append(value)
            known.values[column.number] = value.value
        }
        let converted = table.reader.convertedColumns
        table.reader.finish()
        try context.names.separate?.uncover(&known.values, &owned, table.table.number, key)
        version = known
        return converted
    }

    /// Writes what a merge plans, and notes what was lost.
    ///
    /// - parameter local: The row here, its version without values, and with them.
    private func carryOut(
        _ plan: inout MergePlan, local: (row: Int64?, bare: RowVersion?, version: RowVersion?),
        _ part: AppliedPart, _ table: AppliedTable, _ key: RowKey
    ) throws {
        try stores.versions.store(plan, row: local.row, replacing: local.bare, table.table.number, key)
        let count = try stores.journal.append(plan, table.table.number, key, stores.versions)
        summary.conflictCount += count
        summary.sharedConflictCount += min(count, plan.sharedConflictCount(part.peer))
        let isUnchanged = local.bare.map { plan.keepsVersions(of: $0) } ?? false
        if count > 0 || plan.action != .keep || !isUnchanged { summary.changedRowCount += 1 }
        try writer.reset(&plan, table, key)
        // A column that goes back to its default has one more value that can stand.
        try context.names.merges?.merge(plan, local: local.version, table.table, key)
        try context.names.separate?.absorb(&plan.writes, plan.action, table.table.number, key)
        try writer.carryOut(plan, table, key)
    }

    /// Keeps the values of a row that goes, or adds what was kept of it to an edit that comes too late.
    private func keepLastRow(
        _ plan: inout MergePlan, _ local: (row: Int64, version: RowVersion), values: [Int: WireValue],
        _ table: AppliedTable, _ key: RowKey, _ owned: inout [OwnedValue]
    ) throws {
        let life = local.version.life
        if plan.action == .delete || plan.action == .replace {
            let milliseconds = stores.environment.milliseconds()
            return try stores.lastRows.keep(values, row: local.row, life: life, at: milliseconds)
        }
        guard plan.lostLife < life, plan.conflicts.contains(where: { $0.reason == .deleted }) else { return }
        plan = try stores.lastRows.complete(
            plan, row: local.row, table.table.number, key, own: context.own,
            context.names.separate?.tables[table.table.number], &owned)
    }

    /// What the sender knew of a row. Who holds some rows of a table only, and inserted one that was
    /// there already, in this life or a later one, may not have had it, whatever it knows of the table.
    private func peer(
        _ part: AppliedPart, _ change: RowChange, beside local: RowVersion?, _ table: Int
    ) -> VersionVector {
        guard let base = change.base, change.isAlive, let local, local.isAlive, local.life <= change.life,
            local.base != base, context.isPartial(table)
        else { return part.peer }
        return VersionVector()
    }

    // MARK: The end

    /// Ends the application: settles what the tables show, and moves the vector.
    func finish(_ muting: Muting) throws -> ApplySummary {
        assert(summary.changedRowCount <= summary.rowCount)
        assert(summary.sharedConflictCount <= summary.conflictCount)
        let now = stores.environment.milliseconds()
        try stores.uploads?.finish()
        try missing.requireNone()
        try context.rows?.finish(tables)
        let emptied = context.parts.emptied
        let triggers = try emptied.isEmpty ? nil : PresentTriggers(db)
        try context.deletions.finish(
            tables
                + emptied.map {
                    try AppliedTable(db, $0.table, columns: $0.table.columns, triggers: triggers)
                },
            context.parts.byTable + emptied.map(\.part))
        summary.conflictCount += context.deletions.conflictCount
        summary.rowCount += context.deletions.rowCount
        summary.changedRowCount += context.deletions.rowCount
        try halfKnown.finish()
        // A new identity is another winner of rows of the same moment.
        let isFull = context.names.hasUnitedColumns || context.formerReplica != nil
        try context.settlement.run(isFull: isFull, muting)
        summary.unparkedCount = stores.parking.shownRowCount
        summary.parkedCount = stores.parking.parkedRowCount
        if records.newestBeyond > 0 {
            summary.skewMilliseconds = max(0, (records.newestBeyond >> 16) - now)
            summary.skewedReplica = records.replicaBeyond
        }
        try ConflictRetention.load(db).pruneIfDue(db, now: now)
        if stores.lastRows.hasKept { try stores.lastRows.prune(now: now) }
        try moveVector(now)
        try muting.end(
            clock: records.newest, hasChanges: summary.rowCount + summary.unparkedCount > 0,
            mark: context.settlement.finish)
        // Edits of this replica, which are settled with the next ones.
        summary.conflictCount -= try context.names.merges?.finish() ?? 0
        return summary
    }

    /// Notes that the bundle is known. A repair brings nothing new.
    private func moveVector(_ now: Int64) throws {
        try stores.versions.digests?.flush()
        guard !context.isRepair else { return }
        try ReplicaRegister(db: db).raise(to: context.header.target, at: now)
        try context.parts.conclude(db)
        try context.rows?.conclude()
        try Coverage.normalize(db)
        try debugAssert(
            StoreMetadata.require(db).vector.covers(context.before.whole.known), "less is known than before")
        try Coverage.requireRoom(db, before: context.before)
        try context.admission.conclude()
    }
}
