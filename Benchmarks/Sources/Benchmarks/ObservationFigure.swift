import CipherStore
import Dispatch
import Foundation
import Synchronization

private let observationCount = 1000
private let tableCount = 100

/// Small commits to a pool that nobody observes, against the same ones beside 10 and 1,000 observations: of other tables, so
/// that none of them has to fetch, of all tables, where each commit concerns ten, and of the one table that is written.
func measureObservations(_ folder: StoreFolder, _ options: Options) throws -> [Comparison] {
    let count = options.rowCount(.observations)
    let alone = try makePool(folder.newPath("alone.db"))
    let few = try Observed(folder.newPath("few.db"), count: 10) { "o\($0 % tableCount)" }
    let many = try Observed(folder.newPath("many.db"), count: observationCount) { "o\($0 % tableCount)" }
    let ofOneTable = try Observed(folder.newPath("one.db"), count: observationCount) { _ in "t" }
    let timings = try medianTimings(
        options,
        [
            ("nobody observes", alone), ("10 observations of others", few.pool),
            ("1000 observations of others", many.pool),
        ].map { name, pool in
            Contestant(name: name) { try measure { try commit(count, to: pool) { _ in "t" } } }
        })
    guard few.fetches.value == 10, many.fetches.value == observationCount else {
        throw BenchmarkError(description: "observations have fetched that nothing has touched")
    }
    let touching = try medianTimings(
        options,
        [
            ("nobody observes, 100 tables", alone), ("1000 observations, 10 of each table", many.pool),
        ].map { name, pool in
            Contestant(name: name) {
                try measure { try commit(count / 10, to: pool) { "o\($0 % tableCount)" } }
            }
        })
    let touchingAll = try medianTimings(
        options,
        [("nobody observes", alone), ("1000 observations of the table", ofOneTable.pool)].map { name, pool in
            Contestant(name: name) { try measure { try commit(count / 100, to: pool) { _ in "t" } } }
        })
    return [
        Comparison(.observations, rowCount: count, timings[1], against: timings[0], bar: 1.05),
        Comparison(.observations, rowCount: count, timings[2], against: timings[0], bar: 1.05),
        Comparison(.observations, rowCount: count / 10, touching[1], against: touching[0]),
        Comparison(.observations, rowCount: count / 100, touchingAll[1], against: touchingAll[0]),
    ]
}

/// A pool with observations, which begin before anything is measured, and end with it.
private final class Observed {
    let pool: DatabasePool
    let fetches = Counter()
    private let observers: [AnyDatabaseCancellable]

    init(_ path: String, count: Int, _ table: (Int) -> String) throws {
        pool = try makePool(path)
        let watches = Counter()
        observers = observe(pool, (0..<count).map(table), fetches, watches)
        // A commit before a region is watched is followed by another fetch.
        while watches.value < count { usleep(1000) }
    }

    deinit { for observer in observers { observer.cancel() } }
}

private func makePool(_ path: String) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.usePassphrase("benchmark passphrase") }
    let pool = try DatabasePool(path: path, configuration: configuration)
    try pool.write { db in
        try db.execute(sql: "CREATE TABLE t (a)")
        for number in 0..<tableCount { try db.execute(sql: "CREATE TABLE o\(number) (a)") }
    }
    return pool
}

private func observe(
    _ pool: DatabasePool, _ tables: [String], _ fetches: Counter, _ watches: Counter
) -> [AnyDatabaseCancellable] {
    tables.map { table in
        ValueObservation.tracking { db in
            fetches.count.withLock { $0 += 1 }
            return try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)")
        }.handleEvents(willTrackRegion: { _ in watches.count.withLock { $0 += 1 } }).start(
            in: pool, scheduling: .async(onQueue: .global()), onError: { fatalError("\($0)") },
            onChange: { _ in })
    }
}

/// How many there were of something.
private final class Counter: Sendable {
    let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
}

private func commit(_ count: Int, to pool: DatabasePool, _ table: (Int) -> String) throws {
    for number in 0..<count {
        try pool.write { db in
            try db.cachedStatement(sql: "INSERT INTO \(table(number)) VALUES (?)").execute(arguments: [number]
            )
        }
    }
}
