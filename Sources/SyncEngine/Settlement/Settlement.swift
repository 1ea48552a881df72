import CipherStore
import SyncWire

/// Makes what the user's tables show a function of the rows and the schema alone,
/// whatever came in whatever order.
///
/// 1. A row that breaks a constraint of its own (NOT NULL, CHECK) is hidden and claims nothing.
/// 2. Of the others, ``UniqueClaims`` says which stand where several claim one value.
/// 3. Of those, a row without its parent is hidden, until none is left: rows that refer
///    to each other in a circle stay. An orphan keeps its claims.
///
/// Hidden rows wait in `_sync_shadow`. They are put back in the order of their claims,
/// and then orphans are taken out. Only tables where something happened are looked at, and
/// those that refer to them.
final class Settlement {
    private let db: Database
    private let environment: SyncEnvironment
    private let parking: Parking
    private let tables: [SyncedTable]
    private let references: [ForeignKey]
    private let touched: TouchedRows?
    /// Whether rows wait for a UNIQUE value of another one that may be touched.
    private let hasLosers: Bool
    private var changedTables: Set<Int64> = []
    private var targets: [Int64: AppliedTable] = [:]
    private var triggers: PresentTriggers?
    /// Whether rows may be taken out of the tables. Not while SQLite enforces foreign
    /// keys, which would delete or change their children.
    private let canHide: Bool
    /// The log's end before policies write to it: what they do is settled next time.
    private let sequence: Int64
    private var lastTable: Int64?
    /// The tables whose rows are not to be moved yet.
    private let leftOut: Set<Int64>
    /// Whether all that was logged has versions.
    private let isFolded: Bool
    /// Whether a row waits for one that gets its version by the next fold.
    private var awaitsVersions = false
    private let requireTime: () throws -> Void

    /// Prepares a settlement, which finds in the versions whose claim stands.
    ///
    /// - parameter requireTime: Asked for each row and each pass. Throws when the settlement takes longer than it may.
    convenience init(
        _ store: FoldedStore, _ parking: Parking, requireTime: @escaping () throws -> Void = {}
    ) throws {
        try self.init(withinSchemaChange: store.db, store.environment, parking, requireTime: requireTime)
    }

    /// The same while the tracking follows a change of the schema, which may have logged what it wrote to new columns:
    /// that has no versions until the next fold.
    ///
    /// - parameters:
    ///     - dropped: Tables that are left out for now, where the library keeps their rows.
    ///     - requireTime: As above.
    init(
        withinSchemaChange db: Database, _ environment: SyncEnvironment, _ parking: Parking,
        leavingOut dropped: Set<Int64> = [], requireTime: @escaping () throws -> Void = {}
    ) throws {
        self.db = db
        self.requireTime = requireTime
        self.environment = environment
        self.parking = parking
        tables = try SyncedTable.loadAll(db)
        leftOut = Set(tables.filter { $0.place == .dropped && dropped.contains($0.number) }.map(\.number))
        references = try ForeignKey.loadAll(db, tables: tables)
        canHide = try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == false
        hasLosers = try canHide && parking.isInUse && LoserLookup.exist(db)
        touched = references.isEmpty && !hasLosers ? nil : try TouchedRows(db)
        sequence = try SettlementMark.lastSequence(db)
        isFolded = try FoldedStore.isFolded(db)
    }

    /// Notes a row that is about to be written.
    func touch(_ table: Int64, _ key: RowKey) throws {
        if table != lastTable {
            changedTables.insert(table)
            lastTable = table
        }
        try touched?.add(table, key)
    }

    /// Settles all that was touched, and all that waits for it.
    ///
    /// - parameters:
    ///     - isFull: Whether to try all rows that wait.
    ///     - muting: Says whether the schema changed since the last settlement: then all are tried, too.
    func run(isFull: Bool, _ muting: Muting) throws {
        try debugAssert(StoreMetadata.isApplying(db), "what is hidden would be logged as deleted")
        defer { touched?.finish() }
        let mark = try SettlementMark.load(db)
        try touchNewReferences(mark)
        if parking.isInUse {
            let waking = WakingRows(
                db: db, tables: tables, references: references, policies: try OrphanPolicies(db, environment),
                requireTime: requireTime)
            if !isFull, let mark, mark.schemaVersion == muting.schemaVersion {
                let losers: WakingRows.Losers =
                    hasLosers ? .written(after: mark.sequence) : canHide ? .unnoted : .all
                let changed = try changedTables.union(mark.changedTables(db))
                try enter(
                    waking.rows(changed: changed, losers), waking, changed: canHide ? changed : nil)
            } else {
                try enter(waking.all(), waking, changed: nil)
            }
        }
        if canHide { try removeOrphans() }
    }

    /// Remembers what was settled, at the end of the transaction.
    func finish() throws {
        if canHide {
            try SettlementMark.save(
                db, sequence, references: references.map(\.signature), isInUse: parking.isInUse)
        }
        // What was left out has to be looked at, as what could not be hidden, or compared.
        if !canHide || !leftOut.isEmpty || awaitsVersions { try SettlementMark.remove(db) }
    }

    /// A foreign key that the schema did not have is one for all rows.
    private func touchNewReferences(_ mark: SettlementMark?) throws {
        guard let mark, canHide else { return }
        let known = Set(mark.references)
        for reference in references where !known.contains(reference.signature) {
            try touched?.addAll(of: reference.child)
        }
    }

    private func target(_ table: SyncedTable) throws -> AppliedTable {
        if let target = targets[table.number] { return target }
        let triggers = try self.triggers ?? PresentTriggers(db)
        self.triggers = triggers
        let target = try AppliedTable(db, table, columns: table.columns, triggers: triggers)
        targets[table.number] = target
        return target
    }

    // MARK: Rows that wait

    /// Tries rows that wait.
    ///
    /// - parameter changed: The tables that changed, where only some of the rows were woken; nil where all were.
    private func enter(
        _ woken: [Int64: [OwnedValue]], _ waking: WakingRows, changed: Set<Int64>?
    ) throws {
        let orders = try ClaimOrderLookup(db)
        let losers = try changed == nil ? nil : LoserLookup(db)
        var waiting = woken
        var hasMoved = true
        while hasMoved {
            hasMoved = false
            var hasJoined = false
            for table in tables where table.hasRows && !leftOut.contains(table.number) {
                guard let keys = waiting[table.number], !keys.isEmpty else { continue }
                var claims = try enter(keys, of: table, orders, losers)
                if claims.hasJoined { hasJoined = true }
                // Once, which also notes anew what each of them gave way to.
                if claims.isOutOfOrder {
                    claims = try enter(waking.all(of: table), of: table, orders, nil)
                }
                waiting[table.number] = claims.waitingKeys
                // While SQLite enforces foreign keys, a parent makes room for its children.
                if !claims.moved.isEmpty, !canHide { hasMoved = true }
            }
            guard hasJoined, let changed else { continue }
            // Nobody woke the children of rows that were tried because of others.
            waiting = try waking.orphans(changed: changed)
            hasMoved = !waiting.isEmpty
        }
    }

    private func enter(
        _ keys: [OwnedValue], of table: SyncedTable, _ orders: ClaimOrderLookup, _ losers: LoserLookup?
    ) throws -> UniqueClaims {
        let claims = try UniqueClaims(
            db, try target(table), parking, orders, canEvict: canHide, losers: losers,
            requireTime: requireTime)
        let count = try claims.settle(keys)
        assert(claims.moved.count >= count, "a row has its place, and nobody looks for its parents")
        if claims.hasMetUnversioned, !isFolded { awaitsVersions = true }
        for key in claims.moved {
            try withExtendedLifetime(key) { try touched?.add(table.number, RowKey(key.value)) }
        }
        return claims
    }

    // MARK: Orphans

    /// Takes orphans out until there are none: taking one out can orphan another.
    private func removeOrphans() throws {
        assert(canHide, "SQLite would delete the children of what is hidden")
        guard let touched else { return }
        let policies = try OrphanPolicies(db, environment)
        defer { policies.finish() }
        let searches = references.enumerated().map { OrphanSearch(db, $1, number: $0) }
        defer { for search in searches { search.finish() } }
        while true {
            try requireTime()
            let lost = try lostTables(touched)
            let found = try searches.map { ($0.reference, try $0.orphans(touched, lost: lost)) }
                .filter { !$0.1.isEmpty }
            try touched.removeAll()
            if found.isEmpty { return }
            for (reference, orphans) in found {
                let child = try target(reference.child)
                for orphan in orphans {
                    try requireTime()
                    try withExtendedLifetime(orphan) { try remove(orphan, child, reference, policies) }
                }
            }
        }
    }

    /// The tables that are referred to and of which rows are gone.
    private func lostTables(_ touched: TouchedRows) throws -> Set<Int64> {
        var lost: Set<Int64> = []
        var known: Set<Int64> = []
        for parent in references.map(\.parent) where known.insert(parent.number).inserted {
            if try touched.areGone(from: parent) { lost.insert(parent.number) }
        }
        return lost
    }

    private func remove(
        _ orphan: TouchedRows.Orphan, _ child: AppliedTable, _ reference: ForeignKey,
        _ policies: OrphanPolicies
    ) throws {
        let key = RowKey(orphan.key.value)
        assert(child.table.number == reference.child.number)
        try touched?.add(child.table.number, key)
        // Another of its parents may be missing too.
        guard try child.hasRow(key) else { return }
        guard try !policies.carryOut(on: child, orphan, reference) else { return }
        try parking.hide(
            child, key,
            because: ConstraintFailure(
                .missingParent, "no parent in \(reference.parent.name)",
                other: orphan.parent.map { .init(table: reference.parent.number, key: $0) }))
    }
}

extension Settlement {
    /// Settles all outside of the application of a bundle, and ends the muting.
    ///
    /// - parameter isFull: Whether to try all rows that wait.
    func run(isFull: Bool, _ parking: Parking, _ muting: Muting) throws {
        try run(isFull: isFull, muting)
        try muting.end(hasChanges: parking.shownRowCount + parking.parkedRowCount > 0, mark: finish)
    }
}

extension FoldedStore {
    /// Settles what the tables show, outside of the application of a bundle.
    ///
    /// - parameter isFull: Whether to try all rows that wait.
    /// - returns: How many rows found their place.
    fileprivate func settle(isFull: Bool) throws -> Int64 {
        let parking = try Parking(db, now: environment.milliseconds())
        let muting = try Muting(db)
        let settlement = try Settlement(self, parking)
        try settlement.run(isFull: isFull, parking, muting)
        return parking.shownRowCount
    }
}

extension Database {
    /// Runs a block outside of a transaction while SQLite does not enforce foreign keys:
    /// it would delete the children of rows that are only hidden.
    func withoutForeignKeys(_ body: () throws -> Void) throws {
        try withSetting("foreign_keys", isOn: false, body)
    }
}

extension DatabaseWriter {
    /// Settles what the tables show.
    ///
    /// - returns: How many rows that waited found their place.
    @discardableResult
    func settle(_ environment: SyncEnvironment, isFull: Bool) throws -> Int64 {
        var count: Int64 = 0
        try writeWithoutTransaction { db in
            try db.withoutForeignKeys {
                try db.inTransaction(.immediate) {
                    count = try FoldedStore.fold(db, environment).settle(isFull: isFull)
                    return .commit
                }
            }
        }
        return count
    }
}
