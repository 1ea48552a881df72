import CipherStore
import Foundation

/// Gives back the space of what nobody sees any more.
///
/// A file of 4 GiB has a million pages, and whoever writes would wait while they are freed. So a body is only noted first, and
/// its blocks are removed by small transactions, between those of others.
enum RelaySpace {
    /// How many bytes one slice removes at least: 4 MiB.
    private static let sliceByteCountMin = 4 << 20
    /// What a small block counts in a slice, since it is as much work: a page.
    private static let blockByteCountMin = 4_096
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

    /// Gives an upload up.
    static func abandonUpload(_ db: Database, _ body: Int64) throws {
        try db.run("DELETE FROM upload WHERE body = ?", [body])
        guard db.changesCount > 0 else { return }
        try db.run("INSERT OR IGNORE INTO discarded (body) VALUES (?)", [body])
    }

    /// Gives up uploads that were not written since some time; all of them when nil.
    static func abandonUploads(_ db: Database, before milliseconds: Int64?) throws {
        let limit = milliseconds ?? .max
        try db.run(
            "INSERT OR IGNORE INTO discarded (body) SELECT body FROM upload WHERE milliseconds < ?", [limit])
        try db.run("DELETE FROM upload WHERE milliseconds < ?", [limit])
    }

    /// How many bytes a slice removes after so many came: twice as many. So whoever writes and gives up in turns doesn't
    /// make the file grow, however fast that goes.
    static func byteCount(after newByteCount: Int) -> Int { max(sliceByteCountMin, 2 * newByteCount) }

    /// Does a small part of what there is to do.
    ///
    /// - parameter newByteCount: How many bytes came since the slice before.
    /// - returns: Whether there is more.
    static func doSlice(_ db: Database, after newByteCount: Int) throws -> Bool {
        if try removeBlocks(db, byteCount(after: newByteCount)) { return true }
        return try giveBackPages(db)
    }

    private static func removeBlocks(_ db: Database, _ byteCount: Int) throws -> Bool {
        guard try db.row("SELECT 1 FROM discarded LIMIT 1") != nil else { return false }
        try db.inTransaction {
            var left = byteCount
            let bodies = try db.rows("SELECT body FROM discarded LIMIT ?", [byteCount / blockByteCountMin])
            for row in bodies where left > 0 {
                let body = try row.decode(Int64.self, atIndex: 0)
                // Another program wrote a number which no body has.
                let isPossible = (1...RelaySchema.bodyMax).contains(body)
                if try !isPossible || removeBlocks(db, of: body, &left) {
                    try db.run("DELETE FROM discarded WHERE body = ?", [body])
                }
            }
            return .commit
        }
        return true
    }

    /// Removes the first blocks of a body.
    ///
    /// - parameter left: How many bytes are to be removed yet.
    /// - returns: Whether there are no others.
    private static func removeBlocks(_ db: Database, of body: Int64, _ left: inout Int) throws -> Bool {
        let first = body * RelaySchema.blocksPerBody
        let count = left / RelayUpload.pieceByteCount + 1
        // One more than is removed says whether there are others.
        let found = try db.rows(
            "SELECT id, length(bytes) FROM block WHERE id >= ? AND id < ? ORDER BY id LIMIT ?",
            [first, first + RelaySchema.blocksPerBody, count + 1])
        let blocks = found.prefix(count)
        if let last = blocks.last {
            try db.run(
                "DELETE FROM block WHERE id >= ? AND id <= ?",
                [first, try last.decode(Int64.self, atIndex: 0)])
        }
        for block in blocks { left -= max(try block.decode(Int.self, atIndex: 1), blockByteCountMin) }
        // One that had none was looked up as well.
        if blocks.isEmpty { left -= blockByteCountMin }
        return found.count <= count
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
