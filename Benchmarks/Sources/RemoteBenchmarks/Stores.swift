import BenchmarkRows
import CipherStore
import Foundation
import SyncEngine
import SyncHTTP

/// Something that can't be measured.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String
}

/// The stores that are measured, as syncctl opens them.
enum Stores {
    private static let passphrase = "passphrase of the benchmark"

    static func secret() throws -> Passphrase { try Passphrase(passphrase) }

    static var configuration: Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase(passphrase) }
        configuration.busyMode = .timeout(60)
        configuration.journalMode = .wal
        configuration.cacheKibibytes = 32 * 1024
        return configuration
    }

    static func open(_ path: String) throws -> DatabaseQueue {
        try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Makes a store with a table of trips and one of pings, without rows.
    static func create(_ path: String) throws {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in
            try db.execute(sql: Trip.createTable)
            try db.execute(sql: "CREATE TABLE ping (id BLOB PRIMARY KEY NOT NULL, sent REAL)")
        }
        _ = try Synchronizer(queue, tables: ["trip", "ping"])
        try queue.close()
    }

    static func insert(_ count: Int, into path: String) throws {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try Trip.insert(count, into: $0) }
        try queue.close()
    }

    static func count(_ path: String) throws -> Int {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM trip") ?? 0 }
    }
}

/// A folder for the stores, removed at the end.
final class WorkFolder {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "remote-benchmarks-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }
}

/// What a process took.
struct Usage: Codable {
    let peakMegabytes: Double
    let processorSeconds: Double

    /// What this process has taken until now.
    static var now: Usage {
        // RUSAGE_SELF is 0 everywhere, but of another type in each C library. Its peak of memory is at least that of the
        // process which started this one.
        var usage = rusage()
        getrusage(0, &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return Usage(
            peakMegabytes: PeakMemory.megabytes(),
            processorSeconds: seconds(usage.ru_utime) + seconds(usage.ru_stime))
    }
}

/// The time in seconds on a clock that all processes of the machine share.
func monotonicSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
