import CipherStore
import SyncWire

/// What was taken out of a store's metadata because other stores would refuse its bundles.
public struct MetadataRepairReport: Equatable, Sendable {
    /// The rows that have versions of the present again.
    public internal(set) var rowCount: Int64 = 0
    /// The replicas that are forgotten, of which nothing but their name was known.
    public internal(set) var replicaCount: Int64 = 0
    /// The tables and columns that are forgotten, of which nobody sent a value, and other names that were too many.
    public internal(set) var nameCount: Int64 = 0
    /// The numbers of changes and the times that no replica reaches.
    public internal(set) var claimCount: Int64 = 0

    /// Whether nothing had to be done.
    public var isEmpty: Bool { self == MetadataRepairReport() }
}

/// The part of it that is one transaction.
struct MetadataRepair {
    let db: Database
    let environment: SyncEnvironment

    /// Repairs what is there.
    ///
    /// - returns: What was done, and the store after it.
    func run() throws -> (report: MetadataRepairReport, store: FoldedStore) {
        try MetadataSchema.upgrade(db)
        var report = MetadataRepairReport()
        // The fold needs numbers, and begins after the clock.
        report.claimCount += try ChangeLog(db).repairTimes(now: environment.milliseconds())
        report.claimCount += try repairClock()
        var store = try FoldedStore.fold(db, environment)
        report.claimCount += try repairClaims()
        if let repaired = try repairRows() { (report.rowCount, store) = repaired }
        report.replicaCount = try forgetReplicas()
        report.nameCount = try forgetNames()
        if !report.isEmpty { try DigestLedger.invalidate(db) }
        return (report, store)
    }

    /// Takes back what was said of replicas, to what is here of their changes.
    private func repairClaims() throws -> Int64 {
        // All tables of ``ImplausibleMetadata/sequenceTables``.
        let register = ReplicaRegister(db: db)
        var count = try register.removeImplausibleKnown()
        count += try Acknowledgement(db: db).removeImplausible()
        count += try Tombstones(db: db).removeImplausibleFloor()
        count += try Coverage.removeImplausible(db)
        count += try ReplicaChain(db: db).removeImplausible()
        count += try register.repairSequences()
        count += try register.repairRetirements(now: environment.milliseconds())
        return try count + PolicyStore.repairStamps(db)
    }

    /// Takes a clock that is beyond all timestamps back to the last one of this replica that is none of the future.
    ///
    /// - returns: 1, or 0 when the clock is as it should be.
    private func repairClock() throws -> Int64 {
        let metadata = try StoreMetadata.require(db)
        guard metadata.isClockBeyond else { return 0 }
        let newest = try VersionTable.newestTimestamp(
            db, of: metadata.selfNumber, after: 0, upTo: environment.adoptionBound)
        try StoreMetadata.setBackClock(db, to: newest)
        return 1
    }

    /// Lets rows begin a life of the present, as if they were written again as they are; deletions are told again. Both
    /// win, whatever the former stamps are.
    ///
    /// The log has nothing of it but a mark, which gives them their number. By entries for rows, a fold would take what
    /// waits of them for replaced.
    ///
    /// - returns: How many there were, and the store after it; nil when there was none.
    private func repairRows() throws -> (count: Int64, store: FoldedStore)? {
        try db.execute(
            sql: """
                CREATE TEMP TABLE _sync_healed (r INTEGER PRIMARY KEY);
                INSERT INTO temp._sync_healed SELECT r.r FROM _sync_row AS r
                WHERE \(ImplausibleMetadata.isStampBeyond) OR \(ImplausibleMetadata.isLifeBeyond);
                """)
        defer { try? db.execute(sql: "DROP TABLE IF EXISTS temp._sync_healed") }
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM temp._sync_healed)") == true else {
            return nil
        }
        try DigestLedger.invalidate(db)
        try VersionTable.repairLives(db)
        // By other versions nobody could tell any more that an original has been replaced.
        try OriginalValues.removeStale(db)
        let metadata = try StoreMetadata.require(db)
        let stamps = StampRule(metadata, now: try environment.stampMilliseconds())
        let number = try ChangeLog(db).appendMark(at: stamps.now)
        let count = try VersionTable.rewrite(db, rowsIn: "_sync_healed", as: number, stamps)
        let store = try FoldedStore.fold(db, environment)
        try CounterStore.beginParked(db, ofRowsIn: "_sync_healed")
        try OriginalValues.followVersions(db)
        // Rows that collide have another order.
        try SettlementMark.remove(db)
        return (count, store)
    }

    private func forgetReplicas() throws -> Int64 {
        // Who is said to know changes of a replica of which nothing is here knows nothing that matters.
        let register = ReplicaRegister(db: db)
        try register.removeKnownOfUnheard()
        try Acknowledgement(db: db).removeOfUnheard()
        return try register.removeUnheard()
    }

    private func forgetNames() throws -> Int64 {
        // Of a table whose rows were lost nothing is here, and the rows are wanted.
        let isWanted = "IN (SELECT p.tbl FROM main._sync_partial AS p)"
        let tables =
            "SELECT t.tbl FROM _sync_table AS t WHERE \(ImplausibleMetadata.isEmptyElsewhere) AND NOT t.tbl \(isWanted)"
        try SyncedTable.removeColumns(db, ofTables: tables)
        try NameAliases.removeAll(db, ofTables: tables)
        try PolicyStore.removeAll(db, ofTables: tables)
        try CounterStore.removeShares(db, ofTables: tables)
        try Coverage.removeAll(db, ofTables: tables)
        var count = try SyncedTable.removeAll(db, tables: tables) + NameAliases.removeExcess(db)
        let unused = "(\(ImplausibleMetadata.isUnusedElsewhere)) AND NOT c.tbl \(isWanted)"
        count += try forgetColumns("\(unused) AND NOT \(ImplausibleMetadata.hasPolicy)")
        // A newer app declares how a column is merged before it has a value. This one may get the column first.
        if try Capacity(db).isHalfFull { count += try forgetColumns(unused) }
        return count
    }

    /// Forgets columns.
    ///
    /// - parameter condition: What they meet, as `c`.
    /// - returns: How many there were.
    private func forgetColumns(_ condition: String) throws -> Int64 {
        try db.execute(
            sql: """
                CREATE TEMP TABLE _sync_unused (tbl INTEGER, col INTEGER, PRIMARY KEY (tbl, col)) WITHOUT ROWID;
                INSERT INTO temp._sync_unused SELECT c.tbl, c.col FROM _sync_column AS c WHERE \(condition);
                """)
        defer { try? db.execute(sql: "DROP TABLE IF EXISTS temp._sync_unused") }
        try NameAliases.removeAll(db, ofColumnsListed: "temp._sync_unused")
        try PolicyStore.removeAll(db, ofColumnsListed: "temp._sync_unused")
        return try SyncedTable.removeColumns(db, listed: "temp._sync_unused")
    }
}
