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

    /// The path of a file.
    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// A path at which there is no file, nor a journal of one.
    func newPath(_ name: String) -> String {
        let path = path(name)
        for suffix in ["", "-journal", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
        return path
    }
}

/// A connection of the C side, with the same settings as those of the library.
final class RawConnection {
    private let handle: OpaquePointer

    init(_ path: String, key: String? = rawKey) throws {
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

    /// Runs a prepared query of one row by its key many times, and returns how long it took.
    func query(_ sql: String, _ samples: Samples, count: Int) throws -> Elapsed {
        var readings = RawReadings()
        defer { raw_readings_free(&readings) }
        let elapsed = try withUnsafePointer(to: samples.raw) { raw in
            try measure { try check(raw_query(handle, sql, raw, count, &readings)) }
        }
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

    /// Runs a function of the C side with the connection, and throws what it reports.
    func check(_ body: (OpaquePointer) -> CInt) throws { try check(body(handle)) }

    private func check(_ code: CInt) throws {
        guard code == 0 else { throw BenchmarkError(description: String(cString: raw_message(handle))) }
    }
}
