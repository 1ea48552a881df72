import CipherStore
import SyncWire

extension Synchronizer {
    /// Drops data that no replica needs any more: deletions that all replicas know, history beyond its bound,
    /// and free pages.
    ///
    /// ```swift
    /// let report = try synchronizer.compact()
    /// print(report.forgottenDeletionCount, "deletions forgotten")
    /// ```
    ///
    /// A replica that was away for longer than the lease is retired. It loses nothing: when it comes back, it
    /// gets a new identity, rows that were deleted meanwhile go, and its own changes stay.
    ///
    /// - parameters:
    ///     - options: What may be dropped.
    ///     - isDryRun: Whether everything is undone again.
    /// - returns: What was dropped, or would be.
    /// - throws: ``SyncError``, `DatabaseError`. Nothing is dropped then, except when the only failure was
    ///   that the file could not be made smaller.
    @discardableResult
    public func compact(
        _ options: CompactionOptions = CompactionOptions(), isDryRun: Bool = false
    ) throws -> CompactionReport {
        // Local edits may have made room for rows that wait, and are about to become history.
        if !isDryRun { try database.settle(environment, isFull: false) }
        return try database.writeWithoutTransaction { db in
            var report = CompactionReport()
            try db.inTransaction(.immediate) {
                try TableTracking(db: db, environment: environment).refreshAnyway()
                let (repair, store) = try MetadataRepair(db: db, environment: environment).run()
                report = try Compaction(store: store, options: options).run()
                report.repair = repair
                return isDryRun ? .rollback : .commit
            }
            report.byteCountBefore = try Self.byteCount(db)
            if !isDryRun && options.reclaimsSpace { try Self.reclaim(db) }
            report.byteCountAfter = try Self.byteCount(db)
            return report
        }
    }

    private static func byteCount(_ db: Database) throws -> Int64 {
        let pages = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        return pages * (try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
    }

    /// Gives free pages back when there are many of them.
    private static func reclaim(_ db: Database) throws {
        let free = try Int64.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
        let all = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        guard free * 20 > all else { return }
        let isIncremental = try Int64.fetchOne(db, sql: "PRAGMA auto_vacuum") == 2
        if isIncremental {
            try db.execute(sql: "PRAGMA incremental_vacuum")
        } else {
            try db.vacuum()
        }
    }
}
