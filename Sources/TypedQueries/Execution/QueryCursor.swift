/// A cursor of the rows of a statement.
///
/// ```swift
/// let cursor = try Reminder.all.fetchCursor(db)
/// while let reminder = try cursor.next() { … }
/// ```
public final class QueryCursor<Element>: DatabaseCursor {
    /// The run of the statement that the cursor follows.
    public let run: StatementRun

    private let rowType: Any.Type
    private let width: Int
    private var decoder: SQLiteQueryDecoder
    private let decode: (inout SQLiteQueryDecoder) throws -> Element

    convenience init(
        _ db: Database, _ fragment: QueryFragment, width: Int, rowType: Any.Type,
        _ decode: @escaping (inout SQLiteQueryDecoder) throws -> Element
    ) throws {
        try self.init(db.cursorStatement(fragment), width: width, rowType: rowType, decode)
    }

    /// Makes a cursor of a statement that nobody else uses, and that has its values.
    init(
        _ statement: CipherStore.Statement, width: Int, rowType: Any.Type,
        _ decode: @escaping (inout SQLiteQueryDecoder) throws -> Element
    ) throws {
        run = try StatementRun(statement, arguments: nil)
        decoder = SQLiteQueryDecoder(run.sqliteStatement)
        self.rowType = rowType
        self.width = width
        self.decode = decode
    }

    /// Returns the value of the current row.
    ///
    /// - throws: ``QueryDecodingFailure``.
    public func currentElement() throws -> Element {
        decoder.index = 0
        do {
            let count = Int(RawColumn.count(run.sqliteStatement))
            guard count == width || readsAnyColumns(rowType) else {
                throw QueryDecodingError.columnCount(expected: width, found: count)
            }
            return try decode(&decoder)
        } catch let reason as QueryDecodingError {
            throw QueryDecodingFailure(
                reason, at: decoder.index - 1, rowType: rowType, statement: run.statement)
        }
    }
}

extension QueryDecodingFailure {
    init(_ reason: QueryDecodingError, at index: CInt, rowType: Any.Type, statement: CipherStore.Statement) {
        let names = statement.columnNames
        let position = Int(index)
        var table: (any Table.Type)? = rowType as? any Table.Type
        if case .columnCount = reason {} else { table = table?.table(atColumn: position) ?? table }
        self.reason = reason
        self.table = table?.tableName
        column = names.indices.contains(position) ? names[position] : nil
        columnIndex = max(position, 0)
        self.rowType = "\(rowType)"
        sql = ValueRedaction.redacted(statement.sql) ?? statement.sql
    }
}

extension Table {
    /// The table of a column, counted from 0.
    fileprivate static func table(atColumn index: Int) -> (any Table.Type)? {
        index < columnWidth ? Self.self : nil
    }
}

extension Database {
    /// A statement that nobody else uses, with the values of a fragment.
    func cursorStatement(_ fragment: QueryFragment) throws -> CipherStore.Statement {
        guard !fragment.isEmpty else { return try makeStatement(sql: "SELECT NULL WHERE 0") }
        guard !fragment.isMarkedChange || ChangeParts(fragment) == nil else {
            throw EngineNeed.error(
                "a cursor of what a change returns", 3_035_000, sql: fragment.debugDescription)
        }
        let renderer = renderer(of: fragment)
        let sql = String(decoding: renderer.text, as: UTF8.self)
        try check(renderer, of: fragment, sql: sql)
        let statement = try makeStatement(sql: sql)
        try statement.setArguments(
            StatementArguments(renderer.values.map { try fragment.bindings[$0].databaseValue() }))
        return statement
    }
}

extension Statement where QueryValue: QueryRepresentable {
    /// A cursor of the rows.
    ///
    /// - throws: A `DatabaseError`.
    public func fetchCursor(_ db: Database) throws -> QueryCursor<QueryValue.QueryOutput> {
        try QueryCursor(db, query, width: QueryValue.columnWidth, rowType: QueryValue.self) {
            try $0.value(QueryValue.self)
        }
    }
}

extension Statement {
    /// A cursor of the rows, as tuples.
    ///
    /// - throws: A `DatabaseError`.
    public func fetchCursor<V1: QueryRepresentable, V2: QueryRepresentable, each V: QueryRepresentable>(
        _ db: Database
    ) throws -> QueryCursor<(V1.QueryOutput, V2.QueryOutput, repeat (each V).QueryOutput)>
    where QueryValue == (V1, V2, repeat each V) {
        let width = columnWidth(of: V1.self, V2.self, repeat (each V).self)
        return try QueryCursor(db, query, width: width, rowType: QueryValue.self) {
            (try $0.value(V1.self), try $0.value(V2.self), repeat try $0.value((each V).self))
        }
    }
}

extension SelectStatement where QueryValue == (), Joins == NoJoins {
    /// A cursor of the rows.
    ///
    /// - throws: A `DatabaseError`.
    public func fetchCursor(_ db: Database) throws -> QueryCursor<From.QueryOutput> {
        try QueryCursor(db, query, width: From.columnWidth, rowType: From.self) { try $0.value(From.self) }
    }
}

extension SelectStatement where QueryValue == () {
    /// A cursor of the rows with those that are joined to them, as tuples.
    ///
    /// - throws: A `DatabaseError`.
    public func fetchCursor<J1: Table, each J: Table>(
        _ db: Database
    ) throws -> QueryCursor<(From.QueryOutput, J1.QueryOutput, repeat (each J).QueryOutput)>
    where Joins == Joined<J1, repeat each J> {
        let width = columnWidth(of: From.self, J1.self, repeat (each J).self)
        return try QueryCursor(db, query, width: width, rowType: From.self) {
            (try $0.value(From.self), try $0.value(J1.self), repeat try $0.value((each J).self))
        }
    }
}

extension SelectStatement {
    /// The number of rows.
    ///
    /// - throws: A `DatabaseError`.
    public func fetchCount(_ db: Database) throws -> Int {
        let clauses = asSelect().clauses
        guard !clauses.isNone else { return 0 }
        let query = query
        var fragment = QueryFragment("SELECT count(*) FROM (")
        fragment.append(query)
        fragment.append(literal: ")")
        return try SQLQueryExpression(fragment, as: Int.self).fetchOne(db) ?? 0
    }
}

/// There is no row with a key: what ``PrimaryKeyedTable/find(_:key:)`` throws.
public struct NotFound: Error, Sendable, CustomStringConvertible {
    /// The table.
    public let tableName: String

    /// The table without the row.
    public var description: String { "there is no row with this key in \"\(tableName)\"" }
}

extension PrimaryKeyedTable {
    /// The row with a key.
    ///
    /// - throws: ``NotFound``, a `DatabaseError`, or a ``QueryDecodingFailure``.
    @inlinable
    public static func find(_ db: Database, key: PrimaryKey.QueryOutput) throws -> QueryOutput {
        guard let row = try find(key).fetchOne(db) else { throw NotFound(tableName) }
        return row
    }
}

extension NotFound {
    @usableFromInline init(_ tableName: String) { self.tableName = tableName }
}

extension SelectStatement where From: PrimaryKeyedTable, QueryValue == (), Joins == NoJoins {
    /// The row with a key, if it is one of the statement's.
    ///
    /// - throws: ``NotFound``, a `DatabaseError`, or a ``QueryDecodingFailure``.
    public func find(_ db: Database, key: From.PrimaryKey.QueryOutput) throws -> From.QueryOutput {
        guard let row = try asSelect().find(key).fetchOne(db) else { throw NotFound(From.tableName) }
        return row
    }
}

extension Statement {
    /// What the statement reads, for observations.
    ///
    /// - throws: A `DatabaseError` when the statement can't be prepared, as a change that other statements do on this engine.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        let query = query
        guard !query.isEmpty else { return DatabaseRegion() }
        return try db.entry(of: query).statement.databaseRegion
    }

    /// What the statement reads, for what takes regions.
    public var regionConvertible: StatementRegion { StatementRegion(query: query) }
}

/// What a statement reads.
public struct StatementRegion: DatabaseRegionConvertible, Sendable {
    let query: QueryFragment

    /// The region of the statement.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        guard !query.isEmpty else { return DatabaseRegion() }
        return try db.entry(of: query).statement.databaseRegion
    }
}
