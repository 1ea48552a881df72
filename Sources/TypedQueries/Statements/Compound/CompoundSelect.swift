/// How two statements become one.
enum CompoundOperator: String {
    case union = "UNION"
    case unionAll = "UNION ALL"
    case intersect = "INTERSECT"
    case except = "EXCEPT"
}

/// Several statements of the same columns, as one: `a UNION b`.
public struct CompoundSelect<QueryValue, From: Table, Joins>: PartialSelectStatement, WritableStatement {
    @usableFromInline var statement: QueryFragment

    /// The same with the second statement as it is, if that makes a difference. This is how a common table refers to
    /// itself: an order or a limit is then for all of its rows.
    let recursiveStatement: QueryFragment?

    /// Whether the two have the same SQL and values.
    public static func == (left: Self, right: Self) -> Bool { left.statement == right.statement }

    /// Feeds the SQL and the values to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(statement) }

    /// Adds the statement.
    @inlinable
    public func writeStatement(to fragment: inout QueryFragment) { fragment.append(statement) }

    init(_ left: QueryFragment, _ word: CompoundOperator, _ right: QueryFragment) {
        // A statement of no rows writes nothing.
        guard !left.isEmpty, !right.isEmpty else {
            statement =
                switch word {
                case .union, .unionAll: left.isEmpty ? right : left
                case .intersect: QueryFragment()
                case .except: left
                }
            recursiveStatement = nil
            return
        }
        func compound(_ right: QueryFragment) -> QueryFragment {
            var fragment = left.isCutOrOrdered ? left.asRows : left
            fragment.append(literal: "\n")
            fragment.append(sql: word.rawValue)
            fragment.append(literal: "\n")
            fragment.append(right)
            return fragment
        }
        let isRowsOfItsOwn = right.isCutOrOrdered || right.isOther(than: word)
        statement = compound(isRowsOfItsOwn ? right.asRows : right)
        recursiveStatement = isRowsOfItsOwn ? compound(right) : nil
    }
}

/// A compound of whatever types.
protocol CompoundStatement {
    /// How the common table is written that refers to itself in the second statement.
    var recursiveStatement: QueryFragment? { get }
}

extension CompoundSelect: CompoundStatement {}

extension QueryFragment {
    /// Whether an order or a limit is at the end of it, which would be that of a whole compound.
    fileprivate var isCutOrOrdered: Bool {
        let words = outerWords
        return words.first == "WITH" || words.contains("ORDER") || words.contains("LIMIT")
    }

    /// Whether it is a compound that an operator before it would take apart.
    fileprivate func isOther(than word: CompoundOperator) -> Bool {
        let words = outerWords
        let operators = words.indices.compactMap { index -> CompoundOperator? in
            guard words[index] == "UNION" else { return CompoundOperator(rawValue: String(words[index])) }
            return words.dropFirst(index + 1).first == "ALL" ? .unionAll : .union
        }
        return !operators.isEmpty && (word == .except || operators.contains { $0 != word })
    }

    /// The statement as the source of one that has nothing else.
    fileprivate var asRows: QueryFragment {
        var fragment = QueryFragment("SELECT * FROM (\n")
        fragment.append(self)
        fragment.append(literal: "\n)")
        return fragment
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
        CompoundSelect(query, all ? .unionAll : .union, other.query)
    }

    /// The rows that both statements have: `INTERSECT`.
    public func intersect(
        _ other: some PartialSelectStatement<QueryValue>
    ) -> CompoundSelect<QueryValue, From, Joins> {
        CompoundSelect(query, .intersect, other.query)
    }

    /// The rows that another statement does not have: `EXCEPT`.
    public func except(
        _ other: some PartialSelectStatement<QueryValue>
    ) -> CompoundSelect<QueryValue, From, Joins> {
        CompoundSelect(query, .except, other.query)
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
    ///     - tables: Their statements. Each has the name of the table that its rows are of. When none of them has rows by
    ///       declaration, as `none` has not, the statement is not run.
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
        // A query of tables that all have no rows is not run, as those of the tables themselves are not.
        guard !query.isEmpty, !tables.isWithoutRows else { return }
        if query.code.first == QueryFragment.Code.part { fragment.beginPart(.commonTables) }
        fragment.append(literal: "WITH ")
        fragment.append(tables.commaSeparated)
        // The tables of a statement with some of its own are one list with these.
        let rest = query.behindWith
        fragment.append(literal: rest == nil ? "\n" : ", ")
        fragment.append(rest ?? query)
    }
}

extension QueryFragment {
    /// What is behind the word before the common tables of the statement; nil when it has none.
    fileprivate var behindWith: QueryFragment? {
        let mark = code.first == Code.part ? Code.length(Code.part) : 0
        guard code.dropFirst(mark).starts(with: "WITH ".utf8) else { return nil }
        var rest = self
        rest.code.removeFirst(mark + 5)
        return rest
    }
}

extension With: PartialSelectStatement where Base: PartialSelectStatement {}

extension With: SelectStatement where Base: SelectStatement {
    /// The statement in its general form, whose rows can be fetched as those of any other.
    public func asSelect() -> Select<Base.QueryValue, Base.From, Base.Joins> {
        base.asSelect().with {
            var list = tables.commaSeparated
            SelectClauses.join(&list, $0.commonTables)
            $0.commonTables = list
            $0.isNone = $0.isNone || tables.isWithoutRows
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
        if let recursive = (statement as? any CompoundStatement)?.recursiveStatement,
            recursive.mentions(Rows.self)
        {
            return table(Rows.self, recursive)
        }
        return table(Rows.self, statement.query)
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
        list.isWithoutRows = accumulated.isWithoutRows && next.isWithoutRows
        return list
    }

    static func table<Rows: Table>(_ type: Rows.Type, _ query: QueryFragment) -> FragmentList {
        var fragment = QueryFragment()
        fragment.append(tableOf: type)
        if query.isEmpty {
            // A statement of no rows writes nothing. Without the common table its name would be that of a table of the schema.
            fragment.append(literal: "(")
            fragment.append(QueryFragment.Code.names, type)
            fragment.append(literal: ") AS (\nSELECT NULL")
            for _ in type.allColumnNames.dropFirst() { fragment.append(literal: ", NULL") }
            fragment.append(literal: " WHERE 0\n)")
        } else {
            fragment.append(literal: " AS (\n")
            fragment.append(query)
            fragment.append(literal: "\n)")
        }
        var list = FragmentList(fragment)
        list.isWithoutRows = query.isEmpty
        return list
    }
}
