import CipherStore
import SyncWire

/// Applies a bundle to a store, in the transaction of its caller: all of it,
/// with the vector, the conflicts and the parked rows, or nothing.
///
/// Foreign keys are off while it runs: a peer's cascades come as deletes of
/// their own, and rows may come before their parents. What the tables show of all
/// that came is found out at the end, by ``Settlement``.
final class BundleApplier {
    private let db: Database
    private let environment: SyncEnvironment
    private var metadata: StoreMetadata
    private let versions: VersionTable
    private let journal: ConflictJournal
    private let parking: Parking
    private var reader: BundleReader
    private var tables: [AppliedTable] = []
    private var parts: AppliedParts?
    private var partOfTable: [AppliedPart] = []
    private var summary = ApplySummary()
    private let writer: RowWriter
    private var records: BundleRecords
    private let triggers: UserTriggers
    private var settlement: Settlement?
    private var counters: CounterStore?
    private let policies: MergePolicies?
    private var merges: CustomMerges?
    /// Whether two columns turned out to be one, so that values may have found their place.
    private var hasUnitedColumns = false
    private var before: Coverage?
    private var deletions: ForgottenDeletions?
    private let halfKnown: HalfKnownDeletions
    private let lastRows: LastRows
    private var rows: AppliedRows?
    /// What was known of the row that is being applied, where that is less than of its table.
    private var wasKnown: VersionVector?
    private let terms: UploadTerms
    private let access: DeviceAccess?
    private let uploads: UploadedRows?
    /// Whether the header asks for a new identity that the bundle does not fit. Only its end shows
    /// whether it is what the sender wrote, so it is read that far.
    private var needsRenewal = false
    /// Rows that it changes and does not begin, and that are not here.
    private var missing = MissingRows()
    /// The header, once it was read.
    private(set) var header: BundleHeader?

    /// Prepares the application. The log is folded first, so that local edits
    /// have versions to be merged with.
    ///
    /// - parameter terms: What the sender may bring.
    init(
        _ db: Database, _ environment: SyncEnvironment, on terms: UploadTerms = .unbounded,
        policies: MergePolicies? = nil
    ) throws {
        self.db = db
        self.policies = policies
        self.environment = environment
        try TableTracking(db: db, environment: environment).refresh()
        try Fold(db: db, environment: environment).run()
        self.terms = terms
        access = try terms.bounds.map { try DeviceAccess(db, $0) }
        uploads = try access.map { try UploadedRows(db, $0) }
        metadata = try StoreMetadata.require(db)
        versions = try VersionTable(db)
        journal = try ConflictJournal(db, at: environment.milliseconds())
        parking = try Parking(db, now: environment.milliseconds())
        writer = RowWriter(parking: parking)
        halfKnown = HalfKnownDeletions(db, environment)
        lastRows = LastRows(db)
        reader = BundleReader(limits: terms.limits)
        records = BundleRecords(adoptionBound: environment.adoptionBound)
        try db.execute(sql: "UPDATE _sync_state SET applying = 1")
        triggers = try UserTriggers.suspend(db, tables: SyncedTable.loadAll(db))
    }

    /// Takes the next frame of the bundle.
    func consume(_ frame: UnsafeRawBufferPointer) throws {
        try reader.consume(
            frame,
            onHeader: { header in
                do { try self.begin(header) } catch is RenewalRequired { needsRenewal = true }
            }, onRow: { if !needsRenewal { try self.apply($0) } })
    }

    private func begin(_ header: BundleHeader) throws {
        guard header.store == metadata.store else {
            throw SyncError(.otherStore, "the bundle belongs to another database")
        }
        try Admission.check(header)
        var header = header
        if let access {
            try access.check(header, KnownNames(db), Coverage.load(db, metadata))
            header = access.restricted(header)
        }
        metadata = try admit(header)
        try records.begin(header, metadata, db)
        versions.replicas = Dictionary(
            (metadata.replicas.map { ($0.sid, $0.id) } + records.replicas.map { ($0.number, $0.id) }),
            uniquingKeysWith: { first, _ in first })
        try match(header)
        try uploads?.begin(versions)
        settlement = try Settlement(db, environment, parking)
        try divide(header)
        versions.digests = try digests()
    }

    /// Checks that the bundle may be applied, after this replica got a new identity if the
    /// bundle shows that it needs one.
    private func admit(_ header: BundleHeader) throws -> StoreMetadata {
        self.header = header
        let admission = BundleAdmission(db: db, environment: environment, header: header)
        summary.renewedReplica = try admission.renewIfNeeded()
        let metadata = try StoreMetadata.require(db)
        before = try Coverage.load(db, metadata)
        try admission.admit(metadata, isRenewed: summary.renewedReplica != nil)
        return try StoreMetadata.require(db)
    }

    /// Finds what the bundle says of each table, and what was known of it.
    private func divide(_ header: BundleHeader) throws {
        guard let before, let settlement else { return }
        let parts = try AppliedParts(
            db, BundleAdmission(db: db, environment: environment, header: header),
            tables: tables.map(\.table.number), before: before, isRenewed: summary.renewedReplica != nil)
        self.parts = parts
        partOfTable = parts.byTable
        let end = Stamp(
            timestamp: HybridTimestamp(milliseconds: environment.milliseconds()), replica: header.sender,
            sequence: 0)
        let isResync = parts.byTable.contains(where: \.isResync) || parts.rows.contains(where: \.isFull)
        let resync = isResync ? try Resync(db) : nil
        deletions = ForgottenDeletions(
            versions: versions, journal: journal, parking: parking, settlement: settlement, resync: resync,
            end: end)
        deletions?.counters = counters
        guard !parts.rows.isEmpty else { return }
        rows = AppliedRows(
            db, parts.rows, before.partials, versions, parking, settlement, mentioned: resync)
        try rows?.begin()
    }

    /// The sums, with everything in them that was here before the bundle.
    private func digests() throws -> DigestLedger {
        let digests = try DigestLedger(db, StoreMetadata.require(db))
        try digests.catchUp()
        return digests
    }

    /// Whether the bundle repairs a divergence: all of some rows, and nothing new.
    private var isRepair: Bool { header?.facts.isRepair == true }

    private func match(_ header: BundleHeader) throws {
        let matching = try NameMatching(db, environment, NameDeclarations(header))
        let before = matching.columns()
        let named = try matching.learn(header)
        counters = try CounterStore.ifNeeded(db)
        journal.counters = counters
        merges = try CustomMerges.ifNeeded(
            db, policies, own: metadata.replicaID(), now: environment.milliseconds())
        // What is learnt from one table can concern another, so all are learnt first.
        tables = try named.map {
            let (table, columns) = try matching.match($0)
            return try AppliedTable(db, table, columns: columns, names: $0.columns, givenName: $0.name)
        }
        hasUnitedColumns = !matching.columns().isSuperset(of: before)
    }

    // MARK: Rows

    private func apply(_ record: borrowing RowRecord) throws {
        summary.rowCount += 1
        try terms.requireTime()
        guard record.table < tables.count else {
            throw SyncError(.invalidBundle, "the bundle has a row of a table that can't have any")
        }
        let table = tables[record.table]
        let part = partOfTable[record.table]
        let key = RowKey(bytes: record.key, isText: record.isTextKey)
        try Admission.check(life: record.life)
        try records.note(record, part.targetSequences)
        if record.isLeave {
            guard let rows else {
                throw SyncError(.invalidBundle, "the bundle says that a row left its table")
            }
            summary.changedRowCount += 1
            return try rows.leave(table, key)
        }
        if let uploads, let header {
            try uploads.checkAuthors(
                of: records.change(record, table), sender: header.sender, table, key,
                isForgotten: record.base.map(part.forgotten.covers) ?? part.forgotten.exist)
        }
        try uploads?.before(table, key)
        try settlement?.touch(table.table.number, key)
        // Before it loses its mark.
        wasKnown = part.isRestricted ? try rows?.known(table.table.number, key) : nil
        if part.isRestricted { try rows?.mention(table.table.number, key) }
        if part.isResync { try deletions?.mention(table.table.number, key) }
        if let base = record.base, record.isAlive, !table.namesColumnsTwice, !part.forgotten.covers(base),
            try versions.insertIfNew(table.table.number, key, life: record.life, records.stamp(base))
        {
            try insertNew(record, table, key)
            summary.changedRowCount += 1
        } else {
            try merge(record, table, part, key)
        }
        try uploads?.after(table, key)
    }

    /// The fast way for a row that was never seen: what ``Merge`` plans for it,
    /// without building the plan. A test compares the two.
    private func insertNew(_ record: borrowing RowRecord, _ table: AppliedTable, _ key: RowKey) throws {
        let row = record.cells.count > 0 ? db.lastInsertedRowID : 0
        for index in 0..<record.cells.count {
            let cell = record.cells[index]
            try versions.insertCell(
                row: row, column: table.columnNumbers[cell.column], records.stamp(cell.stamp),
                of: table.table.number, key)
        }
        let isWhole = record.baseValues.count + record.cells.count == table.columnNumbers.count
        guard isWhole, table.knowsEveryColumn, let statement = table.wholeInsert,
            counters?.tables[table.table.number] == nil
        else {
            var values = records.values(record, table)
            try counters?.absorb(&values, .insert, table.table.number, key)
            return try writer.write(values, table, key)
        }
        let raw = statement.sqliteStatement
        RawStep.reset(raw)
        key.value.bind(raw, 1)
        var mayConvert = false
        for index in 0..<record.baseValues.count {
            let (column, value) = (record.baseValues[index].column, record.baseValues[index].value)
            value.bind(raw, table.insertParameters[column])
            if table.affinities[column].mayConvert(value) { mayConvert = true }
        }
        for index in 0..<record.cells.count {
            let (column, value) = (record.cells[index].column, record.cells[index].value)
            value.bind(raw, table.insertParameters[column])
            if table.affinities[column].mayConvert(value) { mayConvert = true }
        }
        if let failure = try table.constraintFailure(of: statement) {
            try parking.hide(table, key, records.values(record, table), because: failure)
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
        var local = try versions.load(table.table.number, key)
        if let deletions {
            local = try deletions.keep(
                local, beside: change, part, table, key, holdsAll: !isPartial(record.table))
            let isForgotten =
                local.map { deletions.isForgotten(change, beside: $0.version, part) }
                ?? record.base.map(part.forgotten.covers) ?? part.forgotten.exist
            if isForgotten { try uploads?.check(nil, beside: local?.version, table, key) }
            if isForgotten { return try deletions.discard(change, part, table, key) }
            if let local {
                change = deletions.withoutEndedShares(change, beside: local.version, part, table)
            }
        }
        var owned: [OwnedValue] = []
        var converted: [Int] = []
        var version = local?.version
        if var known = version, known.isAlive {
            try table.reader.load(key: key, hasParkedValues: parking.isInUse)
            for (ordinal, column) in table.table.columns.enumerated() where table.reader.hasValue(ordinal) {
                let value = OwnedValue(copying: table.reader.value(ordinal))
                owned.append(value)
                known.values[column.number] = value.value
            }
            converted = table.reader.convertedColumns
            table.reader.finish()
            try counters?.uncover(&known.values, &owned, table.table.number, key)
            version = known
        }
        if let uploads, let header {
            change = try uploads.withoutContradictions(
                change, beside: version, knownUpTo: (wasKnown ?? part.known)[header.sender],
                sender: header.sender, isRepair: isRepair, table)
        }
        guard
            var plan = Merge.plan(
                local: version, incoming: change, peer: peer(part, change, beside: version, record.table),
                known: wasKnown ?? part.known, isRepair: isRepair,
                separate: counters?.shares(of: table.table.number) ?? [])
        else { return missing.add(table.table.name, key) }
        try uploads?.check(plan, beside: local?.version, table, key)
        // What somebody knows of a table that it holds in part says nothing of each row.
        if let local, change.isAlive != local.version.isAlive, !part.isRestricted, !isRepair,
            !isPartial(record.table)
        {
            try halfKnown.note(change, beside: local.version, part, table.table.number, key)
        }
        if let local { try keepLastRow(&plan, local, values: version?.values ?? [:], table, key, &owned) }
        try withExtendedLifetime(owned) {
            try versions.store(
                plan, row: local?.row, replacing: local?.version, table.table.number, key)
            let count = try journal.append(plan, table.table.number, key, versions)
            summary.conflictCount += count
            summary.sharedConflictCount += min(count, plan.sharedConflictCount(part.peer))
            let isUnchanged = local.map { plan.keepsVersions(of: $0.version) } ?? false
            if count > 0 || plan.action != .keep || !isUnchanged { summary.changedRowCount += 1 }
            try merges?.merge(plan, local: version, table.table, key)
            try writer.reset(&plan, table, key)
            try counters?.absorb(&plan.writes, plan.action, table.table.number, key)
            try writer.carryOut(plan, table, key)
            guard plan.action == .keep || plan.action == .update else { return }
            // What stayed may have got the stamp of an equal write.
            for column in converted where plan.writes[column] == nil && !plan.resets.contains(column) {
                guard let value = version?.values[column] else { continue }
                try table.reader.originals.record(value, column: column, key)
            }
        }
    }

    /// Keeps the values of a row that goes, or adds what was kept of it to an edit that comes too late.
    private func keepLastRow(
        _ plan: inout MergePlan, _ local: (row: Int64, version: RowVersion), values: [Int: WireValue],
        _ table: AppliedTable, _ key: RowKey, _ owned: inout [OwnedValue]
    ) throws {
        let life = local.version.life
        if plan.action == .delete || plan.action == .replace {
            let milliseconds = environment.milliseconds()
            return try lastRows.keep(values, row: local.row, life: life, at: milliseconds)
        }
        guard plan.lostLife < life, plan.conflicts.contains(where: { $0.reason == .deleted }) else { return }
        plan = try lastRows.complete(
            plan, row: local.row, table.table.number, key, own: metadata.replicaID(),
            counters?.tables[table.table.number], &owned)
    }

    /// What the sender knew of a row. Who holds some rows of a table only, and inserted one that was
    /// there already, in this life or a later one, may not have had it, whatever it knows of the table.
    private func peer(
        _ part: AppliedPart, _ change: RowChange, beside local: RowVersion?, _ table: Int
    ) -> VersionVector {
        guard let base = change.base, change.isAlive, let local, local.isAlive, local.life <= change.life,
            local.base != base, isPartial(table)
        else { return part.peer }
        return VersionVector()
    }

    /// Whether the sender holds some rows of a table only.
    private func isPartial(_ table: Int) -> Bool {
        guard let header, !header.facts.partials.isEmpty else { return false }
        return header.facts.partials.find([header.tables[table].name]) != nil
    }

    // MARK: The end

    /// Ends the application: everything was there, the vector moves on.
    func finish() throws -> ApplySummary {
        guard reader.isComplete else { throw WireError(.truncated, "the bundle has no end") }
        guard !needsRenewal else { throw RenewalRequired() }
        try uploads?.finish()
        try missing.requireNone()
        try rows?.finish(tables)
        if let deletions {
            try deletions.finish(tables, partOfTable)
            summary.conflictCount += deletions.conflictCount
            summary.rowCount += deletions.rowCount
            summary.changedRowCount += deletions.rowCount
        }
        try halfKnown.finish()
        // A new identity is another winner of rows of the same moment.
        try settlement?.run(isFull: hasUnitedColumns || summary.renewedReplica != nil)
        summary.unparkedCount = parking.shownRowCount
        summary.parkedCount = parking.parkedRowCount
        if records.newestBeyond > 0 {
            summary.skewMilliseconds = max(0, (records.newestBeyond >> 16) - environment.milliseconds())
            summary.skewedReplica = records.replicaBeyond
        }
        try triggers.restore()
        try settlement?.finish()
        try ConflictRetention.load(db).prune(db, now: environment.milliseconds())
        if lastRows.hasKept { try lastRows.prune(now: environment.milliseconds()) }
        for (replica, sequence) in header?.target.sequences ?? [:] where !isRepair {
            try db.execute(
                sql: "UPDATE _sync_replica SET oseq = ?, seen = ? WHERE rid = ? AND oseq < ?",
                arguments: [sequence, environment.milliseconds(), replica.data, sequence])
        }
        try versions.digests?.flush()
        if let header, !isRepair {
            try parts?.conclude(db)
            try rows?.conclude()
            try Coverage.normalize(db)
            try Coverage.requireRoom(db, before: before)
            try BundleAdmission(db: db, environment: environment, header: header).conclude()
        }
        try db.execute(
            sql: "UPDATE _sync_state SET applying = 0, clock = max(clock, ?)",
            arguments: [records.newest])
        // Edits of this replica, which are settled with the next ones.
        summary.conflictCount -= try merges?.finish() ?? 0
        if summary.rowCount + summary.unparkedCount > 0 { try Self.notifyUntoldChanges(db) }
        return summary
    }
}
