import Foundation
import TypedQueriesMacros

/// The folder of the databases of this run.
private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
    "TypedQueriesMacrosTests-\(UUID().uuidString)")

/// Removes the folder when the tests have ended.
private let removal: Int32 = atexit { try? FileManager.default.removeItem(at: folder) }

/// An encrypted file with a schema.
func encryptedDatabase(
    _ schema: String, prepare: @escaping @Sendable (Database) throws -> Void = { _ in }
) throws -> DatabaseQueue {
    _ = removal
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var configuration = Configuration()
    configuration.prepareDatabase { db in
        // A raw key, so that no test waits for a derivation.
        try db.useRawKey(RawKey(hex: String(repeating: "5A", count: 32)))
        try prepare(db)
    }
    let path = folder.appendingPathComponent("\(UUID().uuidString).db").path
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.write { db in try db.execute(sql: schema) }
    return queue
}

/// The SQL of a statement with its values as literals.
func sql(_ statement: some Statement) -> String { statement.query.debugDescription }
