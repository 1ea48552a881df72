import Testing
import TypedQueries

/// A table with a default scope, which is a record of the other layer too.
struct Note: TypedQueries.Table, FetchableRecord, PersistableRecord, Codable, Equatable {
    var text: String
    var isDeleted = false

    static let all = Self.where { !$0.isDeleted }
    static var databaseTableName: String { tableName }

    struct TableColumns: TableDefinition {
        typealias QueryValue = Note
        var text: TableColumn<Note, String> { .init("text") }
        var isDeleted: TableColumn<Note, Bool> { .init("isDeleted") }
        static var columnList: ColumnList {
            let c = Self()
            return .init(c.text, c.isDeleted)
        }
    }
    static var tableName: String { "notes" }
    static var columnWidth: Int { 2 }
    init(text: String, isDeleted: Bool = false) {
        self.text = text
        self.isDeleted = isDeleted
    }
    init(decoder: inout some QueryDecoder) throws {
        text = try decoder.value(String.self)
        isDeleted = try decoder.value(Bool.self)
    }
    func writeValues(to row: inout RowWriter) {
        row.write(text, as: String.self)
        row.write(isDeleted, as: Bool.self)
    }

    static let createTable = "CREATE TABLE notes (text TEXT NOT NULL, isDeleted INTEGER NOT NULL DEFAULT 0)"
}

@Suite struct BothLayersTests {
    @Test func defaultScopesApplyToAllThatBeginsWithTheType() throws {
        let condition = #"WHERE NOT ("notes"."isDeleted")"#
        #expect(sql(Note.all).hasSuffix(condition))
        #expect(
            sql(Note.where { $0.text.eq("a") }).hasSuffix(
                #"WHERE (NOT ("notes"."isDeleted")) AND (("notes"."text") = ('a'))"#))
        #expect(sql(Note.all.where { $0.text.eq("a") }) == sql(Note.where { $0.text.eq("a") }))
        #expect(sql(Note.select(\.text)).hasSuffix(condition))
        #expect(sql(Note.delete()).hasSuffix(condition))
        #expect(!sql(Note.unscoped).contains("WHERE"))
        #expect(!sql(Note.unscoped.delete()).contains("WHERE"))
    }

    @Test func recordsAndTypedRowsAreOne() throws {
        try withStore { (db) throws in
            try db.execute(sql: Note.createTable)
            try Note(text: "by the record layer").insert(db)
            try Note.insert {
                Note(text: "typed")
                Note(text: "gone", isDeleted: true)
            }.execute(db)
            #expect(try Note.all.fetchAll(db).map(\.text) == ["by the record layer", "typed"])
            let records = try Note.fetchAll(db, sql: "SELECT * FROM notes ORDER BY text")
            #expect(records.map(\.text) == ["by the record layer", "gone", "typed"])
        }
    }

    @Test func observationsSeeWhatTypedStatementsRead() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in try db.execute(sql: Note.createTable + "; CREATE TABLE other (a)") }
        let region = try await queue.read { db in try Note.where { $0.text.eq("a") }.databaseRegion(db) }
        #expect("\(region)" == "notes(isDeleted,text)")
        let observation = ValueObservation.tracking { db in try Note.all.count().fetchOne(db) ?? -1 }
        var values = observation.values(in: queue).makeAsyncIterator()
        #expect(try await values.next() == 0)
        try await queue.write { db in try Note.insert { Note(text: "a") }.execute(db) }
        #expect(try await values.next() == 1)
        try await queue.write { db in try db.execute(sql: "INSERT INTO other VALUES (1)") }
        try await queue.write { db in try Note.update { $0.isDeleted = true }.execute(db) }
        #expect(try await values.next() == 0)
    }

    @Test func aSchemaChangeIsNoticed() throws {
        try withStore { (db) throws in
            try db.execute(sql: "CREATE TABLE counters (value INTEGER); INSERT INTO counters VALUES (1)")
            #expect(try Counter.all.fetchAll(db).count == 1)
            try db.execute(sql: "DROP TABLE counters")
            #expect(throws: DatabaseError.self) { try Counter.all.fetchAll(db) }
            try SQLQueryExpression<()>("CREATE TABLE counters (a, value INTEGER)").execute(db)
            #expect(try Counter.all.fetchAll(db).isEmpty)
        }
    }

    @Test func aStatementThatIsReadIsNotTakenAway() throws {
        try withStore { (db) throws in
            let cursor = try Reminder.all.fetchCursor(db)
            _ = try cursor.next()
            #expect(try Reminder.all.fetchAll(db).count == 3)
            #expect(try cursor.next()?.id == 2)
        }
    }
}
