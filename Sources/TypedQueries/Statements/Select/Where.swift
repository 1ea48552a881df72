/// Rows of a table that meet conditions: what `where` of a ``Table`` gives.
///
/// It is a SELECT of whole rows, and the beginning of other selects, updates and deletions.
@dynamicMemberLookup
public struct Where<From: Table>: SelectStatement, WritableStatement {
    /// Whole rows.
    public typealias QueryValue = ()
    /// No other tables.
    public typealias Joins = NoJoins

    @usableFromInline var conditions: FragmentList
    @usableFromInline var scope: Scope
    /// Which of the conditions combine queries.
    @usableFromInline var combinations: [Combination] = []
    /// The order of the type's `all`, where it is that of another type.
    @usableFromInline var ordering = QueryFragment()

    /// Which rows the conditions are about.
    @usableFromInline enum Scope: Hashable, Sendable {
        /// Those of the type's `all`.
        case standard
        /// All.
        case unscoped
        /// None.
        case none
    }

    @inlinable
    init(_ conditions: FragmentList = FragmentList(), scope: Scope = .standard) {
        self.conditions = conditions
        self.scope = scope
    }

    /// The statement in its general form, with the default scope of the table.
    @inlinable
    public func asSelect() -> Select<(), From, Joins> { Select(clauses: clauses) }

    /// Adds the SELECT statement.
    @inlinable
    public func writeStatement(to fragment: inout QueryFragment) {
        guard hasPlainScope, combinations.isEmpty else {
            return clauses.write(from: From.self, to: &fragment)
        }
        guard scope != .none else { return }
        fragment.append(literal: "SELECT ", QueryFragment.Code.columns, From.self)
        fragment.append(literal: "\nFROM ", QueryFragment.Code.tableSource, From.self)
        conditions.write("\nWHERE ", to: &fragment)
    }

    /// Whether the type's `all` adds nothing.
    @inlinable
    var hasPlainScope: Bool {
        guard scope == .standard else { return true }
        guard let all = From.all as? Where<From> else { return false }
        return all.conditions.isEmpty && all.ordering.isEmpty && all.scope != .none
    }

    /// The rows of a table's default scope, as those of a type that stands for the table: an alias, or drafts.
    ///
    /// A limit of the scope is left out, and so is what needs other tables.
    static func standard<Base: Table>(of base: Base.Type) -> Self {
        let all = Base.all
        if let all = all as? Where<Base>, all.hasPlainScope { return Where() }
        let clauses = all.asSelect().clauses
        guard !clauses.isNone else { return Where(scope: .none) }
        guard clauses.joins.isEmpty else { return Where() }
        var result = Where(clauses.conditions.mapped { $0.retargeted(base, to: From.self) })
        result.ordering = clauses.ordering.retargeted(base, to: From.self)
        return result
    }

    /// The clauses, with those of the type's `all`.
    @usableFromInline var clauses: SelectClauses {
        var clauses = SelectClauses()
        if scope == .standard {
            if let all = From.all as? Where<From> {
                clauses.isNone = all.scope == .none
                clauses.conditions = all.conditions
                // What began with `all` has its conditions.
                clauses.conditions.append(ownConditions(besides: all.conditions))
                clauses.ordering = all.ordering
            } else {
                clauses = From.all.asSelect().clauses
                clauses.conditions.append(combinedConditions)
            }
        } else {
            clauses.conditions = combinedConditions
        }
        clauses.isNone = clauses.isNone || scope == .none
        return clauses
    }
}

extension Where {
    /// Rows that meet a condition, where a query of the table is expected: `.and(.where(\.isFlagged))`.
    public static func `where`(
        @QueryFragmentBuilder<Bool> _ predicate: (From.TableColumns) -> FragmentList
    ) -> Self {
        Where(predicate(From.columns))
    }

    /// Rows of which a column is true, where a query of the table is expected.
    public static func `where`(_ keyPath: KeyPath<From.TableColumns, some QueryExpression<Bool>>) -> Self {
        Where(FragmentList(From.columns[keyPath: keyPath].queryFragment))
    }

    /// Adds a condition.
    @inlinable
    public func `where`(
        @QueryFragmentBuilder<Bool> _ predicate: (From.TableColumns) -> FragmentList
    ) -> Self {
        var result = self
        result.conditions.append(predicate(From.columns))
        return result
    }

    /// Adds the condition that a column is true.
    public func `where`(_ keyPath: KeyPath<From.TableColumns, some QueryExpression<Bool>>) -> Self {
        var result = self
        result.conditions.append(From.columns[keyPath: keyPath].queryFragment)
        return result
    }

    /// Adds the conditions of a static member of the table's type that is a query.
    public subscript(dynamicMember keyPath: KeyPath<From.Type, Where<From>>) -> Where<From> {
        and(From.self[keyPath: keyPath])
    }

    /// Adds the clauses of a static member of the table's type that is a query.
    public subscript<Columns, Others>(
        dynamicMember keyPath: KeyPath<From.Type, Select<Columns, From, Others>>
    ) -> Select<Columns, From, Others> {
        From.self[keyPath: keyPath].and(self)
    }
}

extension Where where From: PrimaryKeyedTable {
    /// Adds that the key is a value.
    @inlinable
    public func find(_ key: From.PrimaryKey.QueryOutput) -> Self {
        var result = self
        result.conditions.append(Self.condition(key))
        return result
    }

    /// That the key is a value.
    @inlinable
    static func condition(_ key: From.PrimaryKey.QueryOutput) -> QueryFragment {
        Comparison<_, _, Bool>(
            From.columns.primaryKey, " = ", BindQueryExpression(key, as: From.PrimaryKey.self)
        ).queryFragment
    }

    /// Adds that the key is one of several.
    public func find(_ keys: some Sequence<From.PrimaryKey.QueryOutput>) -> Self {
        var result = self
        result.conditions.append(From.columns.primaryKey.in(keys).queryFragment)
        return result
    }
}

extension Where where From: PrimaryKeyedTable {
    /// Adds that the key is one of those that a statement gives.
    public func find<Key: QueryRepresentable>(_ keys: some PartialSelectStatement<Key>) -> Self
    where Key.QueryUnwrapped == From.PrimaryKey.QueryUnwrapped {
        var result = self
        result.conditions.append(From.columns.primaryKey.in(keys).queryFragment)
        return result
    }
}

extension QueryFragment {
    /// Adds values with commas between them; those of groups as the rows of VALUES.
    mutating func append<Value: QueryRepresentable>(
        list: some Sequence<Value.QueryOutput>, of type: Value.Type
    ) {
        var isFirst = true
        for value in list {
            if !isFirst { append(literal: ", ") } else if Value.columnWidth > 1 { append(literal: "VALUES ") }
            isFirst = false
            if Value.columnWidth > 1 { append(literal: "(") }
            BindQueryExpression(value, as: Value.self).write(to: &self)
            if Value.columnWidth > 1 { append(literal: ")") }
        }
        // No row has as many columns as a row of a group.
        guard isFirst, Value.columnWidth > 1 else { return }
        let columns = Array(repeating: "NULL", count: Value.columnWidth).joined(separator: ", ")
        append(sql: "SELECT \(columns) WHERE 0" as String)
    }
}
