import Foundation
import Testing
import TypedQueriesMacros

@Suite struct SeedSamplesTests {
    @Test func aTableIsWrittenReadAndCountedByGroup() throws {
        let database = try encryptedDatabase(remindersSchema)
        let home = RemindersList(id: UUID(), title: "Home")
        let work = RemindersList(id: UUID(), title: "Work")
        let milk = Reminder(id: UUID(), title: "Milk", remindersListID: home.id, tags: ["shop", "soon"])
        try database.write { db throws in
            try RemindersList.insert {
                home
                work
            }.execute(db)
            try Reminder.insert { milk }.execute(db)
        }
        try database.read { db throws in
            #expect(try Reminder.all.fetchAll(db) == [milk])
            #expect(try Reminder.where { !$0.isCompleted }.fetchOne(db) == milk)
            let counts = try RemindersList.group(by: \.id)
                .leftJoin(Reminder.all) { $0.id.eq($1.remindersListID) }
                .order(by: \.title)
                .select { ($0.title, #sql("count(\($1.id))", as: Int.self)) }
                .fetchAll(db)
            #expect(counts.map(\.0) == ["Home", "Work"])
            #expect(counts.map(\.1) == [1, 0])
            let stored = try Row.fetchOne(db, sql: "SELECT id, tags FROM reminders")
            #expect(stored?["id"] == milk.id.uuidString.lowercased())
            #expect(stored?["tags"] == #"["shop","soon"]"#)
        }
        #expect(
            sql(Reminder.where { $0.title.eq("Milk") }.select(\.remindersListID))
                .squeezed
                == #"SELECT "reminders"."list_id" FROM "reminders" WHERE ("reminders"."title") = ('Milk')"#)
    }

    @Test func aDraftGetsItsKeyFromTheDatabase() throws {
        let database = try encryptedDatabase(
            "CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT NOT NULL)")
        try database.write { db throws in
            let id = try Note.insert { Note.Draft(title: "Get milk") }.returning(\.id).fetchOne(db)
            #expect(id == 1)
            let draft = Note.Draft(Note(id: 1, title: "Get bread"))
            #expect(draft.id == 1 && draft.title == "Get bread")
            try Note.upsert { draft }.execute(db)
            #expect(try Note.all.fetchAll(db).map(\.title) == ["Get bread"])
        }
        #expect(Note.Draft().title.isEmpty && Note.Draft().id == nil)
    }

    @Test func keysAreBytesWhereTheSchemaHasThem() throws {
        let database = try encryptedDatabase(
            "CREATE TABLE reminder (id BLOB PRIMARY KEY, title TEXT, is_completed INTEGER, parentID BLOB)")
        let parent = UUID()
        try database.write { db throws in
            try OldReminder.insert {
                OldReminder(id: parent, parentID: nil)
                OldReminder(id: UUID(), title: "child", isCompleted: true, parentID: parent)
            }.execute(db)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM reminder WHERE length(id) = 16") == 2)
            let child = try OldReminder.where(\.isCompleted).fetchOne(db)
            #expect(child?.parentID == parent)
            #expect(try OldReminder.find(parent).fetchOne(db)?.parentID == nil)
        }
    }

    @Test func aKeyMayHaveAnotherName() throws {
        let database = try encryptedDatabase("CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT)")
        try database.write { db throws in
            try Setting.insert { Setting(key: "color", value: "red") }.execute(db)
            #expect(try Setting.find("color").fetchOne(db)?.value == "red")
            #expect(try Setting.find("size").fetchOne(db) == nil)
        }
        #expect(Setting.columns.primaryKey.queryColumnName == "key")
    }
}

extension String {
    /// The text with each run of blanks as one.
    var squeezed: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
