import CipherData
import Testing

/// Expects the SQL and the rows of a request.
///
/// ```swift
/// @Test func open() throws {
///     try assertQuery(Reminder.filter(Column("isCompleted") == false)) {
///         """
///         SELECT * FROM "reminders" WHERE "isCompleted" = 0
///         """
///     } results: {
///         """
///         ┌─────────────────────┐
///         │ Reminder(           │
///         │   id: 1,            │
///         │   title: "Milk",    │
///         │   isCompleted: false│
///         │ )                   │
///         └─────────────────────┘
///         """
///     }
/// }
/// ```
///
/// - parameters:
///     - request: The request.
///     - database: Where it is run; by default, the default database.
///     - sql: The SQL that is expected, without values; nil to expect none.
///     - results: The frame with the rows that is expected; nil to expect none. Without rows, it is `(No results)`.
///     - sourceLocation: Where an issue is reported.
/// - throws: What the request throws.
public func assertQuery<Request: FetchRequest>(
    _ request: Request, database: (any DatabaseReader)? = nil, sql: (() -> String)? = nil,
    results: (() -> String)? = nil, sourceLocation: SourceLocation = #_sourceLocation
) throws where Request.RowDecoder: FetchableRecord {
    @Dependency(\.defaultDatabase) var defaultDatabase
    let (text, table) = try (database ?? defaultDatabase).read { db in
        let text = try request.makePreparedRequest(db, forSingleResult: false).statement.sql
        var table = RowTable()
        let rows = try Request.RowDecoder.fetchCursor(db, request)
        while let row = try rows.next() { table.append(row) }
        return (text, table)
    }
    QueryExpectation(sql: text, results: table.description).check(sql, results, sourceLocation)
}

/// What a query was found to be.
struct QueryExpectation {
    let sql: String
    let results: String

    /// Records an issue for each text that differs, with both texts so that they can be copied.
    func check(
        _ expectedSQL: (() -> String)?, _ expectedResults: (() -> String)?, _ sourceLocation: SourceLocation
    ) {
        for (name, actual, expected) in [
            ("SQL", sql, expectedSQL?()), ("results", results, expectedResults?()),
        ] {
            guard let expected, trimmed(expected) != trimmed(actual) else { continue }
            Issue.record(
                "the \(name) differ\nexpected:\n\(expected)\nactual:\n\(actual)",
                sourceLocation: sourceLocation)
        }
    }

    /// A text without spaces at the ends of its lines, which editors remove.
    private func trimmed(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { line in String(line.reversed().drop { $0 == " " }.reversed()) }
            .joined(separator: "\n")
    }
}
