import Foundation
import TypedQueries

// Conformances as the macros write them.

struct RemindersList: PrimaryKeyedTable, Equatable {
    var id: Int
    var title = ""
    var position = 0

    typealias PrimaryKey = Int

    struct TableColumns: PrimaryKeyedTableDefinition {
        typealias QueryValue = RemindersList
        var id: TableColumn<RemindersList, Int> { .init("id") }
        var primaryKey: TableColumn<RemindersList, Int> { id }
        var title: TableColumn<RemindersList, String> { .init("title") }
        var position: TableColumn<RemindersList, Int> { .init("position") }
        static var columnList: ColumnList {
            let c = Self()
            return .init(c.id, c.title, c.position)
        }
    }
    static var tableName: String { "remindersLists" }
    static var columnWidth: Int { Int.columnWidth + String.columnWidth + Int.columnWidth }

    init(id: Int, title: String = "", position: Int = 0) {
        self.id = id
        self.title = title
        self.position = position
    }
    init(decoder: inout some QueryDecoder) throws {
        id = try decoder.value(Int.self)
        title = try decoder.value(String.self)
        position = try decoder.value(Int.self)
    }
    func writeValues(to row: inout RowWriter) {
        row.write(id, as: Int.self)
        row.write(title, as: String.self)
        row.write(position, as: Int.self)
    }

    struct Draft: TableDraft, Equatable {
        typealias PrimaryTable = RemindersList
        var id: Int?
        var title = ""
        var position = 0
        struct TableColumns: TableDefinition {
            typealias QueryValue = Draft
            var id: TableColumn<Draft, Int?> { .init("id") }
            var title: TableColumn<Draft, String> { .init("title") }
            var position: TableColumn<Draft, Int> { .init("position") }
            static var columnList: ColumnList {
                let c = Self()
                return .init(c.id, c.title, c.position)
            }
        }
        static var tableName: String { RemindersList.tableName }
        static var columnWidth: Int { 3 }
        init(id: Int? = nil, title: String = "", position: Int = 0) {
            self.id = id
            self.title = title
            self.position = position
        }
        init(_ other: RemindersList) { self.init(id: other.id, title: other.title, position: other.position) }
        init(decoder: inout some QueryDecoder) throws {
            id = try decoder.value(Int?.self)
            title = try decoder.value(String.self)
            position = try decoder.value(Int.self)
        }
        func writeValues(to row: inout RowWriter) {
            row.write(id, as: Int?.self)
            row.write(title, as: String.self)
            row.write(position, as: Int.self)
        }
    }
}

/// A column group.
struct Stamps: Table, Equatable {
    var createdAt: Int
    var updatedAt: Int?

    struct TableColumns: TableDefinition {
        typealias QueryValue = Stamps
        var createdAt: TableColumn<Stamps, Int> { .init("createdAt") }
        var updatedAt: TableColumn<Stamps, Int?> { .init("updatedAt") }
        static var columnList: ColumnList {
            let c = Self()
            return .init(c.createdAt, c.updatedAt)
        }
    }
    static var tableName: String { "stampses" }
    static var columnWidth: Int { 2 }
    init(createdAt: Int, updatedAt: Int? = nil) {
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
    init(decoder: inout some QueryDecoder) throws {
        createdAt = try decoder.value(Int.self)
        updatedAt = try decoder.value(Int?.self)
    }
    func writeValues(to row: inout RowWriter) {
        row.write(createdAt, as: Int.self)
        row.write(updatedAt, as: Int?.self)
    }
}

struct Reminder: PrimaryKeyedTable, Equatable {
    var id: Int
    var title: String
    var isCompleted = false
    var priority: Int?
    var listID: Int
    var tags: [String] = []
    var stamps = Stamps(createdAt: 0)

    typealias PrimaryKey = Int

    struct TableColumns: PrimaryKeyedTableDefinition {
        typealias QueryValue = Reminder
        var id: TableColumn<Reminder, Int> { .init("id") }
        var primaryKey: TableColumn<Reminder, Int> { id }
        var title: TableColumn<Reminder, String> { .init("title") }
        var isCompleted: TableColumn<Reminder, Bool> { .init("isCompleted") }
        var priority: TableColumn<Reminder, Int?> { .init("priority") }
        var listID: TableColumn<Reminder, Int> { .init("list_id") }
        var tags: TableColumn<Reminder, [String].JSONRepresentation> { .init("tags") }
        var stamps: TableColumn<Reminder, Stamps> { .init("stamps") }
        static var columnList: ColumnList {
            let c = Self()
            return .init(c.id, c.title, c.isCompleted, c.priority, c.listID, c.tags, c.stamps)
        }
    }
    static var tableName: String { "reminders" }
    static var columnWidth: Int { 6 + Stamps.columnWidth }

    init(
        id: Int, title: String, isCompleted: Bool = false, priority: Int? = nil, listID: Int,
        tags: [String] = [], stamps: Stamps = Stamps(createdAt: 0)
    ) {
        (self.id, self.title, self.isCompleted, self.priority) = (id, title, isCompleted, priority)
        (self.listID, self.tags, self.stamps) = (listID, tags, stamps)
    }
    init(decoder: inout some QueryDecoder) throws {
        id = try decoder.value(Int.self)
        title = try decoder.value(String.self)
        isCompleted = try decoder.value(Bool.self)
        priority = try decoder.value(Int?.self)
        listID = try decoder.value(Int.self)
        tags = try decoder.value([String].JSONRepresentation.self)
        stamps = try decoder.value(Stamps.self)
    }
    func writeValues(to row: inout RowWriter) {
        row.write(id, as: Int.self)
        row.write(title, as: String.self)
        row.write(isCompleted, as: Bool.self)
        row.write(priority, as: Int?.self)
        row.write(listID, as: Int.self)
        row.write(tags, as: [String].JSONRepresentation.self)
        row.write(stamps, as: Stamps.self)
    }

    struct Draft: TableDraft {
        typealias PrimaryTable = Reminder
        var id: Int?
        var title: String
        var isCompleted = false
        var priority: Int?
        var listID: Int
        var tags: [String] = []
        var stamps = Stamps(createdAt: 0)
        struct TableColumns: TableDefinition {
            typealias QueryValue = Draft
            var id: TableColumn<Draft, Int?> { .init("id") }
            var title: TableColumn<Draft, String> { .init("title") }
            var isCompleted: TableColumn<Draft, Bool> { .init("isCompleted") }
            var priority: TableColumn<Draft, Int?> { .init("priority") }
            var listID: TableColumn<Draft, Int> { .init("list_id") }
            var tags: TableColumn<Draft, [String].JSONRepresentation> { .init("tags") }
            var stamps: TableColumn<Draft, Stamps> { .init("stamps") }
            static var columnList: ColumnList {
                let c = Self()
                return .init(c.id, c.title, c.isCompleted, c.priority, c.listID, c.tags, c.stamps)
            }
        }
        static var tableName: String { Reminder.tableName }
        static var columnWidth: Int { 8 }
        init(id: Int? = nil, title: String, isCompleted: Bool = false, priority: Int? = nil, listID: Int) {
            (self.id, self.title, self.isCompleted, self.priority) = (id, title, isCompleted, priority)
            self.listID = listID
        }
        init(_ other: Reminder) {
            self.init(
                id: other.id, title: other.title, isCompleted: other.isCompleted, priority: other.priority,
                listID: other.listID)
            tags = other.tags
            stamps = other.stamps
        }
        init(decoder: inout some QueryDecoder) throws {
            id = try decoder.value(Int?.self)
            title = try decoder.value(String.self)
            isCompleted = try decoder.value(Bool.self)
            priority = try decoder.value(Int?.self)
            listID = try decoder.value(Int.self)
            tags = try decoder.value([String].JSONRepresentation.self)
            stamps = try decoder.value(Stamps.self)
        }
        func writeValues(to row: inout RowWriter) {
            row.write(id, as: Int?.self)
            row.write(title, as: String.self)
            row.write(isCompleted, as: Bool.self)
            row.write(priority, as: Int?.self)
            row.write(listID, as: Int.self)
            row.write(tags, as: [String].JSONRepresentation.self)
            row.write(stamps, as: Stamps.self)
        }
    }
}

/// The schema of these types, and a few rows, in an encrypted file that is removed at the end.
func withStore<Value>(_ body: (Database) throws -> Value) throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    var configuration = Configuration()
    // A raw key, so that no test waits for a derivation.
    configuration.prepareDatabase { try $0.useRawKey(RawKey(hex: String(repeating: "5A", count: 32))) }
    let queue = try DatabaseQueue(
        path: folder.appendingPathComponent("typed.db").path, configuration: configuration)
    return try queue.write { db throws in
        try db.execute(
            sql: """
                CREATE TABLE remindersLists (
                    id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, position INTEGER NOT NULL DEFAULT 0);
                CREATE TABLE reminders (
                    id INTEGER PRIMARY KEY, title TEXT NOT NULL DEFAULT 'untitled',
                    isCompleted INTEGER NOT NULL DEFAULT 0, priority INTEGER,
                    list_id INTEGER NOT NULL REFERENCES remindersLists(id), tags TEXT NOT NULL DEFAULT '[]',
                    createdAt INTEGER NOT NULL DEFAULT 0, updatedAt INTEGER);
                INSERT INTO remindersLists VALUES (1, 'Home', 1), (2, 'Work', 2), (3, 'Empty', 3);
                INSERT INTO reminders VALUES
                    (1, 'Milk', 0, 3, 1, '["food"]', 10, NULL), (2, 'Bread', 1, NULL, 1, '[]', 20, 25),
                    (3, 'Report', 0, 1, 2, '["dull","late"]', 30, NULL);
                """)
        return try body(db)
    }
}
