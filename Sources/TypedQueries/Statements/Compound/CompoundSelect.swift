/// Several statements of the same columns, as one: `a UNION b`.
public struct CompoundSelect<QueryValue, From: Table, Joins>: PartialSelectStatement, WritableStatement {
    @usableFromInline var statement: QueryFragment

    /// Whether the two have the same SQL and values.
    public static func == (left: Self, right: Self) -> Bool { left.statement == right.statement }

    /// Feeds the SQL and the values to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(statement) }

    /// Adds the statement.
    @inlinable
    public func writeStatement(to fragment: inout QueryFragment) { fragment.append(statement) }

    init(_ left: QueryFragment, _ word: StaticString, _ right: QueryFragment) {
        statement = left
        // A statement of no rows writes nothing.
        guard !left.isEmpty, !right.isEmpty else {
            if left.isEmpty { statement = right }
            return
        }
        statement.append(literal: "\n")
        statement.append(sql: word)
        statement.append(literal: "\n")
        statement.append(right)
    }
}

extension PartialSelectStatement {
    /// The rows of this statement and of another: `UNION`.
    ///
    /// - parameters:
    ///     - all: Whether rows that are equal all stay: `UNION ALL`.
    ///     - other: The other statement.
    public func union(
        all: Bool = false, _ other: some PartialSelectStatement<QueryValue>
    ) -> CompoundSelect<QueryValue, From, Joins> {
        CompoundSelect(query, all ? "UNION ALL" : "UNION", other.query)
    }

    /// The rows that both statements have: `INTERSECT`.
    public func intersect(
        _ other: some PartialSelectStatement<QueryValue>
    ) -> CompoundSelect<QueryValue, From, Joins> {
        CompoundSelect(query, "INTERSECT", other.query)
    }

    /// The rows that another statement does not have: `EXCEPT`.
    public func except(
        _ other: some PartialSelectStatement<QueryValue>
    ) -> CompoundSelect<QueryValue, From, Joins> {
        CompoundSelect(query, "EXCEPT", other.query)
    }
}

/// Values without a table: `SELECT 1, 'a'`.
///
/// ```swift
/// try Values(1, "a").fetchOne(db)    // (1, "a")
/// ```
public struct Values<QueryValue>: PartialSelectStatement, WritableStatement {
    /// No table.
    public typealias From = NoTable

    @usableFromInline var statement: QueryFragment

    /// Makes a row of a value.
    public init(_ value: some QueryExpression<QueryValue>) where QueryValue: QueryRepresentable {
        statement = "SELECT \(value.queryFragment)"
    }

    /// Makes a row of values.
    public init<C1: QueryExpression, C2: QueryExpression, each C: QueryExpression>(
        _ first: C1, _ second: C2, _ others: repeat each C
    ) where QueryValue == (C1.QueryValue, C2.QueryValue, repeat (each C).QueryValue) {
        statement = "SELECT "
        statement.append(QueryFragment(list: first, second, repeat each others))
    }

    /// Whether the two have the same SQL and values.
    public static func == (left: Self, right: Self) -> Bool { left.statement == right.statement }

    /// Feeds the SQL and the values to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(statement) }

    /// Adds the statement.
    @inlinable
    public func writeStatement(to fragment: inout QueryFragment) { fragment.append(statement) }
}

/// A statement with tables that are queries: `WITH "a" AS (SELECT …) SELECT …`.
///
/// ```swift
/// With {
///     Node.where { $0.id.eq(1) }.select { Tree.Columns(id: $0.id) }
///         .union(all: true, Node.join(Tree.all) { $0.parentID.eq($1.id) }.select { n, _ in Tree.Columns(id: n.id) })
/// } query: {
///     Tree.select(\.id)
/// }
/// ```
public struct With<Base: Statement>: WritableStatement {
    /// What the statement gives.
    public typealias QueryValue = Base.QueryValue
    /// What the statement is about.
    public typealias From = Base.From
    /// What is joined to it.
    public typealias Joins = Base.Joins

    private let tables: FragmentList
    private let base: Base

    /// Makes a statement with common tables.
    ///
    /// - parameters:
    ///     - tables: Their statements. Each has the name of the table that its rows are of.
    ///     - query: The statement that uses them.
    public init(
        @CommonTableExpressionBuilder _ tables: () -> FragmentList, query: () -> Base
    ) {
        self.tables = tables()
        base = query()
    }

    /// Whether the two have the same SQL and values.
    public static func == (left: Self, right: Self) -> Bool {
        left.tables == right.tables && left.base == right.base
    }

    /// Feeds the SQL and the values to a hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(tables)
        hasher.combine(base)
    }

    /// Adds the statement.
    public func writeStatement(to fragment: inout QueryFragment) {
        let query = base.query
        // A query of a table that has no rows is not run, as that of the table itself is not.
        guard !query.isEmpty, !tables.isEmpty else { return }
        if query.code.first == QueryFragment.Code.part { fragment.beginPart(.commonTables) }
        fragment.append(literal: "WITH ")
        fragment.append(tables.commaSeparated)
        fragment.append(literal: "\n")
        fragment.append(query)
    }
}

extension With: PartialSelectStatement where Base: PartialSelectStatement {}

extension With: SelectStatement where Base: SelectStatement {
    /// The statement in its general form, whose rows can be fetched as those of any other.
    public func asSelect() -> Select<Base.QueryValue, Base.From, Base.Joins> {
        base.asSelect().with {
            $0.commonTables = tables.commaSeparated
            $0.isNone = $0.isNone || tables.isEmpty
        }
    }
}

/// Collects common tables.
@resultBuilder
public enum CommonTableExpressionBuilder {
    /// A common table.
    public static func buildExpression<Rows: Table>(
        _ statement: some PartialSelectStatement<Rows>
    ) -> FragmentList {
        table(Rows.self, statement.query)
    }
    /// A common table of whole rows of another one.
    public static func buildExpression<Rows: Table>(
        _ statement: some SelectStatement<(), Rows, NoJoins>
    ) -> FragmentList {
        table(Rows.self, statement.query)
    }
    /// The first.
    public static func buildPartialBlock(first: FragmentList) -> FragmentList { first }
    /// One more.
    public static func buildPartialBlock(accumulated: FragmentList, next: FragmentList) -> FragmentList {
        var list = accumulated
        list.append(next)
        return list
    }

    static func table<Rows: Table>(_ type: Rows.Type, _ query: QueryFragment) -> FragmentList {
        guard !query.isEmpty else { return FragmentList() }
        var fragment = QueryFragment()
        fragment.append(tableOf: type)
        fragment.append(literal: " AS (\n")
        fragment.append(query)
        fragment.append(literal: "\n)")
        return FragmentList(fragment)
    }
}
