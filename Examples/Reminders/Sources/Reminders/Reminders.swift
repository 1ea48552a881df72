import CipherData
import Foundation

/// What is done with lists and reminders. A list is found by its title, a reminder by its number among the open ones.
struct Reminders: Sendable {
    let database: any DatabaseWriter

    /// Adds a reminder, and its list when there is none of that title. Words that begin with `#` are its tags.
    func add(_ words: [String], to list: String) async throws {
        let tags = words.filter { $0.hasPrefix("#") }.map { String($0.dropFirst()) }
        let title = words.filter { !$0.hasPrefix("#") }.joined(separator: " ")
        guard !title.isEmpty else { throw Problem("a reminder needs a title") }
        try await database.write { db in
            let found = try RemindersList.where { $0.title.eq(list) }.fetchOne(db)
            let owner = found ?? RemindersList(id: .v7(), title: list)
            if found == nil { try RemindersList.insert { owner }.execute(db) }
            try Reminder.insert {
                Reminder(id: .v7(), title: title, remindersListID: owner.id, tags: tags)
            }.execute(db)
        }
    }

    /// Completes an open reminder, and returns it; nil when there is none with that number, which begins with 1.
    func complete(_ number: Int) async throws -> Reminder? {
        guard number > 0 else { return nil }
        return try await database.write { db in
            guard let reminder = try Reminder.open.limit(1, offset: number - 1).fetchOne(db) else {
                return nil
            }
            return try Reminder.find(reminder.id).update { $0.isCompleted = true }
                .returning(\.self).fetchOne(db)
        }
    }

    /// Removes a list with its reminders.
    ///
    /// - returns: Whether there was one.
    func removeList(_ title: String) async throws -> Bool {
        try await database.write { db in
            try RemindersList.delete().where { $0.title.eq(title) }.returning(\.id).fetchOne(db) != nil
        }
    }

    /// All lists, and how many of their reminders are open.
    func lists() async throws -> [ListSummary] {
        try await database.read { db in
            try RemindersList.group(by: \.id)
                .leftJoin(Reminder.all) { $0.id.eq($1.remindersListID) && !$1.isCompleted }
                .order { list, _ in list.title }
                .select { ListSummary.Columns(title: $0.title, openCount: $1.count()) }
                .fetchAll(db)
        }
    }

    /// The reminders with a text in their title or with a tag of that name, the completed ones too.
    func search(_ text: String) async throws -> [ReminderLine] {
        try await database.read { db in
            try Reminder.join(RemindersList.all) { $0.remindersListID.eq($1.id) }
                .where { reminder, _ in
                    reminder.title.contains(text) || reminder.tags.jsonEach().contains(text)
                }
                .order { reminder, _ in reminder.id }
                .select { ReminderLine.Columns(list: $1.title, title: $0.title, tags: $0.tags) }
                .fetchAll(db)
        }
    }
}

struct Problem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
