import CipherData
import Foundation
import Testing

@testable import CipherDataTesting

/// Expectations of queries.
@Suite(.dependencies { $0.defaultDatabase = try DatabaseQueue() }) struct AssertQueryTests {
    struct Reminder: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "reminders"
        var id: Int
        var title: String
        var note: String?
    }

    @Dependency(\.defaultDatabase) private var database

    private func fill() throws {
        try database.write { db throws in
            try db.execute(sql: "CREATE TABLE reminders (id INTEGER PRIMARY KEY, title TEXT, note TEXT)")
            try Reminder(id: 1, title: "Milk").insert(db)
            try Reminder(id: 2, title: "Tea", note: "green").insert(db)
        }
    }

    @Test func theSQLAndTheRowsAreCompared() throws {
        try fill()
        try assertQuery(Reminder.filter(Column("id") > 0).order(Column("id"))) {
            """
            SELECT * FROM "reminders" WHERE "id" > ? ORDER BY "id"
            """
        } results: {
            """
            ┌──────────────────┐
            │ Reminder(        │
            │   id: 1,         │
            │   title: "Milk", │
            │   note: nil      │
            │ )                │
            │ Reminder(        │
            │   id: 2,         │
            │   title: "Tea",  │
            │   note: "green"  │
            │ )                │
            └──────────────────┘
            """
        }
    }

    @Test func whatDiffersIsAnIssueWithBothTexts() throws {
        try fill()
        try withKnownIssue {
            try assertQuery(Reminder.filter(Column("id") == 9)) {
                "SELECT 1"
            } results: {
                "(No results)"
            }
        } matching: { issue in
            issue.comments.contains { "\($0)".contains("SELECT 1") && "\($0)".contains("FROM \"reminders\"") }
        }
    }

    @Test func tuplesHaveColumns() {
        var table = RowTable()
        table.append((1, "Milk"))
        table.append((20, ["a", "b"]))
        #expect(
            table.description == """
                ┌────┬────────┐
                │ 1  │ "Milk" │
                │ 20 │ [      │
                │    │   "a", │
                │    │   "b"  │
                │    │ ]      │
                └────┴────────┘
                """)
    }

    @Test func valuesAreWrittenAsInSwift() throws {
        enum Kind {
            case note(String)
            case none
        }
        let id = try #require(UUID(uuidString: "0E6A9C0E-1111-4222-8333-444455556666"))
        #expect(RowText.lines(id) == ["UUID(0e6a9c0e-1111-4222-8333-444455556666)"])
        #expect(RowText.lines(Date(timeIntervalSince1970: 0)) == ["Date(1970-01-01T00:00:00.000Z)"])
        #expect(RowText.lines(Optional(3) as Any) == ["3"])
        #expect(RowText.lines(Optional<Int>.none as Any) == ["nil"])
        #expect(RowText.lines(Kind.none) == [".none"])
        #expect(RowText.lines(Kind.note("a")) == [".note(", "  \"a\"", ")"])
    }
}
