import Foundation
import TypedQueriesMacros

/// A database in memory with a passphrase, as an app's file has one.
func encryptedDatabase(
    _ schema: String, prepare: @escaping @Sendable (Database) throws -> Void = { _ in }
) throws -> DatabaseQueue {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("macros-\(UUID()).db")
    var configuration = Configuration()
    configuration.prepareDatabase { db in
        try db.usePassphrase("typed macros")
        try prepare(db)
    }
    let queue = try DatabaseQueue(path: file.path, configuration: configuration)
    // SQLite keeps the open file; its name is not needed any more.
    try? FileManager.default.removeItem(at: file)
    try queue.write { db in try db.execute(sql: schema) }
    return queue
}

/// The SQL of a statement with its values as literals.
func sql(_ statement: some Statement) -> String { statement.query.debugDescription }
