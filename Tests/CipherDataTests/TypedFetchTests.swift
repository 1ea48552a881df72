import CipherDataTesting
import Foundation
import Testing

@testable import CipherData

/// A table, as the macro would write it.
private struct Item: PrimaryKeyedTable, Equatable {
    var id: UUID
    var title = ""
    var isDone = false

    typealias PrimaryKey = UUID

    struct TableColumns: PrimaryKeyedTableDefinition {
        typealias QueryValue = Item
        var id: TableColumn<Item, UUID> { .init("id") }
        var primaryKey: TableColumn<Item, UUID> { id }
        var title: TableColumn<Item, String> { .init("title") }
        var isDone: TableColumn<Item, Bool> { .init("isDone") }
        static var columnList: ColumnList {
            let columns = Self()
            return .init(columns.id, columns.title, columns.isDone)
        }
    }
    static var tableName: String { "items" }
    static var columnWidth: Int { 3 }

    init(id: UUID = UUID(), title: String = "", isDone: Bool = false) {
        (self.id, self.title, self.isDone) = (id, title, isDone)
    }

    init(decoder: inout some QueryDecoder) throws {
        id = try decoder.value(UUID.self)
        title = try decoder.value(String.self)
        isDone = try decoder.value(Bool.self)
    }

    func writeValues(to row: inout RowWriter) {
        row.write(id, as: UUID.self)
        row.write(title, as: String.self)
        row.write(isDone, as: Bool.self)
    }

    struct Draft: TableDraft {
        typealias PrimaryTable = Item
        var id: UUID?
        var title = ""
        var isDone = false
        struct TableColumns: TableDefinition {
            typealias QueryValue = Draft
            var id: TableColumn<Draft, UUID?> { .init("id") }
            var title: TableColumn<Draft, String> { .init("title") }
            var isDone: TableColumn<Draft, Bool> { .init("isDone") }
            static var columnList: ColumnList {
                let columns = Self()
                return .init(columns.id, columns.title, columns.isDone)
            }
        }
        static var tableName: String { Item.tableName }
        static var columnWidth: Int { 3 }
        init(_ other: Item) { (id, title, isDone) = (other.id, other.title, other.isDone) }
        init(decoder: inout some QueryDecoder) throws {
            id = try decoder.value(UUID?.self)
            title = try decoder.value(String.self)
            isDone = try decoder.value(Bool.self)
        }
        func writeValues(to row: inout RowWriter) {
            row.write(id, as: UUID?.self)
            row.write(title, as: String.self)
            row.write(isDone, as: Bool.self)
        }
    }
}

private let createItems =
    "CREATE TABLE items (id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL, isDone INTEGER NOT NULL)"

/// Properties of typed statements.
@Suite(.timeLimit(.minutes(10))) struct TypedFetchTests {
    private let folder: TestFolder
    private let database: any DatabaseWriter

    init() throws {
        folder = try TestFolder()
        database = try DatabasePool(path: folder.file("a.db"), configuration: .encrypted)
        try database.write { db throws in
            try db.execute(sql: createItems)
            try Item.insert { Item(title: "Milk") }.execute(db)
        }
    }

    @Test func rowsOfAStatementAreThereAndChange() async throws {
        @FetchAll(Item.where { !$0.isDone }.order(by: \.title), database: database) var open: [Item]
        @FetchOne(Item.where(\.isDone).count(), database: database) var done = 7
        #expect(open.map(\.title) == ["Milk"] && done == 0)
        try await database.write { db throws in
            try Item.insert { Item(title: "Tea") }.execute(db)
            try Item.insert { Item(title: "Salt", isDone: true) }.execute(db)
        }
        for await items in $open.values where items.count == 2 { break }
        #expect(await $done.values.waits(for: 1))
        #expect(open.map(\.title) == ["Milk", "Tea"])
    }

    @Test func equalStatementsShareOneObservation() throws {
        let first = FetchAll(Item.where { $0.title.eq("Milk") }, database: database)
        let second = FetchAll(Item.where { $0.title.eq("Milk") }, database: database)
        let other = FetchAll(Item.where { $0.title.eq("Tea") }, database: database)
        #expect(SharedFetches.count(in: database) == 2)
        withExtendedLifetime((first, second, other)) {}
    }

    /// Swift takes the two texts for equal, and SQLite does not.
    @Test func textsThatOnlyLookAlikeAreFetchedApart() async throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        try await database.write { db in try Item.insert { Item(title: composed) }.execute(db) }
        let first = FetchAll(Item.where { $0.title.eq(composed) }, database: database)
        let second = FetchAll(Item.where { $0.title.eq(decomposed) }, database: database)
        #expect(first.wrappedValue.count == 1)
        #expect(second.wrappedValue.isEmpty)
        withExtendedLifetime((first, second)) {}
    }

    @Test func aValueWithoutARowIsKept() async throws {
        @FetchOne(Item.where { $0.title.eq("none") }.select(\.title), database: database) var title = "before"
        #expect(title == "before" && $title.loadError is NoRow)
        @FetchOne(Item.where { $0.title.eq("none") }, database: database) var item: Item?
        #expect(item == nil && $item.loadError == nil)
    }

    @Test func aStatementOfOneRowCanBeLoaded() async throws {
        let tea = Item(title: "Tea", isDone: true)
        try await database.write { db in try Item.insert { tea }.execute(db) }
        let item = FetchOne<Item?>(wrappedValue: nil)
        try await item.load(Item.find(tea.id), database: database)
        #expect(item.wrappedValue == tea)
        let missing = Item.where { $0.title.eq("none") }.select(\.title)
        let title = FetchOne<String>(wrappedValue: "")
        try await title.load(Item.find(tea.id).select(\.title), database: database)
        #expect(title.wrappedValue == "Tea")
        await #expect(throws: NoRow.self) { try await title.load(missing, database: database) }
        #expect(title.wrappedValue == "Tea")
        let optional = FetchOne<String?>(wrappedValue: "before")
        try await optional.load(missing, database: database)
        #expect(optional.wrappedValue == nil)
    }

    @Test func rowsOfAStatementHaveSections() async throws {
        try await database.write { db throws in
            try Item.insert { Item(title: "Mint") }.execute(db)
            try Item.insert { Item(title: "Tea", isDone: true) }.execute(db)
        }
        @FetchAll(Item.order(by: \.title), sectionBy: { $0.isDone }, database: database) var items
        #expect($items.sections.map(\.name) == ["0", "1"])
        #expect($items.sections.map(\.count) == [2, 1])
        let titles = FetchAll(
            Item.order(by: \.title).select(\.title), sectionBy: { $0.prefix(1) }, database: database)
        #expect(titles.sections.map(\.name) == ["M", "T"])
    }

    @Test func typedStatementsAreCompared() throws {
        try assertQuery(Item.select(\.title), database: database) {
            """
            SELECT "items"."title"
            FROM "items"
            """
        } results: {
            """
            ┌────────┐
            │ "Milk" │
            └────────┘
            """
        }
    }

    @Test func typedTablesAreSynchronized() async throws {
        let pair = try SyncPair(createItems, ["items"])
        let engine = try SyncEngine(
            for: pair.here, tables: Item.self, transport: pair.transport, startImmediately: false)
        try await pair.here.write { db in try Item.insert { Item(title: "Milk") }.execute(db) }
        try await engine.syncChanges()
        #expect(try await pair.there.read { db in try Item.all.fetchAll(db).map(\.title) } == ["Milk"])
        let isSynchronizing = try await pair.here.read { db throws in
            try SQLQueryExpression("SELECT \(SyncEngine.$isSynchronizing)", as: Bool.self).fetchOne(
                db)
        }
        #expect(isSynchronizing == false)
    }

    @Test func typedTriggersKnowWhatComesFromAPeer() async throws {
        let pair = try SyncPair(createItems, ["items"])
        try await pair.here.write { db throws in
            try db.execute(sql: "CREATE TABLE notices (title TEXT NOT NULL)")
            try Item.createTrigger(
                "notices_of_items",
                after: .insert { item in
                    SQLQueryExpression("INSERT INTO notices VALUES (\(item.title))", as: Void.self)
                } when: { _ in
                    !SyncEngine.$isSynchronizing
                }
            ).execute(db)
            try Item.insert { Item(title: "Milk") }.execute(db)
        }
        try await pair.there.write { db in try Item.insert { Item(title: "Tea") }.execute(db) }
        try await pair.engine.syncChanges()
        #expect(try await pair.here.read { db in try Item.all.fetchCount(db) } == 2)
        #expect(try pair.here.strings("SELECT title FROM notices") == ["Milk"])
    }
}
