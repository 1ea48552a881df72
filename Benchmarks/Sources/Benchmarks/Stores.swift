import CipherStore
import Foundation
import RawLoops

/// A failure of the C side, or two sides that disagree.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String
}

/// The temporary folder that the measured files are in, removed at the end.
final class StoreFolder {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("benchmarks-" + UUID().uuidString, isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A path at which there is no file, nor a journal of one.
    func newPath(_ name: String) -> String {
        let path = folder.appendingPathComponent(name).path
        for suffix in ["", "-journal", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
        return path
    }
}

/// The key of the files: a raw one, so that no derivation is measured.
let rawKey = "x'\(String(repeating: "2DD29CA851E7B56E4697B0E1F0850729", count: 3))'"

/// Opens a queue with the raw key. Files are not synced to the disk, here and on the C side,
/// because the wait would be the same for both and hide the difference.
func openQueue(_ path: String) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.prepareDatabase { db in
        guard let connection = db.sqliteConnection, raw_key(connection, rawKey) == 0 else {
            throw BenchmarkError(description: "the key was not accepted")
        }
        try db.execute(sql: "PRAGMA synchronous = OFF")
    }
    return try DatabaseQueue(path: path, configuration: configuration)
}

/// A connection of the C side, with the same settings as `openQueue`.
final class RawConnection {
    private let handle: OpaquePointer

    init(_ path: String, key: String = rawKey) throws {
        var handle: OpaquePointer?
        let code = raw_open(path, key, &handle)
        guard let handle else { throw BenchmarkError(description: "cannot open \(path): code \(code)") }
        self.handle = handle
        try check(code)
        try execute("PRAGMA synchronous = OFF")
    }

    deinit { _ = raw_close(handle) }

    func execute(_ sql: String) throws { try check(raw_execute(handle, sql)) }

    /// Inserts the rows and returns how long it took.
    func insert(_ samples: Samples, _ sql: String) throws -> Elapsed {
        try withUnsafePointer(to: samples.raw) { raw in
            try measure { try check(raw_insert(handle, sql, raw)) }
        }
    }

    /// Fetches rows into an array of C structs and returns how long it took, without its release.
    func fetch(_ sql: String, expecting count: Int) throws -> Elapsed {
        var readings = RawReadings()
        defer { raw_readings_free(&readings) }
        let elapsed = try measure { try check(raw_fetch(handle, sql, &readings)) }
        guard readings.count == count else { throw BenchmarkError(description: "the C loop missed rows") }
        return elapsed
    }

    /// Inserts the rows and returns how long it took.
    func insert(_ samples: VisitSamples) throws -> Elapsed {
        try withUnsafePointer(to: samples.raw) { raw in
            try measure { try check(raw_visits_insert(handle, Visit.insert, raw)) }
        }
    }

    /// Fetches rows into an array of C structs and returns how long it took, without its release.
    func fetchVisits(expecting count: Int) throws -> Elapsed {
        var visits = RawVisits()
        defer { raw_visits_free(&visits) }
        let elapsed = try measure { try check(raw_visits_fetch(handle, Visit.select, &visits)) }
        guard visits.count == count else { throw BenchmarkError(description: "the C loop missed rows") }
        return elapsed
    }

    private func check(_ code: CInt) throws {
        guard code == 0 else { throw BenchmarkError(description: String(cString: raw_message(handle))) }
    }
}
