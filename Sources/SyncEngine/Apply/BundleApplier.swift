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
    private var peer = VersionVector()
    private var target = VersionVector()
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
    private var forgotten = ForgottenRows()
    private var resync: Resync?
    /// The header, once it was read.
    private(set) var header: BundleHeader?

    /// A stamp that is further ahead of the clock is merged, and not adopted: one
    /// bad clock must not pull all others along.
    static let skewMillisecondsMax: Int64 = 10 * 60 * 1000

    /// Prepares the application. The log is folded first, so that local edits
    /// have versions to be merged with.
    init(
        _ db: Database, _ environment: SyncEnvironment, limits: WireLimits = WireLimits(),
        policies: MergePolicies? = nil
    ) throws {
        self.db = db
        self.policies = policies
        self.environment = environment
        try TableTracking(db: db, environment: environment).refresh()
        try Fold(db: db, environment: environment).run()
        metadata = try StoreMetadata.require(db)
        versions = try VersionTable(db)
        journal = try ConflictJournal(db, at: environment.milliseconds())
        parking = try Parking(db, now: environment.milliseconds())
        writer = RowWriter(parking: parking)
        reader = BundleReader(limits: limits)
        records = BundleRecords(
            adoptionBound: (environment.milliseconds() + Self.skewMillisecondsMax) << 16)
        try db.execute(sql: "UPDATE _sync_state SET applying = 1")
        triggers = try UserTriggers.suspend(db, tables: SyncedTable.loadAll(db))
    }

    /// Takes the next frame of the bundle.
    func consume(_ frame: UnsafeRawBufferPointer) throws {
        try reader.consume(frame, onHeader: { try self.begin($0) }, onRow: { try self.apply($0) })
    }

    private func begin(_ header: BundleHeader) throws {
        guard header.store == metadata.store else {
            throw SyncError(.otherStore, "the bundle belongs to another database")
        }
        metadata = try admit(header)
        // Of rows that differ though both sides know the same, each value that loses is kept.
        peer = isRepair ? VersionVector() : header.target
        target = header.target
        try records.begin(header, metadata, db)
        versions.replicas = Dictionary(
            (metadata.replicas.map { ($0.sid, $0.id) } + records.replicas.map { ($0.number, $0.id) }),
            uniquingKeysWith: { first, _ in first })
        try match(header)
        versions.digests = try digests()
        settlement = try Settlement(db, environment, parking)
    }

    /// Checks that the bundle may be applied, after this replica got a new identity if the
    /// bundle shows that it needs one.
    private func admit(_ header: BundleHeader) throws -> StoreMetadata {
        self.header = header
        let admission = BundleAdmission(db: db, environment: environment, header: header)
        summary.renewedReplica = try admission.renewIfNeeded()
        let metadata = try StoreMetadata.require(db)
        let floor = try admission.admit(metadata, isRenewed: summary.renewedReplica != nil)
        guard !isRepair else {
            guard header.target.covers(metadata.vector) else { throw SyncError.changedMeanwhile }
            return try StoreMetadata.require(db)
        }
        forgotten = ForgottenRows(header, floor: floor, vector: metadata.vector)
        if !metadata.vector.covers(header.facts.floor) { resync = try Resync(db, header) }
        return try StoreMetadata.require(db)
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
        let columns = try Self.columns(db)
        let named = header.tables.prefix { !MetadataSchema.isReserved($0.name) }
        guard header.tables.dropFirst(named.count).allSatisfy({ MetadataSchema.isReserved($0.name) }) else {
            throw SyncError(.invalidBundle, "the bundle names its tables in another order than it may")
        }
        for table in named {
            let names = Set(table.columns.map { $0.lowercased() })
            guard names.count == table.columns.count else {
                throw SyncError(.invalidBundle, "table \(table.name) names a column twice")
            }
            try matching.learn(table)
        }
        try PolicyDeclarations(header).learn(
            PolicyStore(db: db, environment: environment), named, match: matching.match)
        try matching.reload()
        counters = try CounterStore.ifNeeded(db)
        merges = try CustomMerges.ifNeeded(
            db, policies, own: metadata.replicaID(), now: environment.milliseconds())
        // What is learnt from one table can concern another, so all are learnt first.
        tables = try named.map {
            let (table, columns) = try matching.match($0)
            return try AppliedTable(db, table, columns: columns, names: $0.columns)
        }
        hasUnitedColumns = try !Self.columns(db).isSuperset(of: columns)
    }

    private static func columns(_ db: Database) throws -> Set<String> {
        Set(
            try SyncedTable.loadAll(db).flatMap { table in
                table.columns.map { "\(table.number) \($0.number)" }
            })
    }

    // MARK: Rows

    private func apply(_ record: borrowing RowRecord) throws {
        summary.rowCount += 1
        guard record.table < tables.count else {
            throw SyncError(.invalidBundle, "the bundle has a row of a table that can't have any")
        }
        let table = tables[record.table]
        let key = RowKey(bytes: record.key, isText: record.isTextKey)
        try records.note(record)
        try settlement?.touch(table.table.number, key)
        try resync?.mention(table.table.number, key)
        if let base = record.base, record.isAlive, !table.namesColumnsTwice, !forgotten.covers(base),
            try versions.insertIfNew(table.table.number, key, life: record.life, records.stamp(base))
        {
            try insertNew(record, table, key)
        } else {
            try merge(record, table, key)
        }
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
        for index in 0..<record.baseValues.count {
            record.baseValues[index].value.bind(raw, table.insertParameters[record.baseValues[index].column])
        }
        for index in 0..<record.cells.count {
            record.cells[index].value.bind(raw, table.insertParameters[record.cells[index].column])
        }
        if let failure = try table.constraintFailure(of: statement) {
            try parking.hide(table, key, records.values(record, table), because: failure)
        }
    }

    /// The way through the pure merge.
    private func merge(_ record: borrowing RowRecord, _ table: AppliedTable, _ key: RowKey) throws {
        var local = try versions.load(table.table.number, key)
        if let resync, let known = local,
            resync.isOutlived(known.version, by: records.change(record, table))
        {
            if known.version.isAlive { try takeOut(known.version, table, key, end(of: resync)) }
            try resync.forgetVersions(known.row)
            local = nil
        }
        if let known = local, isForgotten(records.change(record, table), beside: known.version) {
            return try discard(record, table, key)
        }
        if local == nil, record.base.map(forgotten.covers) ?? forgotten.exist {
            return try discard(record, table, key)
        }
        var owned: [OwnedValue] = []
        var version = local?.version
        if var known = version, known.isAlive {
            try table.reader.load(key: key, hasParkedValues: parking.isInUse)
            for (ordinal, column) in table.table.columns.enumerated() where table.reader.hasValue(ordinal) {
                let value = OwnedValue(copying: table.reader.value(ordinal))
                owned.append(value)
                known.values[column.number] = value.value
            }
            table.reader.finish()
            try counters?.uncover(&known.values, &owned, table.table.number, key)
            version = known
        }
        guard
            var plan = Merge.plan(
                local: version, incoming: records.change(record, table), peer: peer,
                known: isRepair ? VersionVector() : metadata.vector, isRepair: isRepair)
        else {
            throw SyncError(
                .invalidBundle, "the bundle changes a row of \(table.table.name) that it does not begin")
        }
        try withExtendedLifetime(owned) {
            try versions.store(
                plan, row: local?.row, replacing: local?.version, table.table.number, key)
            summary.conflictCount += try journal.append(plan, table.table.number, key, versions)
            try merges?.merge(plan, local: version, table.table, key)
            try counters?.absorb(&plan.writes, plan.action, table.table.number, key)
            try writer.carryOut(plan, table, key)
        }
    }

    /// Whether a change is of a life before a deletion that was forgotten here: its row was here
    /// once, and would not have lost against the one that is.
    private func isForgotten(_ change: RowChange, beside local: RowVersion) -> Bool {
        guard forgotten.exist, let base = change.base, base != local.base, metadata.vector.contains(base)
        else { return false }
        return change.life > local.life || (change.life == local.life && base.isNewer(than: local.base))
    }

    /// A row whose deletion was forgotten. What nobody here has seen of it is kept.
    private func discard(_ record: borrowing RowRecord, _ table: AppliedTable, _ key: RowKey) throws {
        guard record.isAlive, let header else { return }
        let end = Stamp(
            timestamp: HybridTimestamp(milliseconds: environment.milliseconds()), replica: header.sender,
            sequence: 0)
        var plan = MergePlan(life: record.life + 1, base: end)
        plan.lostLife = record.life
        plan.conflicts = records.change(record, table).writes
            .filter { !metadata.vector.contains($0.value.stamp) }.sorted { $0.key < $1.key }
            .map { column, write in
                MergePlan.Conflict(
                    column: column, lost: write.value, lostStamp: write.stamp, winner: end, reason: .deleted)
            }
        summary.conflictCount += try journal.append(plan, table.table.number, key, versions)
    }

    /// The stamp of deletions that nobody remembers.
    private func end(of resync: Resync) -> Stamp {
        Stamp(
            timestamp: HybridTimestamp(milliseconds: environment.milliseconds()),
            replica: resync.sender, sequence: 0)
    }

    /// Takes out the rows that were deleted while this replica was away.
    private func finishResync() throws {
        guard let resync else { return }
        let end = end(of: resync)
        for row in try resync.deletedRows(tables.map(\.table.number)) {
            guard let table = tables.first(where: { $0.table.number == row.table }) else { continue }
            let owner = OwnedValue.make(row.key)
            try withExtendedLifetime(owner) {
                let key = RowKey(owner.value)
                if let local = try versions.load(row.table, key)?.version, local.isAlive {
                    try takeOut(local, table, key, end)
                }
                try resync.forget(row)
            }
            summary.rowCount += 1
        }
        try versions.digests?.invalidate()
        try resync.finish()
    }

    private func takeOut(_ local: RowVersion, _ table: AppliedTable, _ key: RowKey, _ end: Stamp) throws {
        var plan = MergePlan(life: local.life + 1, base: end)
        plan.lostLife = local.life
        try table.reader.load(key: key, hasParkedValues: parking.isInUse)
        for (ordinal, column) in table.table.columns.enumerated() {
            let stamp = local.stamp(ofColumn: column.number)
            guard table.reader.hasValue(ordinal), !target.contains(stamp) else { continue }
            plan.conflicts.append(
                .init(
                    column: column.number, lost: table.reader.value(ordinal), lostStamp: stamp, winner: end,
                    reason: .deleted))
        }
        summary.conflictCount += try journal.append(plan, table.table.number, key, versions)
        table.reader.finish()
        try parking.remove(table.table.number, key)
        try table.delete(key)
        try settlement?.touch(table.table.number, key)
    }

    // MARK: The end

    /// Ends the application: everything was there, the vector moves on.
    func finish() throws -> ApplySummary {
        guard reader.isComplete else { throw WireError(.truncated, "the bundle has no end") }
        try finishResync()
        // A new identity is another winner of rows of the same moment.
        try settlement?.run(isFull: hasUnitedColumns || summary.renewedReplica != nil)
        summary.unparkedCount = parking.shownRowCount
        summary.parkedCount = parking.parkedRowCount
        if records.newestBeyond > 0 {
            summary.skewMilliseconds = max(0, (records.newestBeyond >> 16) - environment.milliseconds())
        }
        try triggers.restore()
        try settlement?.finish()
        try ConflictRetention.load(db).prune(db, now: environment.milliseconds())
        for (replica, sequence) in target.sequences where !isRepair {
            try db.execute(
                sql: "UPDATE _sync_replica SET oseq = ?, seen = ? WHERE rid = ? AND oseq < ?",
                arguments: [sequence, environment.milliseconds(), replica.data, sequence])
        }
        try versions.digests?.flush()
        if let header, !isRepair {
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
