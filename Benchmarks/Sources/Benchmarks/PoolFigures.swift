import CipherStore
import Dispatch
import Foundation

private let passphrase = "benchmark passphrase"
private let readerCount = 5

/// Opens the connections of a pool with a passphrase, against as many connections in C: the pool
/// derives the key once, each of the others for itself.
func measurePoolOpening(_ folder: StoreFolder, _ options: Options) throws -> [Comparison] {
    let path = folder.newPath("pool.db")
    try makePool(path).close()
    let timings = try medianTimings(
        options,
        [
            Contestant(name: "6 C connections, passphrase") {
                try measure {
                    for _ in 0...readerCount {
                        let connection = try RawConnection(path, key: passphrase)
                        try connection.execute("SELECT count(*) FROM sqlite_master")
                    }
                }
            },
            Contestant(name: "pool of 6, passphrase") {
                try measure {
                    let pool = try makePool(path)
                    useAllReaders(of: pool)
                    try pool.close()
                }
            },
        ])
    return [Comparison(.poolOpen, rowCount: readerCount + 1, timings[1], against: timings[0], bar: 0.25)]
}

/// Four readers at once, with and without a write transaction that stays open all the while: a
/// reader that waited for the writer would never end.
func measureReadersBesideWriter(_ folder: StoreFolder, _ options: Options) throws -> [Comparison] {
    let pool = try makePool(folder.newPath("readers.db"))
    let count = options.rowCount(.poolRead)
    let timings = try medianTimings(
        options,
        [
            Contestant(name: "4 readers") { try timeReads(pool, count) },
            Contestant(name: "4 readers, open transaction") {
                try pool.write { db in
                    try db.execute(sql: "INSERT INTO t VALUES (randomblob(100))")
                    return try timeReads(pool, count)
                }
            },
        ])
    return [Comparison(.poolRead, rowCount: count, timings[1], against: timings[0], bar: 1.2)]
}

private func makePool(_ path: String) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.maximumReaderCount = readerCount
    configuration.prepareDatabase { try $0.usePassphrase(passphrase) }
    let pool = try DatabasePool(path: path, configuration: configuration)
    try pool.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t (a)") }
    return pool
}

/// Holds all readers at one moment, so that each has a connection of its own.
private func useAllReaders(of pool: DatabasePool) {
    let started = DispatchSemaphore(value: 0)
    let mayEnd = DispatchSemaphore(value: 0)
    let ended = DispatchGroup()
    for _ in 0..<readerCount {
        ended.enter()
        pool.asyncRead { _ in
            started.signal()
            mayEnd.wait()
            ended.leave()
        }
    }
    for _ in 0..<readerCount { started.wait() }
    for _ in 0..<readerCount { mayEnd.signal() }
    ended.wait()
}

private func timeReads(_ pool: DatabasePool, _ count: Int) throws -> Elapsed {
    measure {
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<count / 4 {
                _ = try? pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
            }
        }
    }
}
