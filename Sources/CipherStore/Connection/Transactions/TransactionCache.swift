/// How large the cache of a connection is while a transaction writes.
///
/// Where the pages of a transaction stay in memory until its commit (``Database/keepTransactionsInMemory(afterAttaching:)``),
/// they fill the cache in the end, and SQLite drops each other page as soon as nothing uses it. The inner pages of a tree
/// are read and decrypted again for each row then. So the cache grows with what was written, until the transaction ends.
struct TransactionCache {
    /// How many statements write before the cache is looked at again.
    static let interval: UInt32 = 256

    /// How many statements write until the cache is looked at.
    var countdown = interval

    /// How many bytes of pages show that the cache holds more than its size; nil while that is not known.
    fileprivate var fullByteCount: Int?

    /// The sizes, as `PRAGMA cache_size` has them, that were in effect and are now; nil when it has not grown.
    fileprivate var sizes: (before: Int, now: Int)?

    /// Whether anything is known of the cache in this transaction.
    var isKnown: Bool { fullByteCount != nil }
}

extension Database {
    /// Notes that a statement has written.
    @inline(__always)
    func noteWrite() {
        transactionCache.countdown &-= 1
        if transactionCache.countdown == 0 { growCacheIfFull() }
    }

    /// Makes the cache larger when pages that were written leave no room in it for others.
    @inline(never)
    private func growCacheIfFull() {
        transactionCache.countdown = TransactionCache.interval
        guard EngineFeatures.current.losesCommitsAfterPartialRollback, isInsideTransaction else { return }
        let byteCount = SQLiteHandle.cacheByteCount(handle)
        if let full = transactionCache.fullByteCount, byteCount <= full { return }
        withoutTracing {
            authorizer.trusting {
                guard let size = cacheSize, let pageSize = setting("page_size") else { return }
                transactionCache.fullByteCount = Self.fullByteCount(size, pageSize: pageSize)
                let base = size < 0 ? -size : size * pageSize / 1024
                guard let full = transactionCache.fullByteCount, byteCount > full, base < Self.keptKibibytes
                else { return }
                // What was there keeps its place beside what was written. Beyond the most that is kept, SQLite writes.
                let larger = -min(byteCount / 1024 * 3 / 2 + base, Self.keptKibibytes)
                guard SQLiteHandle.execute(handle, "PRAGMA main.cache_size = \(larger)") == 0 else { return }
                // The app may have set another size since the cache grew.
                let before = transactionCache.sizes.flatMap { $0.now == size ? $0.before : nil }
                transactionCache.sizes = (before ?? size, larger)
                transactionCache.fullByteCount = Self.fullByteCount(larger, pageSize: pageSize)
            }
        }
    }

    /// Gives the cache the size that it had before the transaction, unless somebody has changed it since.
    @inline(never)
    func shrinkCache() {
        let sizes = transactionCache.sizes
        transactionCache = TransactionCache()
        guard let sizes, !isClosed else { return }
        withoutTracing {
            authorizer.trusting {
                guard cacheSize == sizes.now else { return }
                _ = SQLiteHandle.execute(handle, "PRAGMA main.cache_size = \(sizes.before)")
            }
        }
    }

    private var cacheSize: Int? { setting("cache_size") }

    private func setting(_ name: String) -> Int? {
        SQLiteHandle.text(handle, "PRAGMA main.\(name)").flatMap { Int($0) }
    }

    /// The memory of a full cache that has no more pages than its size: each page has some hundred bytes of SQLite's own beside it,
    /// of which a size in KiB counts half.
    private static func fullByteCount(_ size: Int, pageSize: Int) -> Int {
        let pageCount = size < 0 ? -size * 1024 / (pageSize + 128) : size
        return pageCount * (pageSize + 264) + 16_384
    }
}
