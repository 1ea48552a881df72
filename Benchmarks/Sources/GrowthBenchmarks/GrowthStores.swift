import BenchmarkRows
import CipherStore
import Foundation
import SyncEngine

/// Two replicas of one database, in files that are removed at the end. The other one's connection stays open, as a
/// server's does.
final class GrowthStores {
    private static let passphrase = "passphrase of the benchmark"

    let queue: DatabaseQueue
    let synchronizer: Synchronizer
    let other: DatabaseQueue
    let otherSynchronizer: Synchronizer
    let transport: OpenStoreTransport
    let tables: [String]
    private let folder: URL

    /// - parameters:
    ///     - tableCount: How many tables are tracked. The first one is edited.
    ///     - isUnique: Whether the names of the rows of a table are different from each other.
    ///     - rowCount: How many rows the first table has.
    init(tableCount: Int = 1, isUnique: Bool = false, rowCount: Int) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "growth-" + UUID().uuidString, isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        tables = (0..<tableCount).map { "item\($0)" }
        let path = folder.appendingPathComponent("store.db").path
        queue = try DatabaseQueue(path: path, configuration: Self.configuration)
        let names = isUnique ? "TEXT UNIQUE" : "TEXT"
        try queue.write { [tables] db in
            for table in tables {
                try db.execute(
                    sql:
                        "CREATE TABLE \(table) (id BLOB PRIMARY KEY NOT NULL, name \(names), number INTEGER, note TEXT)"
                )
            }
        }
        synchronizer = try Synchronizer(queue, tables: tables)
        try queue.write { try Self.insert(rowCount, into: $0) }
        let otherPath = folder.appendingPathComponent("other.db").path
        try synchronizer.clone(to: otherPath, passphrase: Passphrase(Self.passphrase))
        other = try DatabaseQueue(path: otherPath, configuration: Self.configuration)
        otherSynchronizer = try Synchronizer(existing: other)
        transport = try Self.open(otherPath)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    static var configuration: Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase(passphrase) }
        configuration.journalMode = .wal
        // As syncctl has it.
        configuration.cacheKibibytes = 32 * 1024
        return configuration
    }

    /// A connection to a store that stays open.
    static func open(_ path: String) throws -> OpenStoreTransport {
        OpenStoreTransport(
            peer: try StoreTransport(path: path, configuration: configuration).connect(.system))
    }

    /// Inserts rows into the first table. All calls give the same names.
    static func insert(_ count: Int, into db: Database) throws {
        let statement = try db.cachedStatement(sql: "INSERT OR FAIL INTO item0 VALUES (?, ?, ?, ?)")
        for index in 0..<count {
            try statement.execute(arguments: [UUID.v7(), "name \(index)", index % 1000, "a note of \(index)"])
        }
    }

    /// Makes a third replica, which writes, tells the first one, and goes on as another replica.
    func meetReplicas(_ count: Int) throws {
        guard count > 0 else { return }
        let path = folder.appendingPathComponent("third.db").path
        try synchronizer.clone(to: path, passphrase: Passphrase(Self.passphrase))
        let third = try DatabaseQueue(path: path, configuration: Self.configuration)
        let writer = try Synchronizer(existing: third)
        let transport = try Self.open(queue.path)
        for turn in 0..<count {
            try third.write {
                try $0.execute(
                    sql: "UPDATE item0 SET number = number + 1 WHERE rowid = ?", arguments: [1 + turn % 500])
            }
            _ = try writer.run(.push, transport)
            if turn < count - 1 { _ = try writer.renewIdentity() }
        }
        _ = try synchronizer.run(.both, self.transport)
    }

    /// Bytes of the file, its write-ahead log included.
    func byteCount() -> Int {
        ["", "-wal"].reduce(0) { sum, suffix in
            let attributes = try? FileManager.default.attributesOfItem(atPath: queue.path + suffix)
            return sum + ((attributes?[.size] as? NSNumber)?.intValue ?? 0)
        }
    }
}
