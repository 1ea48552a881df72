import CipherStore
import SyncWire

/// How much history a store keeps.
enum HistoryBound {
    private static let countName = "history.count"
    private static let ageName = "history.milliseconds"

    /// How many changes are kept unless somebody says otherwise.
    static let defaultCount: Int64 = 500_000

    /// More than any bound: other programs may write the settings, and no arithmetic on them may overflow.
    private static let limit: Int64 = 1 << 48

    static func count(_ db: Database) throws -> Int64 {
        try value(db, countName) ?? defaultCount
    }

    private static func value(_ db: Database, _ name: String) throws -> Int64? {
        try SyncSetting.integer(db, name).map { min(max(0, $0), limit) }
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
        let last = max(0, try Int64.fetchOne(db, sql: "SELECT max(seq) FROM _sync_log") ?? 0)
        var first = (last - (try count(db))).addingSaturated(1)
        if let age = try value(db, ageName) {
            let kept = try Int64.fetchOne(
                db, sql: "SELECT min(seq) FROM _sync_log WHERE ms >= ?", arguments: [now - age])
            first = max(first, kept ?? last)
        }
        first = min(first, folded.addingSaturated(1), last)
        return try ChangeLog(db).removeEntries(before: first)
    }
}
