import CipherStore
import SyncWire

/// How `_sync_state` is written, which is one row. Nothing else writes it.
extension StoreMetadata {
    /// Writes the state of a new store.
    ///
    /// - parameters:
    ///     - store: The database that it is a replica of.
    ///     - own: The local number of this replica.
    static func create(_ db: Database, store: StoreID, own: Int64) throws {
        assert(own > 0)
        try db.execute(
            sql: "INSERT INTO _sync_state (id, format, store, self) VALUES (1, ?, ?, ?)",
            arguments: [MetadataSchema.version, store.data, own])
    }

    /// Notes that the tables are those of a version.
    static func setFormat(_ db: Database, _ version: Int64) throws {
        try db.execute(sql: "UPDATE _sync_state SET format = ?", arguments: [version])
    }

    /// Notes which of the replicas this one is from now on.
    static func setSelf(_ db: Database, _ number: Int64) throws {
        try db.execute(sql: "UPDATE _sync_state SET self = ?", arguments: [number])
    }

    // MARK: Versions

    /// Where the clock can go, so that a timestamp follows that other stores take in.
    private static func bounded(_ clock: Int64) -> Int64 { min(clock, AdmissionLimits.timestampMax - 1) }

    /// Notes that the log has versions up to an entry, of which the newest has a stamp. A clock that is beyond all timestamps
    /// comes back by it.
    static func advance(_ db: Database, folded: Int64, clock: Int64) throws {
        try db.execute(
            sql: """
                UPDATE _sync_state SET folded = :folded,
                    clock = CASE WHEN clock < \(AdmissionLimits.timestampMax) THEN max(clock, :clock) ELSE :clock END
                """, arguments: ["folded": folded, "clock": bounded(clock)])
    }

    /// The same of an entry that is a mark, and has no stamp.
    static func advance(_ db: Database, folded: Int64) throws {
        try db.execute(sql: "UPDATE _sync_state SET folded = ?", arguments: [folded])
    }

    /// Lets the next stamp be above one that was given or adopted.
    static func raiseClock(_ db: Database, to stamp: Int64) throws {
        try db.execute(sql: "UPDATE _sync_state SET clock = max(clock, ?)", arguments: [bounded(stamp)])
    }

    /// Takes a clock back that is beyond all timestamps.
    static func setBackClock(_ db: Database, to stamp: Int64) throws {
        try db.execute(sql: "UPDATE _sync_state SET clock = ?", arguments: [bounded(stamp)])
    }

    // MARK: Triggers

    /// Mutes the triggers that log changes.
    static func beginApplying(_ db: Database) throws {
        try db.execute(sql: "UPDATE _sync_state SET applying = 1")
    }

    /// Whether these triggers are mute.
    static func isApplying(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT applying FROM _sync_state") == true
    }

    /// Lets these triggers run again.
    ///
    /// - parameter clock: What the clock is at least, because of what was written meanwhile.
    static func endApplying(_ db: Database, clock: Int64) throws {
        try db.execute(
            sql: "UPDATE _sync_state SET applying = 0, clock = max(clock, ?)", arguments: [bounded(clock)])
    }
}
