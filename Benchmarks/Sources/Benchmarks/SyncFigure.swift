import BenchmarkRows
import CipherStore
import Foundation
import SyncEngine

/// What synchronization takes, on rows of twenty columns.
func measureSync(_ folder: StoreFolder, _ options: Options) throws -> [SyncResult] {
    let rowCount = options.rowCount(.sync)
    return try [measurePush(folder, options, rowCount)] + measureFolds(folder, options, rowCount)
        + [measureSmallPull(folder, options, rowCount * 3)]
}

/// Pushes rows into a store that has none of them. The time is that of the whole push: opening the
/// other store with its passphrase, fold, export, merge and commit.
private func measurePush(_ folder: StoreFolder, _ options: Options, _ rowCount: Int) throws -> SyncResult {
    let (source, synchronizer) = try makeStore(folder, "source.db")
    let path = folder.newPath("target.db")
    try synchronizer.clone(to: path, passphrase: Passphrase(storePassphrase))
    try source.write { try Trip.insert(rowCount, into: $0) }

    let transport = StoreTransport(path: path, configuration: storeConfiguration)
    var report: SyncReport?
    let elapsed = try measure { report = try synchronizer.run(.push, transport) }
    guard report?.pushed?.rowCount == Int64(rowCount), report?.parkedCount == 0 else {
        throw BenchmarkError(description: "the push lost rows")
    }
    let seconds = elapsed.seconds(options)
    return SyncResult(
        "push of new rows", count: rowCount, seconds: seconds, value: Double(rowCount) / seconds, "rows/s",
        atLeast: 100_000, peakMegabytes: PeakMemory.megabytes())
}

/// Folds the inserts of all rows, then an update of one column of each; both with the bytes that
/// the versions take once the history is gone.
private func measureFolds(
    _ folder: StoreFolder, _ options: Options, _ rowCount: Int
) throws -> [SyncResult] {
    let (queue, _) = try makeStore(folder, "folded.db")
    let path = queue.path
    let peer = try StoreTransport(path: path, configuration: storeConfiguration).connect(.system)
    defer { peer.close() }
    _ = try peer.greet()
    func fold(_ name: String) throws -> SyncResult {
        let elapsed = try measure { _ = try peer.greet() }
        let seconds = elapsed.seconds(options)
        return SyncResult(
            name, count: rowCount, seconds: seconds, value: Double(rowCount) / seconds, "entries/s",
            atLeast: 300_000, peakMegabytes: PeakMemory.megabytes())
    }
    func size(_ name: String, _ sizeBefore: Int, atMost bar: Double) throws -> SyncResult {
        let bytes = try compactedSize(queue) - sizeBefore
        return SyncResult(
            name, count: rowCount, seconds: 0, value: Double(bytes) / Double(rowCount), "bytes each",
            atMost: bar, peakMegabytes: PeakMemory.megabytes())
    }
    try queue.write { try Trip.insert(rowCount, into: $0) }
    let inserts = try fold("fold of inserts")
    let bare = try sizeOfRows(folder, rowCount)
    let rows = try size("metadata of rows", bare, atMost: 90)
    try queue.write { try $0.execute(sql: "UPDATE trip SET minute = minute + 1") }
    let updates = try fold("fold of updates")
    let cells = try size("metadata of cells", bare + Int(rows.value * Double(rowCount)), atMost: 45)
    return [inserts, updates, rows, cells]
}

/// How many bytes the pages take in which the same rows are, without synchronization.
private func sizeOfRows(_ folder: StoreFolder, _ rowCount: Int) throws -> Int {
    let queue = try DatabaseQueue(path: folder.newPath("bare.db"), configuration: storeConfiguration)
    try queue.write { db in
        try db.execute(sql: Trip.createTable)
        try Trip.insert(rowCount, into: db)
    }
    return try compactedSize(queue)
}

/// How many bytes the pages take that are in use, once the history is gone but for its last entry.
private func compactedSize(_ queue: DatabaseQueue) throws -> Int {
    try queue.writeWithoutTransaction { db in
        if try db.tableExists("_sync_log") {
            try db.execute(sql: "DELETE FROM _sync_log WHERE seq < (SELECT max(seq) FROM _sync_log)")
        }
        try db.execute(sql: "VACUUM")
        let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        let pageSize = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0
        return pages * pageSize
    }
}

/// Pulls the edits of a hundred rows among many, from a store whose connection is open.
private func measureSmallPull(
    _ folder: StoreFolder, _ options: Options, _ rowCount: Int
) throws -> SyncResult {
    let (queue, synchronizer) = try makeStore(folder, "large.db")
    try queue.write { try Trip.insert(rowCount, into: $0) }
    let path = folder.newPath("edited.db")
    try synchronizer.clone(to: path, passphrase: Passphrase(storePassphrase))
    let edited = try DatabaseQueue(path: path, configuration: storeConfiguration)
    let transport = OpenStoreTransport(
        peer: try StoreTransport(path: path, configuration: storeConfiguration).connect(.system))
    let changeCount = 100
    let stride = max(1, rowCount / changeCount)
    var times: [Double] = []
    for turn in 0...options.runCount {
        try edited.write { db in
            // By key, as an application does: a scan would leave nothing but its end in the page cache.
            for number in 0..<changeCount {
                try db.execute(
                    sql: "UPDATE trip SET flight = flight + 1 WHERE rowid = ?",
                    arguments: [1 + number * stride + turn % stride])
            }
        }
        var report: SyncReport?
        let elapsed = try measure { report = try synchronizer.run(.pull, transport) }
        guard let pulled = report?.pulled, abs(pulled.rowCount - Int64(changeCount)) <= 1 else {
            throw BenchmarkError(description: "the pull brought \(report?.pulled?.rowCount ?? 0) rows")
        }
        if turn > 0 { times.append(elapsed.seconds(options)) }
    }
    let seconds = times.sorted()[times.count / 2]
    return SyncResult(
        "pull of \(changeCount) edits of \(rowCount)", count: changeCount, seconds: seconds,
        value: seconds * 1000, "ms", atMost: 20, peakMegabytes: PeakMemory.megabytes())
}

private func makeStore(_ folder: StoreFolder, _ name: String) throws -> (DatabaseQueue, Synchronizer) {
    let queue = try DatabaseQueue(path: folder.newPath(name), configuration: storeConfiguration)
    try queue.write { try $0.execute(sql: Trip.createTable) }
    return (queue, try Synchronizer(queue, tables: ["trip"]))
}

private let storePassphrase = "passphrase of the benchmark"

private var storeConfiguration: Configuration {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.usePassphrase(storePassphrase) }
    configuration.journalMode = .wal
    // As syncctl has it.
    configuration.cacheKibibytes = 32 * 1024
    return configuration
}
