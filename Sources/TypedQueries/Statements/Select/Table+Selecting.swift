// The beginnings of queries, as functions of the table's type and of `Where`.
// One value or a tuple: the closure says which.
// swift-format-ignore-file: AmbiguousTrailingClosureOverload

extension Table {
    /// All rows, also those that ``all`` leaves out.
    @inlinable
    public static var unscoped: Where<Self> { Where(scope: .unscoped) }

    /// No rows: the statement is not even run.
    @inlinable
    public static var none: Where<Self> { Where(scope: .none) }

    /// Rows that meet a condition.
    ///
    /// ```swift
    /// Reminder.where { !$0.isCompleted }
    /// ```
    @inlinable
    public static func `where`(
        @QueryFragmentBuilder<Bool> _ predicate: (TableColumns) -> FragmentList
    ) -> Where<Self> {
        Where(predicate(columns))
    }

    /// Rows of which a column is true.
    public static func `where`(_ keyPath: KeyPath<TableColumns, some QueryExpression<Bool>>) -> Where<Self> {
        Where(FragmentList(columns[keyPath: keyPath].queryFragment))
    }

    /// Each row once.
    public static func distinct(_ isDistinct: Bool = true) -> Select<(), Self, NoJoins> {
        Where<Self>().distinct(isDistinct)
    }

    /// Selects an expression.
    @inlinable
    public static func select<Value: QueryRepresentable>(
        _ selection: (TableColumns) -> some QueryExpression<Value>
    ) -> Select<Value, Self, NoJoins> {
        Where<Self>().select(selection)
    }

    /// Selects a column.
    public static func select<Value: QueryRepresentable>(
        _ keyPath: KeyPath<TableColumns, some QueryExpression<Value>>
    ) -> Select<Value, Self, NoJoins> {
        Where<Self>().select(keyPath)
    }

    /// Selects expressions, which a tuple has.
    @inlinable
    public static func select<each C: QueryExpression>(
        _ selection: (TableColumns) -> (repeat each C)
    ) -> Select<(repeat (each C).QueryValue), Self, NoJoins>
    where
        repeat (each C).QueryValue: QueryRepresentable
    {
        Where<Self>().select(selection)
    }

    /// Groups rows by expressions.
    @inlinable
    public static func group(
        @QueryFragmentBuilder<()> by grouping: (TableColumns) -> FragmentList
    ) -> Select<(), Self, NoJoins> {
        Where<Self>().group(by: grouping)
    }

    /// Groups rows by a column.
    public static func group(
        by keyPath: KeyPath<TableColumns, some QueryExpression>
    ) -> Select<(), Self, NoJoins> {
        Where<Self>().group(by: keyPath)
    }

    /// A condition on groups.
    @inlinable
    public static func having(
        @QueryFragmentBuilder<Bool> _ predicate: (TableColumns) -> FragmentList
    ) -> Select<(), Self, NoJoins> {
        Where<Self>().having(predicate)
    }

    /// Orders rows.
    @inlinable
    public static func order(
        @QueryFragmentBuilder<()> by ordering: (TableColumns) -> FragmentList
    ) -> Select<(), Self, NoJoins> {
        Where<Self>().order(by: ordering)
    }

    /// Orders rows by a column.
    public static func order(
        by keyPath: KeyPath<TableColumns, some QueryExpression>
    ) -> Select<(), Self, NoJoins> {
        Where<Self>().order(by: keyPath)
    }

    /// Limits the number of rows.
    @inlinable
    public static func limit(_ count: Int, offset: Int? = nil) -> Select<(), Self, NoJoins> {
        Where<Self>().limit(count, offset: offset)
    }

    /// The number of rows: `count(*)`.
    public static func count() -> Select<Int, Self, NoJoins> { Where<Self>().count() }

    /// The number of rows that meet a condition.
    public static func count(
        filter: (TableColumns) -> any QueryExpression<Bool>
    ) -> Select<Int, Self, NoJoins> {
        Where<Self>().count(filter: filter)
    }

    /// Joins another table: only pairs of rows that meet a condition.
    public static func join<F: Table, Chosen>(
        _ other: some SelectStatement<Chosen, F, NoJoins>,
        on constraint: (TableColumns, F.TableColumns) -> some QueryExpression<Bool>
    ) -> Select<Chosen, Self, Joined<F>> {
        Where<Self>().join(other, on: constraint)
    }

    /// Joins another table, of which there may be no row.
    public static func leftJoin<F: Table, Chosen>(
        _ other: some SelectStatement<Chosen, F, NoJoins>,
        on constraint: (TableColumns, F.TableColumns) -> some QueryExpression<Bool>
    ) -> Select<Chosen, Self, Joined<F?>> {
        Where<Self>().leftJoin(other, on: constraint)
    }

    /// Joins another table, all of whose rows are there. It needs SQLite 3.39.
    public static func rightJoin<F: Table, Chosen>(
        _ other: some SelectStatement<Chosen, F, NoJoins>,
        on constraint: (TableColumns, F.TableColumns) -> some QueryExpression<Bool>
    ) -> Select<Chosen, Self?, Joined<F>> {
        Where<Self>().rightJoin(other, on: constraint)
    }

    /// Joins another table, with all rows of both sides. It needs SQLite 3.39.
    public static func fullJoin<F: Table, Chosen>(
        _ other: some SelectStatement<Chosen, F, NoJoins>,
        on constraint: (TableColumns, F.TableColumns) -> some QueryExpression<Bool>
    ) -> Select<Chosen, Self?, Joined<F?>> {
        Where<Self>().fullJoin(other, on: constraint)
    }
}

extension Table {
    /// `EXISTS`: whether there is a row.
    public static func exists() -> UnaryExpression<SQLQueryExpression<()>, Bool> { Where<Self>().exists() }
}

extension TableDraft {
    /// The row with a key, as a draft.
    public static func find(_ key: PrimaryTable.PrimaryKey.QueryOutput) -> Where<Self> {
        all(PrimaryTable.find(key))
    }

    /// The rows with keys, as drafts.
    public static func find(_ keys: some Sequence<PrimaryTable.PrimaryKey.QueryOutput>) -> Where<Self> {
        all(PrimaryTable.find(keys))
    }

    /// The rows of the default scope that meet the conditions of a query of the table.
    private static func all(_ query: Where<PrimaryTable>) -> Where<Self> {
        Where(query.conditions.mapped { $0.retargeted(PrimaryTable.self, to: Self.self) })
    }
}

extension TableAlias where Base: PrimaryKeyedTable {
    /// The row with a key.
    public static func find(_ key: Base.PrimaryKey.QueryOutput) -> Where<Self> { all(Base.find(key)) }

    /// The rows with keys.
    public static func find(_ keys: some Sequence<Base.PrimaryKey.QueryOutput>) -> Where<Self> {
        all(Base.find(keys))
    }

    private static func all(_ query: Where<Base>) -> Where<Self> {
        Where(query.conditions.mapped { $0.retargeted(Base.self, to: Self.self) })
    }
}

extension PrimaryKeyedTable {
    /// The rows whose keys a statement gives.
    public static func find<Key: QueryRepresentable>(_ keys: some PartialSelectStatement<Key>) -> Where<Self>
    where Key.QueryUnwrapped == PrimaryKey.QueryUnwrapped {
        Where<Self>().find(keys)
    }

    /// The row with a key.
    @inlinable
    public static func find(_ key: PrimaryKey.QueryOutput) -> Where<Self> {
        Where<Self>(FragmentList(Where<Self>.condition(key)))
    }

    /// The rows with keys.
    public static func find(_ keys: some Sequence<PrimaryKey.QueryOutput>) -> Where<Self> {
        Where<Self>().find(keys)
    }
}
