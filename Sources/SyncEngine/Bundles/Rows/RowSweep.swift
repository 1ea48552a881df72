import CipherStore
import SyncWire

/// Takes out the rows that are not among those that this replica holds, once somebody else has what was
/// written to them here. It is one transaction; what does not happen now happens the next time.
struct RowSweep {
    let database: any DatabaseWriter
    let environment: SyncEnvironment

    /// Takes rows out.
    ///
    /// - parameter acknowledged: What a replica knows that holds all rows of some tables.
    func run(_ acknowledged: [(names: [String], known: VersionVector)]) throws {
        guard !acknowledged.isEmpty, try database.read({ try isDue($0, acknowledged) }) else { return }
        try database.writeWithoutTransaction { db in
            try db.withoutForeignKeys {
                try db.inTransaction(.immediate) {
                    try takeOut(FoldedStore.fold(db, environment), acknowledged)
                    return .commit
                }
            }
        }
    }

    /// Whether something was written since the last time, or somebody chose other rows.
    private func isDue(_ db: Database, _ acknowledged: [(names: [String], known: VersionVector)]) throws
        -> Bool
    {
        let metadata = try StoreMetadata.require(db)
        let partials = try PartialTable.loadAll(db, metadata)
        return try tables(db, acknowledged).contains { table, _ in
            guard let partial = partials[table.number] else { return false }
            if partial.swept == 0 || partial.hasLeftRows { return true }
            return try partial.swept < SettlementMark.lastSequence(db)
        }
    }

    private func tables(
        _ db: Database, _ acknowledged: [(names: [String], known: VersionVector)]
    ) throws -> [(SyncedTable, VersionVector)] {
        let all = try SyncedTable.loadAll(db)
        let names = TableNames(all, try NameAliases(db))
        return acknowledged.compactMap { entry in
            let number = names.number(of: entry.names)
            return all.first { $0.number == number }.map { ($0, entry.known) }
        }
    }

    private func takeOut(
        _ store: FoldedStore, _ acknowledged: [(names: [String], known: VersionVector)]
    ) throws {
        let (db, metadata) = (store.db, store.metadata)
        let partials = try PartialTable.loadAll(db, metadata)
        let sequence = try SettlementMark.lastSequence(db)
        let muting = try Muting(db)
        let versions = try VersionTable(db)
        versions.replicas = Dictionary(
            metadata.replicas.map { ($0.sid, $0.id) }, uniquingKeysWith: { first, _ in first })
        let digests = try DigestLedger(db, metadata)
        try digests.catchUp()
        versions.digests = digests
        let parking = try Parking(db, now: environment.milliseconds())
        let settlement = try Settlement(store, parking)
        let remover = RowRemover(db: db, versions: versions, parking: parking, settlement: settlement)
        let triggers = try PresentTriggers(db)
        var count = 0
        for (table, known) in try tables(db, acknowledged) {
            guard let partial = partials[table.number], partial.isDominated(by: known) else { continue }
            let rows = RowCandidates(
                db: db,
                table: try AppliedTable(db, table, columns: table.columns, triggers: triggers),
                partial: partial, parking: parking)
            let left = try takeOut(rows, remover, knownTo: known)
            count += left.removed
            try partial.setSwept(db, left.kept == 0 ? sequence : 0)
            try partial.catchUp(db)
        }
        try settlement.run(isFull: false, muting)
        try digests.flush()
        try muting.end(hasChanges: count > 0, mark: settlement.finish)
    }

    private func takeOut(
        _ rows: RowCandidates, _ remover: RowRemover, knownTo known: VersionVector
    ) throws -> (removed: Int, kept: Int) {
        var (removed, kept) = (0, 0)
        let partial = rows.partial
        for key in try rows.keys() {
            try withExtendedLifetime(key) {
                let key = RowKey(key.value)
                guard let local = try remover.versions.load(partial.number, key) else {
                    return try remover.unmark(partial.number, key)
                }
                guard local.version.isAlive else {
                    if local.version.stamps.allSatisfy(known.contains) {
                        try remover.unmark(partial.number, key)
                    } else {
                        kept += 1
                    }
                    return
                }
                guard try rows.isOutside(key, local.version) else { return }
                guard local.version.stamps.allSatisfy(known.contains) else {
                    kept += 1
                    return
                }
                try remover.remove(local, rows.table, key, partial)
                removed += 1
            }
        }
        return (removed, kept)
    }
}
