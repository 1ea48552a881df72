import Foundation
import TypedQueriesMacros

// The declarations of the guide for apps that have a GRDB schema, and of this library's own guide.

@Table struct RemindersList: Identifiable, Equatable {
    let id: UUID
    var title = ""
}

@Table struct Reminder: Identifiable, Equatable {
    let id: UUID
    var title = ""
    var isCompleted = false
    @Column("list_id") var remindersListID: RemindersList.ID
    @Column(as: [String].JSONRepresentation.self) var tags: [String] = []
    @Ephemeral var isExpanded = false
}

let remindersSchema = """
    CREATE TABLE remindersLists (id TEXT PRIMARY KEY NOT NULL DEFAULT (lower(hex(randomblob(16)))), title TEXT NOT NULL);
    CREATE TABLE reminders (
        id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL, isCompleted INTEGER NOT NULL,
        list_id TEXT NOT NULL REFERENCES remindersLists (id), tags TEXT NOT NULL);
    """

@Table("reminder") struct OldReminder {
    @Column(as: UUID.BytesRepresentation.self)
    let id: UUID
    var title = ""
    @Column("is_completed")
    var isCompleted = false
    @Column(as: UUID?.BytesRepresentation.self)
    let parentID: UUID?
}

@Table struct Note {
    let id: Int
    var title = ""
}

@Table struct Setting {
    @Column(primaryKey: true)
    let key: String
    var value: String?
}
