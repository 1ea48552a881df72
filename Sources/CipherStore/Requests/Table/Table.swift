/// A table, for requests without a record type.
///
/// ```swift
/// let count = try Table("player").fetchCount(db)
/// let names = try Table("player").select(Column("name"), as: String.self).fetchAll(db)
/// ```
///
/// The type of the table is what its rows are decoded as:
///
/// ```swift
/// let players: [Player] = try Table<Player>("player").fetchAll(db)
/// ```
public struct Table<RowDecoder>: Sendable {
    /// The name of the table.
    public var tableName: String

    /// Makes a table whose rows are decoded as `RowDecoder`.
    public init(_ tableName: String) {
        self.tableName = tableName
    }

    /// Makes a table whose rows are decoded as ``Row``.
    public init(_ tableName: String) where RowDecoder == Row {
        self.tableName = tableName
    }
}

extension Table {
    var request: QueryInterfaceRequest<RowDecoder> {
        QueryInterfaceRequest(relation: Relation(source: .table(tableName)))
    }

    /// Returns the number of rows.
    ///
    /// - throws: A ``DatabaseError``.
    public func fetchCount(_ db: Database) throws -> Int {
        try request.fetchCount(db)
    }
}

extension CommonTableExpression {
    /// Returns a request for all the rows of the expression.
    ///
    /// The request, or the one that it becomes a part of, needs the definition
    /// of the expression: ``DerivableRequest/with(_:)``.
    public func all() -> QueryInterfaceRequest<RowDecoder> {
        QueryInterfaceRequest(relation: Relation(source: .commonTable(tableName)))
    }
}

extension SQLInterpolation {
    /// Appends the name of a table.
    public mutating func appendInterpolation<RowDecoder>(_ table: Table<RowDecoder>) {
        append(.sql(table.tableName.quotedDatabaseIdentifier))
    }
}
