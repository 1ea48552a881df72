/// A SELECT statement.
///
/// - `Columns` is `()` for whole rows, or the type of what is selected: one, or a tuple.
/// - `Joins` is ``Joined`` with the types of the joined tables.
@dynamicMemberLookup
public struct Select<Columns, From: Table, Joins>: SelectStatement, WritableStatement {
    /// What is selected.
    public typealias QueryValue = Columns

    @usableFromInline var clauses: SelectClauses

    @inlinable
    init(clauses: SelectClauses) { self.clauses = clauses }

    /// The statement itself.
    @inlinable
    public func asSelect() -> Select<Columns, From, Joins> { self }

    /// Adds the statement.
    @inlinable
    public func writeStatement(to fragment: inout QueryFragment) {
        clauses.write(from: From.self, to: &fragment)
    }

    /// Whether the two have the same SQL and values.
    public static func == (left: Self, right: Self) -> Bool { left.clauses == right.clauses }

    /// Feeds the clauses to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(clauses) }

    /// The same statement with other clauses.
    @inlinable
    func with(_ change: (inout SelectClauses) -> Void) -> Self {
        var result = self
        change(&result.clauses)
        return result
    }

    /// The same clauses, for rows of another type.
    @inlinable
    func selecting<New>(_ type: New.Type = New.self, _ columns: QueryFragment) -> Select<New, From, Joins> {
        var clauses = clauses
        clauses.columns.append(term: columns)
        return Select<New, From, Joins>(clauses: clauses)
    }
}

extension Select {
    /// Selects each row once.
    public func distinct(_ isDistinct: Bool = true) -> Self { with { $0.isDistinct = isDistinct } }

    /// Adds a condition.
    @inlinable
    public func `where`<each Other: Table>(
        @QueryFragmentBuilder<Bool> _ predicate: (
            From.TableColumns, repeat (each Other).TableColumns
        ) -> FragmentList
    ) -> Self where Joins == Joined<repeat each Other> {
        let condition = predicate(From.columns, repeat (each Other).columns)
        return with { $0.conditions.append(condition) }
    }

    /// Adds the condition that a column is true.
    public func `where`(_ keyPath: KeyPath<From.TableColumns, some QueryExpression<Bool>>) -> Self {
        let condition = From.columns[keyPath: keyPath].queryFragment
        return with { $0.conditions.append(condition) }
    }

    /// Adds the conditions of a query of the table.
    public func and(_ other: Where<From>) -> Self {
        with {
            $0.conditions.append(other.combinedConditions)
            $0.isNone = $0.isNone || other.scope == .none
        }
    }

    /// Groups rows by expressions.
    @inlinable
    public func group<each Other: Table>(
        @QueryFragmentBuilder<()> by grouping: (
            From.TableColumns, repeat (each Other).TableColumns
        ) -> FragmentList
    ) -> Self where Joins == Joined<repeat each Other> {
        let groups = grouping(From.columns, repeat (each Other).columns).commaSeparated
        return with { SelectClauses.join(&$0.groups, groups) }
    }

    /// Groups rows by a column.
    public func group(by keyPath: KeyPath<From.TableColumns, some QueryExpression>) -> Self {
        let groups = From.columns[keyPath: keyPath].queryFragment
        return with { SelectClauses.join(&$0.groups, groups) }
    }

    /// Adds a condition on groups.
    @inlinable
    public func having<each Other: Table>(
        @QueryFragmentBuilder<Bool> _ predicate: (
            From.TableColumns, repeat (each Other).TableColumns
        ) -> FragmentList
    ) -> Self where Joins == Joined<repeat each Other> {
        let condition = predicate(From.columns, repeat (each Other).columns)
        return with { $0.groupConditions.append(condition) }
    }

    /// A condition on groups: that a column is true.
    public func having(_ keyPath: KeyPath<From.TableColumns, some QueryExpression<Bool>>) -> Self {
        let condition = From.columns[keyPath: keyPath].queryFragment
        return with { $0.groupConditions.append(condition) }
    }

    /// Orders rows.
    @inlinable
    public func order<each Other: Table>(
        @QueryFragmentBuilder<()> by ordering: (
            From.TableColumns, repeat (each Other).TableColumns
        ) -> FragmentList
    ) -> Self where Joins == Joined<repeat each Other> {
        let terms = ordering(From.columns, repeat (each Other).columns).commaSeparated
        return with { SelectClauses.join(&$0.ordering, terms) }
    }

    /// Orders rows by a column.
    public func order(by keyPath: KeyPath<From.TableColumns, some QueryExpression>) -> Self {
        let terms = From.columns[keyPath: keyPath].queryFragment
        return with { SelectClauses.join(&$0.ordering, terms) }
    }

    /// Orders rows in no way.
    public func unordered() -> Self { with { $0.ordering = QueryFragment() } }

    /// Limits the number of rows. Of several calls the last one counts, with its offset or without one.
    ///
    /// - parameters:
    ///     - count: How many rows there are at most.
    ///     - offset: How many rows are left out before these.
    @inlinable
    public func limit(_ count: Int, offset: Int? = nil) -> Self {
        with {
            $0.limit = QueryFragment(binding: .int(Int64(count)))
            $0.offset = offset.map { QueryFragment(binding: .int(Int64($0))) } ?? QueryFragment()
        }
    }

    /// Limits the number of rows by an expression. Of several calls the last one counts, with its offset or without one.
    public func limit(_ count: some QueryExpression<Int>, offset: (any QueryExpression<Int>)? = nil) -> Self {
        with {
            $0.limit = count.queryFragment
            $0.offset = offset?.queryFragment ?? QueryFragment()
        }
    }

    /// Adds the conditions of a static member of the table's type that is a query.
    public subscript(dynamicMember keyPath: KeyPath<From.Type, Where<From>>) -> Self {
        and(From.self[keyPath: keyPath])
    }

    /// Adds the clauses of a static member of the table's type that is a query.
    public subscript(dynamicMember keyPath: KeyPath<From.Type, Select<(), From, NoJoins>>) -> Self {
        with { $0.merge(From.self[keyPath: keyPath].clauses) }
    }
}

extension Select where Columns == () {
    /// The number of rows: `count(*)`.
    ///
    /// - parameter filter: Which rows count.
    public func count<each Other: Table>(
        filter: (From.TableColumns, repeat (each Other).TableColumns) -> any QueryExpression<Bool>
    ) -> Select<Int, From, Joins> where Joins == Joined<repeat each Other> {
        selecting(Int.self, .count(filter: filter(From.columns, repeat (each Other).columns)))
    }

    /// The number of rows: `count(*)`.
    public func count() -> Select<Int, From, Joins> { selecting(Int.self, .count(filter: nil)) }

    /// All columns of all tables, as they are: `SELECT *`.
    public func selectStar() -> Self { with { $0.columns = "*" } }
}

extension Select where From == NoTable, Joins == NoJoins {
    /// Makes a statement of a value without a table: `SELECT 1`.
    public init(_ value: some QueryExpression<Columns>) where Columns: QueryRepresentable {
        self = Select<(), NoTable, NoJoins>(clauses: SelectClauses()).selecting(
            Columns.self, value.queryFragment)
    }
}

extension Select where Columns == (), From == NoTable, Joins == NoJoins {
    /// Makes a statement that calls a function which returns nothing, as a trigger may: `Select($didInsert(new.id))`.
    public init(_ call: some QueryExpression<()>) {
        var clauses = SelectClauses()
        clauses.columns = call.queryFragment
        self.init(clauses: clauses)
    }
}

extension Select where From: PrimaryKeyedTable {
    /// Adds that the key is a value.
    public func find(_ key: From.PrimaryKey.QueryOutput) -> Self {
        and(Where(scope: .unscoped).find(key))
    }

    /// Adds that the key is one of several.
    public func find(_ keys: some Sequence<From.PrimaryKey.QueryOutput>) -> Self {
        and(Where(scope: .unscoped).find(keys))
    }
}

extension Select where From: PrimaryKeyedTable {
    /// Adds that the key is one of those that a statement gives.
    public func find<Key: QueryRepresentable>(_ keys: some PartialSelectStatement<Key>) -> Self
    where Key.QueryUnwrapped == From.PrimaryKey.QueryUnwrapped {
        and(Where(scope: .unscoped).find(keys))
    }
}

extension QueryFragment {
    /// A parameter.
    @inlinable
    init(binding: QueryBinding) {
        self.init()
        append(binding: binding)
    }

    /// `count(*)`, of rows that meet a condition.
    static func count(filter: (any QueryExpression<Bool>)?) -> QueryFragment {
        guard let filter else { return "count(*)" }
        var fragment = QueryFragment()
        fragment.appendChoice(.aggregateFilter) {
            $0.append(literal: "count(*) FILTER (WHERE ")
            filter.write(to: &$0)
            $0.append(literal: ")")
        } emulated: {
            $0.append(literal: "count(CASE WHEN ")
            filter.write(to: &$0)
            $0.append(literal: " THEN 1 END)")
        }
        return fragment
    }
}
