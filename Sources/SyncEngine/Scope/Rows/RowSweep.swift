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
                    try Fold(db: db, environment: environment).run()
                    try takeOut(db, acknowledged)
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

    private func takeOut(_ db: Database, _ acknowledged: [(names: [String], known: VersionVector)]) throws {
        let metadata = try StoreMetadata.require(db)
        let partials = try PartialTable.loadAll(db, metadata)
        let sequence = try SettlementMark.lastSequence(db)
        try db.execute(sql: "UPDATE _sync_state SET applying = 1")
        let triggers = try UserTriggers.suspend(db, tables: SyncedTable.loadAll(db))
        let versions = try VersionTable(db)
        versions.replicas = Dictionary(
            metadata.replicas.map { ($0.sid, $0.id) }, uniquingKeysWith: { first, _ in first })
        let digests = try DigestLedger(db, metadata)
        try digests.catchUp()
        versions.digests = digests
        let parking = try Parking(db, now: environment.milliseconds())
        let settlement = try Settlement(db, environment, parking)
        let remover = RowRemover(db: db, versions: versions, parking: parking, settlement: settlement)
        var count = 0
        for (table, known) in try tables(db, acknowledged) {
            guard let partial = partials[table.number], partial.isDominated(by: known) else { continue }
            let rows = try Candidates(db, table, partial, parking)
            let left = try takeOut(rows, remover, knownTo: known)
            count += left.removed
            try partial.setSwept(db, left.kept == 0 ? sequence : 0)
            try partial.catchUp(db)
        }
        try settlement.run(isFull: false)
        try triggers.restore()
        try settlement.finish()
        try digests.flush()
        try db.execute(sql: "UPDATE _sync_state SET applying = 0")
        if count > 0 { try BundleApplier.notifyUntoldChanges(db) }
    }

    private func takeOut(
        _ rows: Candidates, _ remover: RowRemover, knownTo known: VersionVector
    ) throws -> (removed: Int, kept: Int) {
        var (removed, kept) = (0, 0)
        let partial = rows.partial
        for key in try rows.keys() {
            try withExtendedLifetime(key) {
                let key = RowKey(key.value)
                guard let local = try remover.versions.load(partial.number, key), local.version.isAlive else {
                    return try remover.unmark(partial.number, key)
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

    /// The rows of a table that may have to go.
    private struct Candidates {
        let db: Database
        let table: AppliedTable
        let partial: PartialTable
        let parking: Parking

        init(_ db: Database, _ table: SyncedTable, _ partial: PartialTable, _ parking: Parking) throws {
            self.db = db
            self.table = try AppliedTable(db, table, columns: table.columns)
            self.partial = partial
            self.parking = parking
        }

        /// The keys of rows that left, of rows with another value in the table, and of all rows of which
        /// something waits.
        func keys() throws -> [OwnedValue] {
            let number = partial.number
            var keys = try DatabaseValue.fetchSet(
                db,
                sql: """
                    SELECT pk FROM _sync_left WHERE tbl = ?1 UNION SELECT pk FROM _sync_shadow WHERE tbl = ?1
                    """, arguments: [number])
            let column = table.table.columns.first { $0.number == partial.column && $0.isPresent }
            guard !partial.wantsEverything, table.table.hasRows, let column else {
                return keys.map(OwnedValue.make)
            }
            // Only numbers and texts of the column's own type are compared here, by their bytes.
            let name = column.name.quotedDatabaseIdentifier
            try db.execute(
                sql: """
                    DROP TABLE IF EXISTS temp._sync_wanted;
                    CREATE TEMP TABLE _sync_wanted (val);
                    INSERT INTO temp._sync_wanted SELECT val FROM _sync_partial_value WHERE tbl = \(number) AND wanted;
                    """)
            defer { try? db.execute(sql: "DROP TABLE IF EXISTS temp._sync_wanted") }
            keys.formUnion(
                try DatabaseValue.fetchSet(
                    db,
                    sql: """
                        SELECT \(table.table.key.quotedDatabaseIdentifier) FROM \(table.table.qualifiedName) AS t
                        WHERE NOT EXISTS (
                            SELECT 1 FROM temp._sync_wanted AS w
                            WHERE w.val IS +t.\(name) COLLATE BINARY AND typeof(w.val) = typeof(t.\(name)))
                        """))
            return keys.map(OwnedValue.make)
        }

        /// Whether a row is not among those that are held. One that left by what somebody else wrote, and
        /// that was written into the held ones here, waits for the remote to say where it is.
        func isOutside(_ key: RowKey, _ version: RowVersion) throws -> Bool {
            let reader = table.reader
            try reader.load(key: key, hasParkedValues: parking.isInUse)
            defer { reader.finish() }
            let ordinal = table.table.columns.firstIndex { $0.number == partial.column }
            let value = ordinal.map { reader.hasValue($0) ? reader.value($0) : .null } ?? .null
            if !partial.wantsEverything, ScopeValue(value).map(partial.wanted.contains) != true {
                return true
            }
            guard partial.hasLeftRows, try isMarked(key) else { return false }
            let scope = version.stamp(ofColumn: partial.column)
            return partial.since.contains(scope)
        }

        private func isMarked(_ key: RowKey) throws -> Bool {
            let statement = try db.cachedStatement(sql: "SELECT 1 FROM _sync_left WHERE tbl = ? AND pk = ?")
            statement.reset()
            defer { statement.reset() }
            _ = RawBinding.int64(statement.sqliteStatement, 1, partial.number)
            key.value.bind(statement.sqliteStatement, 2)
            return try statement.step()
        }
    }
}
