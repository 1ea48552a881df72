import CipherStore
import Foundation
import SyncEngine
import TestSupport
import Testing

/// A folder for the files of samples, removed when the test ends.
final class SamplePlace: Sendable {
    let folder: String

    init() throws {
        DerivedKeys.remember()
        folder = NSTemporaryDirectory() + "samples-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func path(_ name: String) -> String { folder + "/" + name }

    /// How the stores of samples are opened.
    func configuration(_ passphrase: String) -> Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase(passphrase) }
        return configuration
    }

    /// A store with the tables of ``noteMigrator``.
    func notes(_ name: String = "notes.db", _ passphrase: String = "correct horse") throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: path(name), configuration: configuration(passphrase))
        try noteMigrator().migrate(queue)
        return queue
    }

    /// Two replicas: `notes.db`, and `phone.db` of the passphrase "battery staple".
    func replicas() throws -> (notes: DatabaseQueue, phone: DatabaseQueue) {
        let notes = try notes()
        let synchronizer = try Synchronizer(notes, tables: ["note"])
        try synchronizer.clone(to: path("phone.db"), passphrase: Passphrase("battery staple"))
        return (
            notes, try DatabaseQueue(path: path("phone.db"), configuration: configuration("battery staple"))
        )
    }
}

// sample: record
struct Note: Codable, Identifiable, Equatable, Sendable, FetchableRecord, PersistableRecord {
    var id: UUID
    var title: String
    var body: String?
    var stars: Int

    enum Columns {
        static let title = Column(CodingKeys.title)
        static let body = Column(CodingKeys.body)
        static let stars = Column(CodingKeys.stars)
    }
}
// end

// sample: migrator
func noteMigrator() -> DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("notes") { db in
        try db.create(table: "note") { t in
            t.primaryKey("id", .blob)
            t.column("title", .text).notNull()
            t.column("body", .text)
            t.column("stars", .integer).notNull().defaults(to: 0)
        }
    }
    return migrator
}
// end
