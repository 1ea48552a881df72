import CipherStore
import Dispatch
import Foundation
import Synchronization

private let observationCount = 1000
private let tableCount = 100

/// Small commits to a pool that nobody observes, against the same ones beside 1,000 observations: of other tables, so
/// that none of them has to fetch, and of all tables, where each commit concerns ten.
func measureObservations(_ folder: StoreFolder, _ options: Options) throws -> [Comparison] {
    let count = options.rowCount(.observations)
    let pools = try ["alone", "beside"].map { try makePool(folder.newPath("\($0).db")) }
    let (fetches, watches) = (Counter(), Counter())
    let observers = observe(pools[1], fetches, watches)
    defer { for observer in observers { observer.cancel() } }
    // A commit before a region is watched is followed by another fetch.
    while watches.value < observationCount { usleep(1000) }
    let timings = try medianTimings(
        options,
        zip(pools, ["nobody observes", "1000 observations of others"]).map { pool, name in
            Contestant(name: name) { try measure { try commit(count, to: pool) { _ in "t" } } }
        })
    guard fetches.value == observationCount else {
        throw BenchmarkError(description: "observations have fetched that nothing has touched")
    }
    let touching = try medianTimings(
        options,
        zip(pools, ["nobody observes, 100 tables", "1000 observations, 10 of each table"]).map { pool, name in
            Contestant(name: name) {
                try measure { try commit(count / 10, to: pool) { "o\($0 % tableCount)" } }
            }
        })
    return [
        Comparison(.observations, rowCount: count, timings[1], against: timings[0], bar: 1.05),
        Comparison(.observations, rowCount: count / 10, touching[1], against: touching[0]),
    ]
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

private func observe(_ pool: DatabasePool, _ fetches: Counter, _ watches: Counter) -> [AnyDatabaseCancellable]
{
    (0..<observationCount).map { number in
        ValueObservation.tracking { db in
            fetches.count.withLock { $0 += 1 }
            return try Int.fetchOne(db, sql: "SELECT count(*) FROM o\(number % tableCount)")
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
