import CipherStore
import SyncWire

/// What was taken out of a store's metadata because other stores would refuse its bundles.
public struct MetadataRepairReport: Equatable, Sendable {
    /// The rows that have versions of the present again.
    public internal(set) var rowCount: Int64 = 0
    /// The replicas that are forgotten, of which nothing but their name was known.
    public internal(set) var replicaCount: Int64 = 0
    /// The tables and columns that are forgotten, of which nobody sent a value.
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

    func run() throws -> MetadataRepairReport {
        try MetadataSchema.upgrade(db)
        var report = MetadataRepairReport()
        // The fold needs numbers.
        report.claimCount += try ChangeLog(db).repairTimes(now: environment.milliseconds())
        try Fold(db: db, environment: environment).run()
        report.claimCount += try repairClaims()
        report.rowCount = try repairRows()
        report.replicaCount = try forgetReplicas()
        report.nameCount = try forgetNames()
        if !report.isEmpty { try DigestLedger.invalidate(db) }
        return report
    }

    /// Takes back what was said of replicas, to what is here of their changes.
    private func repairClaims() throws -> Int64 {
        var count: Int64 = 0
        for table in ImplausibleMetadata.sequenceTables {
            try db.execute(sql: "DELETE FROM main.\(ImplausibleMetadata.beyond(table))")
            count += Int64(db.changesCount)
        }
        let most = AdmissionLimits.sequenceMax
        try db.execute(
            sql: """
                UPDATE _sync_replica SET oseq = max(
                    coalesce((SELECT max(r.oseq) FROM _sync_row AS r WHERE r.sid = _sync_replica.sid AND r.oseq <= \(most)), 0),
                    coalesce((SELECT max(c.oseq) FROM _sync_cell AS c WHERE c.sid = _sync_replica.sid AND c.oseq <= \(most)), 0))
                WHERE sid <> (SELECT self FROM _sync_state) AND (typeof(oseq) <> 'integer' OR oseq > \(most))
                """)
        count += Int64(db.changesCount)
        try db.execute(
            sql: "UPDATE _sync_policy SET hlc = ? WHERE \(ImplausibleMetadata.isPolicyBeyond)",
            arguments: [AdmissionLimits.timestampMax])
        return count + Int64(db.changesCount)
    }

    /// Lets rows begin a life of the present, as if they were written again as they are; deletions are told again. Both
    /// win, whatever the former stamps are.
    private func repairRows() throws -> Int64 {
        try db.execute(
            sql: """
                CREATE TEMP TABLE _sync_healed (r INTEGER PRIMARY KEY);
                INSERT INTO temp._sync_healed SELECT r.r FROM _sync_row AS r
                WHERE \(ImplausibleMetadata.isStampBeyond) OR \(ImplausibleMetadata.isLifeBeyond);
                """)
        defer { try? db.execute(sql: "DROP TABLE IF EXISTS temp._sync_healed") }
        try VersionTable.repairLives(db)
        let count = try ChangeLog(db).appendStates(ofRowsIn: "_sync_healed", at: environment.milliseconds())
        if count > 0 { try Fold(db: db, environment: environment).run() }
        return count
    }

    private func forgetReplicas() throws -> Int64 {
        // Who is said to know changes of a replica of which nothing is here knows nothing that matters.
        for table in ["_sync_known", "_sync_acknowledged"] {
            try db.execute(
                sql: """
                    DELETE FROM main.\(table) WHERE origin IN (
                        SELECT p.sid FROM _sync_replica AS p WHERE \(ImplausibleMetadata.isUnheardOf))
                    """)
        }
        try db.execute(
            sql: """
                DELETE FROM _sync_replica WHERE sid IN (
                    SELECT p.sid FROM _sync_replica AS p WHERE \(ImplausibleMetadata.isUnheardOf))
                """)
        return Int64(db.changesCount)
    }

    private func forgetNames() throws -> Int64 {
        let named = "SELECT c.tbl, c.col FROM _sync_column AS c WHERE \(ImplausibleMetadata.isNamedAsKey)"
        try VersionTable.forget(db, columnsIn: named)
        try Parking.forget(db, columnsIn: named)
        let tables = "SELECT t.tbl FROM _sync_table AS t WHERE \(ImplausibleMetadata.isEmptyElsewhere)"
        for table in ["_sync_column", "_sync_alias", "_sync_policy", "_sync_share", "_sync_coverage"] {
            try db.execute(sql: "DELETE FROM main.\(table) WHERE tbl IN (\(tables))")
        }
        try db.execute(sql: "DELETE FROM _sync_table WHERE tbl IN (\(tables))")
        var count = Int64(db.changesCount)
        try db.execute(
            sql: """
                CREATE TEMP TABLE _sync_unused (tbl INTEGER, col INTEGER, PRIMARY KEY (tbl, col)) WITHOUT ROWID;
                INSERT INTO temp._sync_unused
                SELECT c.tbl, c.col FROM _sync_column AS c
                WHERE \(ImplausibleMetadata.isUnusedElsewhere) OR \(ImplausibleMetadata.isNamedAsKey);
                """)
        defer { try? db.execute(sql: "DROP TABLE IF EXISTS temp._sync_unused") }
        for table in ["_sync_alias", "_sync_column"] {
            try db.execute(
                sql: """
                    DELETE FROM main.\(table) WHERE EXISTS (
                        SELECT 1 FROM temp._sync_unused AS u WHERE u.tbl = \(table).tbl AND u.col = \(table).col)
                    """)
            if table == "_sync_column" { count += Int64(db.changesCount) }
        }
        return count
    }
}
