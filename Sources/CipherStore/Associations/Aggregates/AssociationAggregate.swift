/// A value that is computed from the rows of an association: their number, a
/// sum.
///
/// ```swift
/// // Authors, with the number of their books:
/// Author.annotated(with: Author.books.count)
///
/// // Authors without books:
/// Author.having(Author.books.isEmpty)
///
/// // Authors with many works:
/// Author.having(Author.books.count + Author.paintings.count >= 20)
/// ```
///
/// Aggregates of associations that have the same name are about the same rows.
/// Give associations that are filtered in different ways different names:
///
/// ```swift
/// let novelCount = Author.books.filter { $0.kind == "novel" }.forKey("novels").count
/// ```
public struct AssociationAggregate<RowDecoder>: Sendable {
    /// Joins what is needed, and returns the value.
    let prepare: @Sendable (inout Relation) -> SQLExpression

    /// The name of the value in rows.
    var key: String?

    init(key: String? = nil, _ prepare: @escaping @Sendable (inout Relation) -> SQLExpression) {
        self.prepare = prepare
        self.key = key
    }

    /// Returns an aggregate with a name: of a column, or of a property of the
    /// record that is decoded.
    public func forKey(_ key: String) -> Self {
        var aggregate = self
        aggregate.key = key
        return aggregate
    }

    /// Returns an aggregate with the name of a coding key.
    public func forKey(_ key: some CodingKey) -> Self { forKey(key.stringValue) }
}

extension Association {
    /// Makes an aggregate of the association's rows.
    fileprivate func aggregate(
        key: String?, _ make: @escaping @Sendable () -> SQLExpression
    ) -> AssociationAggregate<OriginRowDecoder> {
        let path = path
        return AssociationAggregate(key: key) { relation in
            // Another alias each time, as the aggregate can be used in several requests.
            let alias = SourceIdentity()
            var path = path
            path.destination.relation.aliases.append(alias)
            relation.join(path, .optional, isSelected: false)
            return make().scoped(to: alias)
        }
    }

    /// The name of one row, to begin or to continue another name.
    private var name: String { path.destination.key.singular }

    fileprivate func aggregate(
        _ function: @escaping @Sendable (SQLExpression) -> SQLExpression,
        _ expression: some SQLSpecificExpressible,
        _ prefix: String, _ suffix: String = ""
    ) -> AssociationAggregate<OriginRowDecoder> {
        let expression = expression.sqlExpression
        var key: String?
        if case .column(let column) = expression.node {
            let first = prefix.isEmpty ? name : prefix + name.capitalizedFirst
            key = first + column.capitalizedFirst + suffix
        }
        return aggregate(key: key) { function(expression) }
    }

    fileprivate var countAggregate: AssociationAggregate<OriginRowDecoder> {
        let identity = SQLExpression.identity(in: path.destination.relation.source)
        return aggregate(key: "\(name)Count") { CipherStore.count(distinct: identity) }
    }

    fileprivate var emptyAggregate: AssociationAggregate<OriginRowDecoder> {
        let identity = SQLExpression.identity(in: path.destination.relation.source)
        return aggregate(key: "hasNo\(name.capitalizedFirst)") {
            SQLExpression(.isEmpty(CipherStore.count(distinct: identity), isNegated: false))
        }
    }
}

extension SQLExpression {
    /// One value that no two rows have, and that is NULL for a row that is not there.
    fileprivate static func identity(in source: Relation.Source) -> SQLExpression {
        guard let table = source.tableName else { return .fastPrimaryKey }
        return SQLExpression(
            .deferred { db in
                let columns = try db.fastPrimaryKeyColumns(of: table)
                if columns.count == 1 { return .column(columns[0]) }
                // COUNT takes one value, so the key becomes a text: `quote` tells types apart and
                // numbers from each other, and `hex` what follows a NUL in a text.
                let parts: [SQL] = columns.map { column in
                    "quote(\(Column(column))) || hex(\(Column(column)))"
                }
                let text = parts.joined(separator: " || ',' || ")
                return SQL("CASE WHEN \(Column(columns[0])) IS NOT NULL THEN \(text) END").sqlExpression
            })
    }
}

extension AssociationToMany {
    /// The number of associated rows, named `bookCount`.
    public var count: AssociationAggregate<OriginRowDecoder> { countAggregate }

    /// Whether there are no associated rows, named `hasNoBook`.
    public var isEmpty: AssociationAggregate<OriginRowDecoder> { emptyAggregate }

    /// The average of a value, named `averageBookPrice` for a column.
    public func average(
        _ expression: some SQLSpecificExpressible
    ) -> AssociationAggregate<OriginRowDecoder> {
        aggregate({ CipherStore.average($0) }, expression, "average")
    }

    /// The maximum of a value, named `maxBookPrice` for a column.
    public func max(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate({ CipherStore.max($0) }, expression, "max")
    }

    /// The minimum of a value, named `minBookPrice` for a column.
    public func min(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate({ CipherStore.min($0) }, expression, "min")
    }

    /// The sum of a value, named `bookPriceSum` for a column; NULL when there is
    /// nothing to sum up.
    public func sum(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate({ CipherStore.sum($0) }, expression, "", "Sum")
    }

    /// The sum of a value, named `bookPriceSum` for a column; 0.0 when there is
    /// nothing to sum up.
    public func total(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate({ CipherStore.total($0) }, expression, "", "Sum")
    }
}

extension AssociationToMany where RowDecoder: TableRecord {
    /// The average of a value: `average { $0.price }`, `average(\.price)`.
    public func average(
        _ expression: (RowDecoder.DatabaseComponents) throws -> any SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        try average(expression(RowDecoder.databaseComponents).sqlExpression)
    }

    /// The maximum of a value: `max { $0.price }`, `max(\.price)`.
    public func max(
        _ expression: (RowDecoder.DatabaseComponents) throws -> any SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        try max(expression(RowDecoder.databaseComponents).sqlExpression)
    }

    /// The minimum of a value: `min { $0.price }`, `min(\.price)`.
    public func min(
        _ expression: (RowDecoder.DatabaseComponents) throws -> any SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        try min(expression(RowDecoder.databaseComponents).sqlExpression)
    }

    /// The sum of a value: `sum { $0.price }`, `sum(\.price)`.
    public func sum(
        _ expression: (RowDecoder.DatabaseComponents) throws -> any SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        try sum(expression(RowDecoder.databaseComponents).sqlExpression)
    }

    /// The sum of a value, or 0.0: `total { $0.price }`, `total(\.price)`.
    public func total(
        _ expression: (RowDecoder.DatabaseComponents) throws -> any SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        try total(expression(RowDecoder.databaseComponents).sqlExpression)
    }
}
