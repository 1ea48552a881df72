import CipherData
import Testing

/// Expects the SQL and the rows of a typed statement: see ``assertQuery(_:database:sql:results:sourceLocation:)``.
///
/// - throws: What the statement throws.
public func assertQuery<S: Statement>(
    _ statement: S, database: (any DatabaseWriter)? = nil, sql: (() -> String)? = nil,
    results: (() -> String)? = nil, sourceLocation: SourceLocation = #_sourceLocation
) throws where S.QueryValue: QueryRepresentable {
    try assertRows(of: statement, database, sql, results, sourceLocation) { db in try statement.fetchAll(db) }
}

/// Expects the SQL and the whole rows of a SELECT.
///
/// - throws: What the statement throws.
public func assertQuery<S: SelectStatement>(
    _ statement: S, database: (any DatabaseWriter)? = nil, sql: (() -> String)? = nil,
    results: (() -> String)? = nil, sourceLocation: SourceLocation = #_sourceLocation
) throws where S.QueryValue == (), S.Joins == Joined<> {
    try assertRows(of: statement, database, sql, results, sourceLocation) { db in try statement.fetchAll(db) }
}

/// Expects the SQL and the rows of a statement that selects several expressions: a tuple's elements are columns.
///
/// - throws: What the statement throws.
public func assertQuery<
    S: Statement, V1: QueryRepresentable, V2: QueryRepresentable, each V: QueryRepresentable
>(
    _ statement: S, database: (any DatabaseWriter)? = nil, sql: (() -> String)? = nil,
    results: (() -> String)? = nil, sourceLocation: SourceLocation = #_sourceLocation
) throws where S.QueryValue == (V1, V2, repeat each V) {
    try assertRows(of: statement, database, sql, results, sourceLocation) { db in try statement.fetchAll(db) }
}

/// Expects the SQL and the rows of a SELECT of whole rows with those that are joined to them: each is a column.
///
/// - throws: What the statement throws.
public func assertQuery<S: SelectStatement, J1: Table, each J: Table>(
    _ statement: S, database: (any DatabaseWriter)? = nil, sql: (() -> String)? = nil,
    results: (() -> String)? = nil, sourceLocation: SourceLocation = #_sourceLocation
) throws where S.QueryValue == (), S.Joins == Joined<J1, repeat each J> {
    try assertRows(of: statement, database, sql, results, sourceLocation) { db in try statement.fetchAll(db) }
}

private func assertRows<Row>(
    of statement: some Statement, _ database: (any DatabaseWriter)?, _ sql: (() -> String)?,
    _ results: (() -> String)?, _ sourceLocation: SourceLocation, _ fetch: (Database) throws -> [Row]
) throws {
    @Dependency(\.defaultDatabase) var defaultDatabase
    var table = RowTable()
    // It may be a change that returns rows.
    try (database ?? defaultDatabase).write { db in for row in try fetch(db) { table.append(row) } }
    QueryExpectation(sql: statement.query.prepare { _ in "?" }.sql, results: table.description)
        .check(sql, results, sourceLocation)
}
