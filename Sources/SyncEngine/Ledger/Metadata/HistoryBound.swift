import CipherStore
import SyncWire

/// How much history a store keeps.
enum HistoryBound {
    private static let countName = "history.count"
    private static let ageName = "history.milliseconds"

    /// How many changes are kept unless somebody says otherwise.
    static let defaultCount: Int64 = 500_000

    static func count(_ db: Database) throws -> Int64 {
        try SyncSetting.integer(db, countName) ?? defaultCount
    }

    static func setCount(_ db: Database, _ count: Int64) throws {
        try SyncSetting.set(db, countName, max(0, count))
    }

    static func setAge(_ db: Database, _ milliseconds: Int64) throws {
        try SyncSetting.set(db, ageName, max(0, milliseconds))
    }

    /// Drops what lies beyond the bound. The last entry stays: it numbers the next one.
    ///
    /// - returns: How many entries were dropped.
    static func prune(_ db: Database, folded: Int64, now: Int64) throws -> Int64 {
        let last = try Int64.fetchOne(db, sql: "SELECT max(seq) FROM _sync_log") ?? 0
        var first = last - (try count(db)) + 1
        if let age = try SyncSetting.integer(db, ageName) {
            let kept = try Int64.fetchOne(
                db, sql: "SELECT min(seq) FROM _sync_log WHERE ms >= ?", arguments: [now - age])
            first = max(first, kept ?? last)
        }
        first = min(first, folded + 1, last)
        return try ChangeLog(db).removeEntries(before: first)
    }
}
