import CipherData
import Foundation

extension Reminders {
    /// Makes a replica in another file, with the same passphrase.
    func makeReplica(at path: String, passphrase: borrowing Passphrase) throws {
        try Synchronizer(database, tables: [RemindersList.tableName, Reminder.tableName])
            .clone(to: path, passphrase: passphrase)
    }

    /// What keeps this file and a replica equal: now by `syncChanges()`, or from `start()` on.
    func engine(_ path: String, passphrase: borrowing Passphrase) throws -> SyncEngine {
        var options = SyncEngine.Options()
        options.fetchInterval = 2  // seconds
        return try SyncEngine(
            for: database, tables: RemindersList.self, Reminder.self,
            transport: StoreTransport(path: path, configuration: Schema.configuration(passphrase)),
            options: options, startImmediately: false)
    }
}
