import CipherStore
import SyncWire

/// Applies a bundle to a store, in the transaction of its caller: all of it,
/// with the vector, the conflicts and the parked rows, or nothing.
///
/// Foreign keys are off while it runs: a peer's cascades come as deletes of
/// their own, and rows may come before their parents. Orphans are found at the end.
final class BundleApplier {
    private let db: Database
    private let environment: SyncEnvironment
    private let metadata: StoreMetadata
    private let versions: VersionTable
    private let journal: ConflictJournal
    private let parking: Parking
    private var reader: BundleReader
    private var tables: [AppliedTable] = []
    private var replicas: [(number: Int64, id: ReplicaID)] = []
    private var peer = VersionVector()
    private var target = VersionVector()
    private var newest: Int64 = 0
    private var summary = ApplySummary()
    /// How far the bundle's vector reaches, by the index of the replica.
    private var targetSequences: [Int64] = []
    private let adoptionBound: Int64
    private var touched: TouchedRows?

    /// A stamp that is further ahead of the clock is merged, and not adopted: one
    /// bad clock must not pull all others along.
    static let skewMillisecondsMax: Int64 = 10 * 60 * 1000

    /// A stamp near the end of its range would leave no room for the next one.
    private static let timestampMax = Int64.max - 1 << 32

    /// Prepares the application. The log is folded first, so that local edits
    /// have versions to be merged with.
    init(_ db: Database, _ environment: SyncEnvironment, limits: WireLimits = WireLimits()) throws {
        self.db = db
        self.environment = environment
        try TableTracking(db: db, environment: environment).refresh()
        try Fold(db: db, environment: environment).run()
        metadata = try StoreMetadata.require(db)
        versions = try VersionTable(db)
        journal = try ConflictJournal(db, at: environment.milliseconds())
        parking = try Parking(db)
        reader = BundleReader(limits: limits)
        adoptionBound = (environment.milliseconds() + Self.skewMillisecondsMax) << 16
        try db.execute(sql: "UPDATE _sync_state SET applying = 1")
    }

    /// Takes the next frame of the bundle.
    func consume(_ frame: UnsafeRawBufferPointer) throws {
        try reader.consume(frame, onHeader: { try self.begin($0) }, onRow: { try self.apply($0) })
    }

    private func begin(_ header: BundleHeader) throws {
        guard header.store == metadata.store else {
            throw SyncError(.otherStore, "the bundle belongs to another database")
        }
        guard metadata.vector.covers(header.base) else {
            throw SyncError(
                .invalidBundle, "the bundle builds on changes that are not here; synchronize again")
        }
        let own = try metadata.replicaID()
        guard header.target[own] <= metadata.vector[own] else {
            throw SyncError(.invalidBundle, "the peer knows changes of this replica that are not here")
        }
        peer = header.target
        target = header.target
        targetSequences = header.replicas.map { header.target[$0] }
        let numbers = Dictionary(
            metadata.replicas.map { ($0.id, $0.sid) }, uniquingKeysWith: { first, _ in first })
        for id in header.replicas {
            if let number = numbers[id] {
                replicas.append((number, id))
            } else {
                try db.execute(sql: "INSERT INTO _sync_replica (rid) VALUES (?)", arguments: [id.data])
                replicas.append((db.lastInsertedRowID, id))
            }
        }
        versions.replicas = Dictionary(
            (metadata.replicas.map { ($0.sid, $0.id) } + replicas.map { ($0.number, $0.id) }),
            uniquingKeysWith: { first, _ in first })
        try match(header)
        touched = try TouchedRows.ifNeeded(db, tables: SyncedTable.loadAll(db))
    }

    private func match(_ header: BundleHeader) throws {
        let matching = try NameMatching(db, environment, NameDeclarations(header))
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
        // What is learnt from one table can concern another, so all are learnt first.
        tables = try named.map {
            let (table, columns) = try matching.match($0)
            return try AppliedTable(db, table, columns: columns, names: $0.columns)
        }
    }

    // MARK: Rows

    private func apply(_ record: borrowing RowRecord) throws {
        summary.rowCount += 1
        guard record.table < tables.count else {
            throw SyncError(.invalidBundle, "the bundle has a row of a table that can't have any")
        }
        let table = tables[record.table]
        let key = RowKey(bytes: record.key, isText: record.isTextKey)
        try note(record)
        try touched?.add(table.table.number, key)
        if let base = record.base, record.isAlive, !table.namesColumnsTwice,
            try versions.insertIfNew(table.table.number, key, life: record.life, stamp(base))
        {
            try insertNew(record, table, key)
        } else {
            try merge(record, table, key)
        }
    }

    /// Checks the stamps of a row and remembers the newest that can be adopted.
    private func note(_ record: borrowing RowRecord) throws {
        if let base = record.base { try note(base) }
        for index in 0..<record.cells.count { try note(record.cells[index].stamp) }
    }

    private func note(_ stamp: WireStamp) throws {
        guard stamp.sequence <= targetSequences[stamp.replica], stamp.timestamp <= Self.timestampMax else {
            throw SyncError(.invalidBundle, "the bundle holds a change that its own vector does not cover")
        }
        if stamp.timestamp <= adoptionBound { newest = max(newest, stamp.timestamp) }
    }

    private func stamp(_ stamp: WireStamp) -> VersionTable.LocalStamp {
        VersionTable.LocalStamp(
            timestamp: stamp.timestamp, replica: replicas[stamp.replica].number, sequence: stamp.sequence)
    }

    private func fullStamp(_ stamp: WireStamp) -> Stamp {
        Stamp(
            timestamp: HybridTimestamp(rawValue: stamp.timestamp), replica: replicas[stamp.replica].id,
            sequence: stamp.sequence)
    }

    /// The fast way for a row that was never seen: what ``Merge`` plans for it,
    /// without building the plan. A test compares the two.
    private func insertNew(_ record: borrowing RowRecord, _ table: AppliedTable, _ key: RowKey) throws {
        for index in 0..<record.cells.count {
            let cell = record.cells[index]
            try versions.insertCell(
                row: db.lastInsertedRowID, column: table.columnNumbers[cell.column], stamp(cell.stamp))
        }
        let isWhole = record.baseValues.count + record.cells.count == table.columnNumbers.count
        guard isWhole, table.knowsEveryColumn, let statement = table.wholeInsert else {
            return try write(values(record, table), table, key)
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
            try parking.park(table.table.number, key, values(record, table), why: failure)
        }
    }

    private func values(_ record: borrowing RowRecord, _ table: AppliedTable) -> [Int: WireValue] {
        var values: [Int: WireValue] = [:]
        for index in 0..<record.baseValues.count {
            values[table.columnNumbers[record.baseValues[index].column]] = record.baseValues[index].value
        }
        for index in 0..<record.cells.count {
            values[table.columnNumbers[record.cells[index].column]] = record.cells[index].value
        }
        return values
    }

    private func change(_ record: borrowing RowRecord, _ table: AppliedTable) -> RowChange {
        var change = RowChange(life: record.life, base: record.base.map { fullStamp($0) }, writes: [:])
        if let base = change.base {
            for index in 0..<record.baseValues.count {
                let item = record.baseValues[index]
                add(.init(stamp: base, value: item.value), item.column, table, &change)
            }
        }
        for index in 0..<record.cells.count {
            let cell = record.cells[index]
            add(.init(stamp: fullStamp(cell.stamp), value: cell.value), cell.column, table, &change)
        }
        return change
    }

    /// Adds a write; of two for one column, which come from a peer that takes its
    /// two names for two columns, the later one, or the one under the column's own name.
    private func add(_ write: RowChange.Write, _ index: Int, _ table: AppliedTable, _ change: inout RowChange)
    {
        let number = table.columnNumbers[index]
        if let other = change.writes[number] {
            if other.stamp.isNewer(than: write.stamp) { return }
            if !write.stamp.isNewer(than: other.stamp), !table.hasOwnName[index] { return }
        }
        change.writes[number] = write
    }

    /// The way through the pure merge.
    private func merge(_ record: borrowing RowRecord, _ table: AppliedTable, _ key: RowKey) throws {
        let local = try versions.load(table.table.number, key)
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
            version = known
        }
        guard
            let plan = Merge.plan(
                local: version, incoming: change(record, table), peer: peer, known: metadata.vector)
        else {
            throw SyncError(
                .invalidBundle, "the bundle changes a row of \(table.table.name) that it does not begin")
        }
        try withExtendedLifetime(owned) {
            try versions.store(plan, row: local?.row, table.table.number, key)
            summary.conflictCount += try journal.append(plan, table.table.number, key, versions)
            try carryOut(plan, local: version, table, key)
        }
    }

    private func carryOut(
        _ plan: MergePlan, local: RowVersion?, _ table: AppliedTable, _ key: RowKey
    ) throws {
        switch plan.action {
        case .keep:
            break
        case .delete:
            try parking.remove(table.table.number, key)
            try table.delete(key)
        case .replace:
            try parking.remove(table.table.number, key)
            try table.delete(key)
            try write(plan.writes, table, key)
        case .insert, .update:
            try write(plan.writes, table, key)
        }
    }

    /// Writes values into the user's table; what can't be written is parked.
    private func write(_ values: [Int: WireValue], _ table: AppliedTable, _ key: RowKey) throws {
        let number = table.table.number
        let parked = parking.isInUse ? try parking.values(number, key) : [:]
        var all = parked.mapValues(\.value)
        all.merge(values) { _, new in new }
        let names = table.presentNames
        let absent = all.filter { names[$0.key] == nil }
        if !absent.isEmpty { try park(absent, table, key) }
        let present = all.filter { names[$0.key] != nil }
        guard table.table.hasRows, !present.isEmpty || names.isEmpty else { return }
        let columns = present.sorted { $0.key < $1.key }.map { (name: names[$0.key] ?? "", value: $0.value) }
        let failure =
            try table.hasRow(key) ? table.update(key, columns) : table.insert(key, columns)
        if let failure {
            try parking.park(number, key, present, why: failure)
        } else if !parked.isEmpty {
            try parking.remove(number, key, columns: Array(present.keys))
        }
        withExtendedLifetime(parked) {}
    }

    /// Parks values that have no column here.
    private func park(_ values: [Int: WireValue], _ table: AppliedTable, _ key: RowKey) throws {
        let dropped =
            table.table.place == .dropped
            ? values : values.filter { table.droppedColumns.contains($0.key) }
        if !dropped.isEmpty {
            try parking.park(table.table.number, key, dropped, why: Parking.droppedReason)
        }
        let others = values.filter { dropped[$0.key] == nil }
        if !others.isEmpty {
            try parking.park(
                table.table.number, key, others,
                why: table.table.isTracked ? "no such column" : "no such table")
        }
    }

    // MARK: The end

    /// Ends the application: everything was there, the vector moves on.
    func finish() throws -> ApplySummary {
        guard reader.isComplete else { throw WireError(.truncated, "the bundle has no end") }
        summary.unparkedCount = try parking.retry(touched)
        try touched?.parkOrphans(parking)
        summary.parkedCount = parking.parkedRowCount
        try ConflictRetention.load(db).prune(db, now: environment.milliseconds())
        for (replica, sequence) in target.sequences {
            try db.execute(
                sql: "UPDATE _sync_replica SET oseq = max(oseq, ?), seen = ? WHERE rid = ?",
                arguments: [sequence, environment.milliseconds(), replica.data])
        }
        try db.execute(
            sql: "UPDATE _sync_state SET applying = 0, clock = max(clock, ?)",
            arguments: [newest])
        if summary.rowCount + summary.unparkedCount > 0 { try Self.notifyUntoldChanges(db) }
        return summary
    }
}
