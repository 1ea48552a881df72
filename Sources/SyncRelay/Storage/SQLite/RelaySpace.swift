import CipherStore
import Foundation

/// Gives back the space of what nobody sees any more.
///
/// A file of 4 GiB has a million pages, and whoever writes would wait while they are freed. So a body is only noted first, and
/// its blocks are removed by small transactions, between those of others.
enum RelaySpace {
    /// How long an upload waits for its rest.
    static let uploadMilliseconds: Int64 = 3_600_000
    /// How many blocks one slice removes: 4 MiB.
    private static let sliceBlockCount = 16
    private static let sliceBodyCount = 256
    /// How many free pages stay in the file for what comes next: 16 MiB.
    private static let freePageCountMax: Int64 = 4_096
    private static let slicePageCount = 1_024

    /// Notes that nobody sees a body any more. A body of one block goes at once.
    static func discard(_ db: Database, body: Int64, byteCount: Int64) throws {
        guard body > 0 else { return }
        if byteCount <= Int64(RelayUpload.pieceByteCount) {
            try db.run("DELETE FROM block WHERE id = ?", [body * RelaySchema.blocksPerBody])
        } else {
            try db.run("INSERT OR IGNORE INTO discarded (body) VALUES (?)", [body])
        }
    }

    /// Gives up uploads that were not written since some time; all of them when nil.
    static func abandonUploads(_ db: Database, before milliseconds: Int64?) throws {
        let limit = milliseconds ?? .max
        try db.run(
            "INSERT OR IGNORE INTO discarded (body) SELECT body FROM upload WHERE milliseconds < ?", [limit])
        try db.run("DELETE FROM upload WHERE milliseconds < ?", [limit])
    }

    /// Does a small part of what there is to do.
    ///
    /// - returns: Whether there is more.
    @Sendable static func doSlice(_ db: Database) throws -> Bool {
        if try removeBlocks(db) { return true }
        return try giveBackPages(db)
    }

    private static func removeBlocks(_ db: Database) throws -> Bool {
        guard try db.row("SELECT 1 FROM discarded LIMIT 1") != nil else { return false }
        try db.inTransaction {
            var count = sliceBlockCount
            for row in try db.rows("SELECT body FROM discarded LIMIT ?", [sliceBodyCount]) where count > 0 {
                let body = try row.decode(Int64.self, atIndex: 0)
                guard (1...RelaySchema.bodyMax).contains(body) else {
                    // Another program wrote this number, which no body has.
                    try db.run("DELETE FROM discarded WHERE body = ?", [body])
                    continue
                }
                let first = body * RelaySchema.blocksPerBody
                try db.run(
                    """
                    DELETE FROM block WHERE id IN (
                        SELECT id FROM block WHERE id >= ? AND id < ? ORDER BY id LIMIT ?)
                    """,
                    [first, first + RelaySchema.blocksPerBody, count])
                let removed = db.changesCount
                if removed < count { try db.run("DELETE FROM discarded WHERE body = ?", [body]) }
                count -= removed
            }
            return .commit
        }
        return true
    }

    private static func giveBackPages(_ db: Database) throws -> Bool {
        let free = try Int64.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
        guard free > freePageCountMax else { return false }
        // Each step of the statement gives back one page.
        _ = try Row.fetchAll(db, sql: "PRAGMA incremental_vacuum(\(slicePageCount))")
        // Where the file can't shrink, there would be no end of it.
        return try Int64.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0 < free
    }
}
