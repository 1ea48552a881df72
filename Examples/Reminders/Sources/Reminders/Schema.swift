import CipherData
import Foundation

/// A list of reminders.
@Table struct RemindersList: Identifiable, Equatable {
    let id: UUID
    var title = ""
}

/// Something to remember.
@Table struct Reminder: Identifiable, Equatable {
    let id: UUID
    var title = ""
    var isCompleted = false
    var remindersListID: RemindersList.ID
    @Column(as: [String].JSONRepresentation.self) var tags: [String] = []

    /// What is open, in the order in which it was written: a UUID of version 7 begins with its time.
    static let open = Self.where { !$0.isCompleted }.order(by: \.id)
}

/// A list, and how many of its reminders are open.
@Selection struct ListSummary: Equatable {
    let title: String
    let openCount: Int
}

/// An open reminder, and where it is.
@Selection struct ReminderLine: Equatable {
    let list: String
    let title: String
    @Column(as: [String].JSONRepresentation.self) let tags: [String]
}

enum Schema {
    /// Opens the file with its passphrase, and makes it when it is not there.
    static func open(_ path: String, passphrase: borrowing Passphrase) throws -> DatabasePool {
        let database = try DatabasePool(path: path, configuration: configuration(passphrase))
        try migrator.migrate(database)
        return database
    }

    static func configuration(_ passphrase: borrowing Passphrase) -> Configuration {
        var configuration = Configuration()
        configuration.encryption = .required
        configuration.busyMode = .timeout(5)  // seconds to wait while another process writes
        configuration.usePassphrase(passphrase)
        return configuration
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("lists and reminders") { db in
            try #sql(
                """
                CREATE TABLE remindersLists (
                    id TEXT PRIMARY KEY NOT NULL,
                    title TEXT NOT NULL UNIQUE COLLATE NOCASE
                )
                """
            ).execute(db)
            try #sql(
                """
                CREATE TABLE reminders (
                    id TEXT PRIMARY KEY NOT NULL,
                    title TEXT NOT NULL,
                    isCompleted INTEGER NOT NULL DEFAULT 0,
                    remindersListID TEXT NOT NULL REFERENCES remindersLists (id) ON DELETE CASCADE,
                    tags TEXT NOT NULL DEFAULT '[]'
                )
                """
            ).execute(db)
            try #sql("CREATE INDEX remindersOfList ON reminders (remindersListID)").execute(db)
        }
        return migrator
    }
}
