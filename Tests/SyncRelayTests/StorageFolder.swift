import CipherStore
import Foundation

@testable import SyncRelay

/// A folder with a storage, removed when the test ends.
final class StorageFolder: Sendable {
    let folder: String
    let clock = RelayClockHand()

    init() throws {
        folder = NSTemporaryDirectory() + "syncrelay-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    var path: String { folder + "/relay.db" }

    func open(_ change: (inout SQLiteRelayStorage.Options) -> Void = { _ in }) throws -> SQLiteRelayStorage {
        var options = SQLiteRelayStorage.Options()
        // The folder stays as long as the storage.
        options.milliseconds = { [self] in clock.milliseconds }
        change(&options)
        return try SQLiteRelayStorage(path: path, options: options)
    }

    /// Opens the storage another time; the one before was closed, or is as good as killed.
    func reopened(
        after killed: SQLiteRelayStorage? = nil,
        _ change: (inout SQLiteRelayStorage.Options) -> Void = { _ in }
    ) throws -> SQLiteRelayStorage {
        guard let killed else { return try open(change) }
        // What is on the disk at this moment is what a killed process leaves.
        let copy = folder + "/killed"
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        try killed.pool.writeWithoutTransaction { _ in
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + "/relay.db" + suffix)
            }
        }
        var options = SQLiteRelayStorage.Options()
        // The folder stays as long as the storage.
        options.milliseconds = { [self] in clock.milliseconds }
        change(&options)
        return try SQLiteRelayStorage(path: copy + "/relay.db", options: options)
    }

    /// All bytes of the files in the folder.
    func bytes() throws -> Data {
        try FileManager.default.contentsOfDirectory(atPath: folder).reduce(into: Data()) { data, name in
            data += try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
        }
    }
}

extension SQLiteRelayStorage {
    func blockCount() async throws -> Int { try await count("block") }
    func uploadCount() async throws -> Int { try await count("upload") }

    /// Lets the file grow by so many pages, and then be as good as on a full disk.
    func setPageCountMax(adding count: Int) async throws {
        try await pool.writeWithoutTransaction { db in
            let present = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            _ = try Row.fetchAll(db, sql: "PRAGMA max_page_count = \(present + count)")
        }
    }
}
