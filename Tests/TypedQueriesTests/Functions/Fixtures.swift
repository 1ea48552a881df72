import Foundation
import Testing

@testable import TypedQueries

/// A table with a column of each kind, written by hand as the macro would write it.
struct Item: PrimaryKeyedTable, Codable, Equatable {
    var id: Int
    var title = ""
    var note: String?
    var price = 0.0
    var amount: Int?
    var isDone = false

    typealias QueryValue = Self
    typealias QueryOutput = Self
    typealias PrimaryKey = Int
    struct TableColumns: PrimaryKeyedTableDefinition {
        typealias QueryValue = Item
        var id: TableColumn<Item, Int> { .init("id") }
        var primaryKey: TableColumn<Item, Int> { id }
        var title: TableColumn<Item, String> { .init("title") }
        var note: TableColumn<Item, String?> { .init("note") }
        var price: TableColumn<Item, Double> { .init("price") }
        var amount: TableColumn<Item, Int?> { .init("amount") }
        var isDone: TableColumn<Item, Bool> { .init("isDone") }
        static var columnList: ColumnList {
            let columns = Self()
            return .init(
                columns.id, columns.title, columns.note, columns.price, columns.amount, columns.isDone)
        }
    }
    static var tableName: String { "items" }
    static var columnWidth: Int { 6 }
    init(
        id: Int, title: String = "", note: String? = nil, price: Double = 0, amount: Int? = nil,
        isDone: Bool = false
    ) {
        (self.id, self.title, self.note) = (id, title, note)
        (self.price, self.amount, self.isDone) = (price, amount, isDone)
    }
    init(decoder: inout some QueryDecoder) throws {
        id = try decoder.value(Int.self)
        title = try decoder.value(String.self)
        note = try decoder.value(String?.self)
        price = try decoder.value(Double.self)
        amount = try decoder.value(Int?.self)
        isDone = try decoder.value(Bool.self)
    }
    func writeValues(to row: inout RowWriter) {
        row.write(id, as: Int.self)
        row.write(title, as: String.self)
        row.write(note, as: String?.self)
        row.write(price, as: Double.self)
        row.write(amount, as: Int?.self)
        row.write(isDone, as: Bool.self)
    }

    struct Draft: TableDraft {
        var title = ""
        typealias PrimaryTable = Item
        typealias QueryValue = Self
        typealias QueryOutput = Self
        struct TableColumns: TableDefinition {
            typealias QueryValue = Draft
            var title: TableColumn<Draft, String> { .init("title") }
            static var columnList: ColumnList { .init(Self().title) }
        }
        static var tableName: String { Item.tableName }
        static var columnWidth: Int { 1 }
        init(_ other: Item) { title = other.title }
        init(decoder: inout some QueryDecoder) throws { title = try decoder.value(String.self) }
        func writeValues(to row: inout RowWriter) { row.write(title, as: String.self) }
    }
}

/// A table with dates in each representation, and JSON in both.
struct Event: Table {
    var day: Date
    var unix: Date
    var julian: Date
    var end: Date?
    var profile: Profile
    var tags: [String]

    struct Profile: Codable, Equatable {
        struct Link: Codable, Equatable {
            var url: String
            var isSafe = true
        }
        var name = "Blob"
        var links: [Link] = []
        var scores: [Int] = []
        var nick: String?
    }

    typealias QueryValue = Self
    typealias QueryOutput = Self
    struct TableColumns: TableDefinition {
        typealias QueryValue = Event
        var day: TableColumn<Event, Date> { .init("day") }
        var unix: TableColumn<Event, Date.UnixTimeRepresentation> { .init("unix") }
        var julian: TableColumn<Event, Date.JulianDayRepresentation> { .init("julian") }
        var end: TableColumn<Event, Date?> { .init("end") }
        var profile: TableColumn<Event, Profile.JSONRepresentation> { .init("profile") }
        var tags: TableColumn<Event, [String].JSONBRepresentation> { .init("tags") }
        static var columnList: ColumnList {
            let columns = Self()
            return .init(
                columns.day, columns.unix, columns.julian, columns.end, columns.profile, columns.tags)
        }
    }
    static var tableName: String { "events" }
    static var columnWidth: Int { 6 }
    init(_ date: Date, end: Date? = nil, profile: Profile = Profile(), tags: [String] = []) {
        (day, unix, julian, self.end, self.profile, self.tags) = (date, date, date, end, profile, tags)
    }
    init(decoder: inout some QueryDecoder) throws {
        day = try decoder.value(Date.self)
        unix = try decoder.value(Date.UnixTimeRepresentation.self)
        julian = try decoder.value(Date.JulianDayRepresentation.self)
        end = try decoder.value(Date?.self)
        profile = try decoder.value(Profile.JSONRepresentation.self)
        tags = try decoder.value([String].JSONBRepresentation.self)
    }
    func writeValues(to row: inout RowWriter) {
        row.write(day, as: Date.self)
        row.write(unix, as: Date.UnixTimeRepresentation.self)
        row.write(julian, as: Date.JulianDayRepresentation.self)
        row.write(end, as: Date?.self)
        row.write(profile, as: Profile.JSONRepresentation.self)
        row.write(tags, as: [String].JSONBRepresentation.self)
    }
}

/// An encrypted database with the tables, which is gone after the body.
func withTables(_ body: (Database) throws -> Void) throws {
    let path = NSTemporaryDirectory() + "typed-functions-\(UUID().uuidString).db"
    defer {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
    }
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.usePassphrase("secret") }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.write { db throws in
        try db.execute(
            sql: """
                CREATE TABLE items (
                    id INTEGER PRIMARY KEY, title TEXT NOT NULL, note TEXT, price REAL NOT NULL DEFAULT 0,
                    amount INTEGER, isDone INTEGER NOT NULL DEFAULT 0);
                CREATE TABLE events (day TEXT, unix INTEGER, julian REAL, end TEXT, profile TEXT, tags BLOB);
                """)
        for item in [
            Item(id: 1, title: "Milk", note: " of oats ", price: 2.5, amount: 3),
            Item(id: 2, title: "Bread", price: -1.25, amount: nil, isDone: true),
            Item(id: 3, title: "Äpfel", note: "red", price: 4, amount: 3, isDone: true),
            Item(id: 4, title: "Milk", note: "", price: 0, amount: 10),
        ] {
            try Item.insert { item }.execute(db)
        }
        try body(db)
    }
}

/// Checks the SQL of an expression, with values as literals.
func expectSQL(
    _ expression: some QueryExpression, _ sql: String, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(expression.queryFragment.debugDescription == sql, sourceLocation: sourceLocation)
}

extension Item {
    /// The value of an expression in each row, by id.
    static func values<Value: QueryRepresentable>(
        _ db: Database, _ expression: (TableColumns) -> some QueryExpression<Value>
    ) throws -> [Value.QueryOutput] {
        try Item.all.order { $0.id }.select(expression).fetchAll(db)
    }
}

/// Checks the SQL of a piece, with values as literals.
func expectSQL(_ fragment: QueryFragment, _ sql: String, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(fragment.debugDescription == sql, sourceLocation: sourceLocation)
}
