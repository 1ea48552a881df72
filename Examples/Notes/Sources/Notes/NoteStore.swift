import CipherStore
import Foundation

/// An encrypted file of notes.
struct NoteStore: Sendable {
    let database: DatabasePool

    /// Opens the file, and makes it when it is not there.
    init(path: String, passphrase: borrowing Passphrase) throws {
        var configuration = Configuration()
        configuration.encryption = .required
        configuration.usePassphrase(passphrase)
        configuration.busyMode = .timeout(5)  // seconds to wait while another process writes
        database = try DatabasePool(path: path, configuration: configuration)
        try Self.migrator.migrate(database)
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("notes") { db in
            try db.create(table: "note") { t in
                t.primaryKey("id", .blob)
                t.column("title", .text).notNull()
                t.column("isDone", .boolean).notNull().defaults(to: false)
            }
        }
        return migrator
    }

    func notes() async throws -> [Note] {
        try await database.read { db in try Note.inOrder().fetchAll(db) }
    }

    func add(_ title: String) async throws {
        try await database.write { db in try Note(title: title).insert(db) }
    }

    /// Ticks the note with a number of the list, which begins with 1.
    func finish(_ number: Int) async throws -> Note? {
        try await database.write { db in
            guard number > 0, var note = try Note.inOrder().limit(1, offset: number - 1).fetchOne(db)
            else { return nil }
            try note.updateChanges(db) { $0.isDone = true }
            return note
        }
    }
}
