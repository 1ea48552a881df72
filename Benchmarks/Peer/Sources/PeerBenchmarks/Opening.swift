import GRDB
import RawLoops

/// The files have no key.
let rawKey: String? = nil

/// Opens a queue with the settings of the C side. Files are not synced to the disk, because the
/// wait would be the same for both and hide the difference.
func openQueue(_ path: String) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.prepareDatabase { db in
        try db.execute(sql: String(cString: raw_settings))
        try db.execute(sql: "PRAGMA synchronous = OFF")
    }
    return try DatabaseQueue(path: path, configuration: configuration)
}

/// Nothing: there is no encrypted store whose reads must be verified.
@inline(__always)
func endRead(_ db: Database) throws {}

/// What the library says about the engine.
func describeEngine(_ folder: StoreFolder) throws -> Engine {
    try openQueue(folder.newPath("engine.db")).writeWithoutTransaction { db in
        try Engine(
            library: "GRDB 7.10.0", cipherVersion: nil,
            sqliteVersion: String.fetchOne(db, sql: "SELECT sqlite_version()") ?? "?",
            pageSize: String.fetchOne(db, sql: "PRAGMA page_size") ?? "?")
    }
}
