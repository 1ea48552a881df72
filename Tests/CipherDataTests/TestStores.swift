import CipherData
import Foundation

/// A folder for the files of a test, which goes with it.
final class TestFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "cipherdata-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }
}

extension Configuration {
    /// A configuration with a passphrase.
    static var encrypted: Configuration {
        var configuration = Configuration()
        configuration.encryption = .required
        configuration.prepareDatabase { db in try db.usePassphrase("secret") }
        return configuration
    }
}

/// The titles of the reminders that are open.
struct OpenTitles: FetchKeyRequest {
    var prefix = ""

    func fetch(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: "SELECT title FROM reminders WHERE NOT isCompleted AND title LIKE ? || '%' ORDER BY title",
            arguments: [prefix])
    }
}

/// How many reminders are done.
struct DoneCount: FetchKeyRequest {
    func fetch(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT count(*) FROM reminders WHERE isCompleted") ?? 0
    }
}

/// A database with reminders.
func reminders(_ path: String, isPool: Bool = true) throws -> any DatabaseWriter {
    let database: any DatabaseWriter =
        isPool
        ? try DatabasePool(path: path, configuration: .encrypted)
        : try DatabaseQueue(path: path, configuration: .encrypted)
    try database.write { db throws in
        try db.execute(
            sql: """
                CREATE TABLE reminders (
                    id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '',
                    isCompleted INTEGER NOT NULL DEFAULT 0)
                """)
    }
    return database
}

extension DatabaseWriter {
    func add(_ title: String) throws {
        try write { db throws in
            try db.execute(
                sql: "INSERT INTO reminders (id, title) VALUES (?, ?)",
                arguments: [UUID().uuidString.lowercased(), title])
        }
    }

    func execute(_ sql: String) throws { try write { db in try db.execute(sql: sql) } }
}

extension AsyncStream where Element: Equatable {
    /// Waits for a value.
    func waits(for expected: Element) async -> Bool {
        for await value in self where value == expected { return true }
        return false
    }
}
