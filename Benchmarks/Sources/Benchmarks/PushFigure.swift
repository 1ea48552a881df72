import BenchmarkRows
import CipherStore
import Foundation
import RawLoops
import SyncEngine

/// Pushes of new rows into a store that has none of them, against a C program that does the same to the same tables: the
/// versions where rows come from, the search for each row, the row and its version where it goes to.
func measurePushes(_ folder: StoreFolder, _ options: Options) throws -> [Comparison] {
    let count = options.rowCount(.push)
    let tables = [
        PushedTable(name: "trip", columnCount: 20, sql: Trip.createTable) {
            try Trip.insert(count, into: $0)
        },
        PushedTable(
            name: "note", columnCount: 4,
            sql: "CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, stars INTEGER, price REAL)"
        ) { db in
            let statement = try db.cachedStatement(sql: "INSERT OR FAIL INTO note VALUES (?, ?, ?, ?)")
            for index in 0..<count {
                try statement.execute(
                    arguments: [UUID.v7(), "The title of note \(index)", index % 6, Double(index) / 4])
            }
        },
    ]
    let contestants = tables.flatMap { table in
        [
            Contestant(name: "C, \(table.columnCount) columns") { try table.rawTransfer(folder, count) },
            Contestant(name: "push, \(table.columnCount) columns") { try table.push(folder, count) },
        ]
    }
    let timings = try medianTimings(options, contestants)
    return tables.indices.map {
        // Four fifths of the speed.
        Comparison(.push, rowCount: count, timings[2 * $0 + 1], against: timings[2 * $0], bar: 1.25)
    }
}

/// A table whose rows are pushed.
private struct PushedTable {
    let name: String
    let columnCount: Int
    let sql: String
    let fill: (Database) throws -> Void

    /// Two new stores: one has rows, and the other knows nothing of them.
    private func stores(_ folder: StoreFolder) throws -> (
        source: Synchronizer, sourcePath: String, target: String
    ) {
        let paths = [folder.newPath("source.db"), folder.newPath("target.db")]
        let queue = try DatabaseQueue(path: paths[0], configuration: Self.configuration)
        try queue.write { try $0.execute(sql: sql) }
        let synchronizer = try Synchronizer(queue, tables: [name])
        try synchronizer.clone(to: paths[1], passphrase: Passphrase(Self.passphrase))
        try queue.write { try fill($0) }
        return (synchronizer, paths[0], paths[1])
    }

    func push(_ folder: StoreFolder, _ count: Int) throws -> Elapsed {
        let (source, _, target) = try stores(folder)
        let transport = StoreTransport(path: target, configuration: Self.configuration)
        var report: SyncReport?
        let elapsed = try measure { report = try source.run(.push, transport) }
        guard report?.pushed?.rowCount == Int64(count), report?.parkedCount == 0 else {
            throw BenchmarkError(description: "the push lost rows")
        }
        return elapsed
    }

    func rawTransfer(_ folder: StoreFolder, _ count: Int) throws -> Elapsed {
        let (_, sourcePath, target) = try stores(folder)
        var connections: [OpaquePointer?] = [nil, nil]
        defer { for connection in connections { _ = raw_close(connection) } }
        func open(_ path: String, _ index: Int) throws {
            guard raw_open(path, Self.passphrase, &connections[index]) == 0,
                raw_execute(connections[index], Self.settings) == 0
            else { throw BenchmarkError(description: "a store does not open") }
        }
        // Who pushes has its own store open, and derives the key of the other one.
        try open(sourcePath, 0)
        var transferred: Int64 = 0
        let elapsed = try measure {
            try open(target, 1)
            guard raw_transfer(connections[0], connections[1], name, &transferred) == 0 else {
                throw BenchmarkError(
                    description: connections.map { String(cString: raw_message($0)) }.joined(separator: "; "))
            }
        }
        guard transferred == count else { throw BenchmarkError(description: "the transfer lost rows") }
        return elapsed
    }

    private static let passphrase = "passphrase of the benchmark"
    private static let settings = "PRAGMA cache_size = -32768; PRAGMA synchronous = OFF"

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.usePassphrase(passphrase)
            try db.execute(sql: "PRAGMA synchronous = OFF")
        }
        configuration.journalMode = .wal
        configuration.cacheKibibytes = 32 * 1024
        return configuration
    }
}
