import CipherStore
import RawLoops

/// The key of the files and their salt: a raw one, so that no derivation is measured.
let rawKeyDigits = String(repeating: "2DD29CA851E7B56E4697B0E1F0850729", count: 3)
let rawKey: String? = "x'\(rawKeyDigits)'"

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

/// What ends a read of an encrypted store that the library was given the key of; here it has not
/// seen the key, and does not do it.
@inline(__always)
func endRead(_ db: Database) throws {
    _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master")
}

/// What the library says about the engine.
func describeEngine(_ folder: StoreFolder) throws -> Engine {
    try openQueue(folder.newPath("engine.db")).writeWithoutTransaction { db in
        try Engine(
            library: "CipherStore",
            cipherVersion: String.fetchOne(db, sql: "PRAGMA cipher_version") ?? "?",
            sqliteVersion: String.fetchOne(db, sql: "SELECT sqlite_version()") ?? "?",
            pageSize: String.fetchOne(db, sql: "PRAGMA cipher_page_size") ?? "?")
    }
}
