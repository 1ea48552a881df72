import CipherStore
import SyncWire

/// How `_sync_replica`, `_sync_known` and `_sync_retired` are written, beside what peers say
/// (``ReplicaRegister/learn(_:from:knowing:at:)``). Nothing else writes them.
extension ReplicaRegister {
    // MARK: Sequences

    /// Adds a replica of which nothing is known yet.
    ///
    /// - returns: Its local number.
    func add(_ replica: ReplicaID) throws -> Int64 {
        try db.execute(sql: "INSERT INTO _sync_replica (rid) VALUES (?)", arguments: [replica.data])
        return db.lastInsertedRowID
    }

    /// Notes the last change of a replica that is known.
    func setSequence(_ sequence: Int64, of sid: Int64) throws {
        try db.execute(sql: "UPDATE _sync_replica SET oseq = ? WHERE sid = ?", arguments: [sequence, sid])
    }

    /// Notes that changes are known, and that those replicas were heard of whose are new.
    func raise(to vector: VersionVector, at milliseconds: Int64) throws {
        // Read at once: of a thousand replicas, few have news.
        let known = try StoreMetadata.require(db).replicas
        let statement = try db.cachedStatement(
            sql: "UPDATE _sync_replica SET oseq = ?, seen = ? WHERE sid = ?")
        for replica in known {
            let sequence = vector[replica.id]
            guard sequence > replica.sequence else { continue }
            try statement.execute(arguments: [sequence, milliseconds, replica.sid])
        }
    }

    /// Notes that the changes of a replica after one of them are not known any more.
    func setBack(_ sid: Int64, to common: Int64) throws {
        try db.execute(
            sql: "UPDATE _sync_replica SET oseq = min(oseq, ?) WHERE sid = ?",
            arguments: [common, sid])
    }

    /// Lets the time begin now after which a replica is retired, for those of which nobody knows when anything was
    /// heard of them.
    func beginLeases(at milliseconds: Int64) throws {
        try db.execute(sql: "UPDATE _sync_replica SET seen = ? WHERE seen IS NULL", arguments: [milliseconds])
    }

    // MARK: Forgetting

    /// Forgets what a replica knows, for nobody waits for it.
    func removeKnown(of sid: Int64) throws {
        try db.execute(sql: "DELETE FROM main._sync_known WHERE sid = ?", arguments: [sid])
    }

    /// Forgets what retired replicas know.
    func removeKnownOfRetired() throws {
        try db.execute(
            sql: "DELETE FROM main._sync_known WHERE sid IN (SELECT sid FROM _sync_retired)")
    }

    // MARK: Repairing

    /// Forgets that replicas know changes which no replica reaches.
    ///
    /// - returns: How many numbers of changes that were.
    func removeImplausibleKnown() throws -> Int64 {
        try db.execute(sql: "DELETE FROM main.\(ImplausibleMetadata.beyond("_sync_known"))")
        return Int64(db.changesCount)
    }

    /// Sets numbers of changes that no replica reaches back to the last change that is here.
    ///
    /// - returns: How many there were.
    func repairSequences() throws -> Int64 {
        let most = AdmissionLimits.sequenceMax
        try db.execute(
            sql: """
                UPDATE _sync_replica SET oseq = max(
                    coalesce((SELECT max(r.oseq) FROM _sync_row AS r WHERE r.sid = _sync_replica.sid AND r.oseq <= \(most)), 0),
                    coalesce((SELECT max(c.oseq) FROM _sync_cell AS c WHERE c.sid = _sync_replica.sid AND c.oseq <= \(most)), 0))
                WHERE sid <> (SELECT self FROM _sync_state) AND (typeof(oseq) <> 'integer' OR oseq > \(most))
                """)
        return Int64(db.changesCount)
    }

    /// Takes retirements at a time that no store takes in back to the present.
    ///
    /// - returns: How many there were.
    func repairRetirements(now: Int64) throws -> Int64 {
        try db.execute(
            sql: "UPDATE _sync_retired SET at = ? WHERE \(ImplausibleMetadata.isRetirementBeyond)",
            arguments: [min(now, AdmissionLimits.millisecondsMax)])
        return Int64(db.changesCount)
    }

    /// Forgets that anybody knows changes of replicas of which nothing is here.
    func removeKnownOfUnheard() throws {
        try db.execute(
            sql: """
                DELETE FROM main._sync_known WHERE origin IN (
                    SELECT p.sid FROM _sync_replica AS p WHERE \(ImplausibleMetadata.isUnheardOf))
                """)
    }

    /// Forgets replicas of which nothing is here.
    ///
    /// - returns: How many there were.
    func removeUnheard() throws -> Int64 {
        try db.execute(
            sql: """
                DELETE FROM _sync_replica WHERE sid IN (
                    SELECT p.sid FROM _sync_replica AS p WHERE \(ImplausibleMetadata.isUnheardOf))
                """)
        return Int64(db.changesCount)
    }
}
