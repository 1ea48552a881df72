import CipherStore
import SyncWire

/// Turns the tail of the log into versions, in bulk.
///
/// It runs at the start of each synchronization and of each merge, in the same
/// transaction, so that whatever was logged after a merge is stamped above
/// everything that the merge brought.
///
/// The invariants:
/// 1. A stamp is `max(clock + 1, min(ms, now) << 16)`, and above the stamp that
///    it replaces: a local edit always wins over what it was made upon. Where that would be beyond what other stores
///    take in, because somebody sent a stamp of the far future, the edit begins a new life of its row. Nothing is folded
///    while the machine's own clock is beyond that.
/// 2. The sequence of a change is the number of its last log entry.
/// 3. Only the last write of a row, or of a cell, gets a version: nobody else
///    has seen the others.
///
/// It is ``FoldedStore`` that runs it, and nobody else.
struct Fold {
    /// What a fold did.
    struct Summary: Equatable {
        /// How many log entries were folded.
        var entryCount: Int64 = 0
    }

    let db: Database
    let environment: SyncEnvironment

    /// Folds the log's tail. Runs in the caller's transaction.
    @discardableResult
    func run() throws -> Summary {
        assert(db.isInsideTransaction, "what is logged after a fold has to be stamped above it")
        try MetadataSchema.upgrade(db)
        // A copy must not give numbers as the replica that it is a copy of.
        try StoreFence(db: db, environment: environment).check()
        let metadata = try StoreMetadata.require(db)
        let sql = """
            SELECT count(*), max(seq), max(ms), total(op <> \(ChangeLog.Operation.insert)),
                total(op & 15 <> \(ChangeLog.Operation.update))
            FROM _sync_log WHERE seq > ?
            """
        guard let tail = try Row.fetchOne(db, sql: sql, arguments: [metadata.folded]),
            let last = try tail.decodeIfPresent(Int64.self, atIndex: 1)
        else { return Summary() }
        assert(last > metadata.folded, "an entry is folded twice")
        let stamps = StampRule(metadata, now: try environment.stampMilliseconds())
        guard let newest = Int64.fromDatabaseValue(try tail.decode(DatabaseValue.self, atIndex: 2)) else {
            throw SyncError(
                .damagedMetadata,
                "an entry of _sync_log was not made by the triggers: its time is no number; `syncctl verify` names it"
            )
        }
        var clock = stamps.stamp(newest)
        assert(clock > metadata.clock.rawValue || metadata.isClockBeyond)
        let isInsertsOnly = try tail.decode(Double.self, atIndex: 3) == 0
        let separate = try SeparateColumns.loadAll(db)
        // The usual case of a first synchronization or an import.
        if try isInsertsOnly && !hasEntriesOfMissingTables(after: metadata.folded)
            && VersionTable.foldInsertions(db, after: metadata.folded, stamps)
        {
            try foldSeparate(separate, metadata, stamps, hasUpdates: false)
        } else {
            let isUpdatesOnly = try tail.decode(Double.self, atIndex: 4) == 0
            if try !(isUpdatesOnly && separate.isEmpty && foldKnownRows(metadata, stamps)) {
                try foldAny(metadata, stamps, separate)
            }
            // An edit of a value from the future must not take the clock there.
            clock = max(
                clock,
                try VersionTable.newestTimestamp(
                    db, of: metadata.selfNumber, after: metadata.folded, upTo: environment.adoptionBound))
        }
        try StoreMetadata.advance(db, folded: last, clock: clock)
        try debugAssert(Int64.fetchOne(db, sql: "SELECT folded FROM _sync_state") == last)
        try ReplicaRegister(db: db).setSequence(last, of: metadata.selfNumber)
        try ReplicaChain(db: db).append(
            metadata, upTo: last, rowsOf: SchemaInspection(db: db).storedTables(), environment)
        try StoreFence(db: db, environment: environment).advance()
        try prune(last)
        return Summary(entryCount: try tail.decode(atIndex: 0))
    }

    /// Whether rows of a table that is gone were written.
    func hasEntriesOfMissingTables(after folded: Int64) throws -> Bool {
        // Nearly always there is none, and the tail can be long.
        let elsewhere = try Int64.fetchAll(
            db,
            sql: "SELECT tbl FROM _sync_table WHERE tracked = \(SyncedTable.Place.elsewhere.rawValue)")
        guard !elsewhere.isEmpty else { return false }
        let list = elsewhere.map(String.init).joined(separator: ",")
        return try Bool.fetchOne(
            db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_log WHERE seq > ? AND tbl IN (\(list)))",
            arguments: [folded]) == true
    }

    /// Nothing but updates of rows that are known, in one statement. It writes what
    /// ``foldAny(_:_:_:)`` would.
    ///
    /// - returns: False when a row was not known, or a value waits to be written; nothing was
    ///   changed then.
    private func foldKnownRows(_ metadata: StoreMetadata, _ stamps: StampRule) throws -> Bool {
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_shadow)") == false else {
            return false
        }
        let digests = try DigestLedger(db, metadata)
        try digests.beginFold(ofKnownRowsAfter: metadata.folded)
        guard try VersionTable.foldUpdates(db, after: metadata.folded, stamps) else { return false }
        try digests.endFold()
        return true
    }

    /// Drops the oldest history, seldom and much at a time.
    private func prune(_ last: Int64) throws {
        // An entry that another program made may have any number.
        let first = max(0, try Int64.fetchOne(db, sql: "SELECT min(seq) FROM _sync_log") ?? last)
        guard last - first > 1000 else { return }
        let count = try HistoryBound.count(db)
        guard last - first > count * 2 else { return }
        try ChangeLog(db).removeEntries(before: last - count)
    }
}
