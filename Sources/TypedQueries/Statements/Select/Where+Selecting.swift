// A query of whole rows becomes a SELECT of any form.
// One value or a tuple: the closure says which.
// swift-format-ignore-file: AmbiguousTrailingClosureOverload

extension Where {
    /// Each row once.
    public func distinct(_ isDistinct: Bool = true) -> Select<(), From, NoJoins> {
        asSelect().distinct(isDistinct)
    }

    /// Selects an expression.
    @inlinable
    public func select<Value: QueryRepresentable>(
        _ selection: (From.TableColumns) -> some QueryExpression<Value>
    ) -> Select<Value, From, NoJoins> {
        asSelect().select(selection)
    }

    /// Selects a column.
    public func select<Value: QueryRepresentable>(
        _ keyPath: KeyPath<From.TableColumns, some QueryExpression<Value>>
    ) -> Select<Value, From, NoJoins> {
        asSelect().select(keyPath)
    }

    /// Selects expressions, which a tuple has.
    @inlinable
    public func select<each C: QueryExpression>(
        _ selection: (From.TableColumns) -> (repeat each C)
    ) -> Select<(repeat (each C).QueryValue), From, NoJoins>
    where
        repeat (each C).QueryValue: QueryRepresentable
    {
        asSelect().select(selection)
    }

    /// Groups rows by expressions.
    @inlinable
    public func group(
        @QueryFragmentBuilder<()> by grouping: (From.TableColumns) -> FragmentList
    ) -> Select<(), From, NoJoins> {
        asSelect().group(by: grouping)
    }

    /// Groups rows by a column.
    public func group(
        by keyPath: KeyPath<From.TableColumns, some QueryExpression>
    ) -> Select<(), From, NoJoins> {
        asSelect().group(by: keyPath)
    }

    /// A condition on groups.
    @inlinable
    public func having(
        @QueryFragmentBuilder<Bool> _ predicate: (From.TableColumns) -> FragmentList
    ) -> Select<(), From, NoJoins> {
        asSelect().having(predicate)
    }

    /// A condition on groups: that a column is true.
    public func having(
        _ keyPath: KeyPath<From.TableColumns, some QueryExpression<Bool>>
    ) -> Select<(), From, NoJoins> {
        asSelect().having(keyPath)
    }

    /// Orders rows.
    @inlinable
    public func order(
        @QueryFragmentBuilder<()> by ordering: (From.TableColumns) -> FragmentList
    ) -> Select<(), From, NoJoins> {
        asSelect().order(by: ordering)
    }

    /// Orders rows by a column.
    public func order(
        by keyPath: KeyPath<From.TableColumns, some QueryExpression>
    ) -> Select<(), From, NoJoins> {
        asSelect().order(by: keyPath)
    }

    /// Limits the number of rows.
    @inlinable
    public func limit(_ count: Int, offset: Int? = nil) -> Select<(), From, NoJoins> {
        asSelect().limit(count, offset: offset)
    }

    /// The number of rows: `count(*)`.
    public func count() -> Select<Int, From, NoJoins> { asSelect().count() }

    /// The number of rows that meet a condition.
    public func count(
        filter: (From.TableColumns) -> any QueryExpression<Bool>
    ) -> Select<Int, From, NoJoins> {
        asSelect().count(filter: filter)
    }

    /// Joins another table: only pairs of rows that meet a condition.
    public func join<F: Table, Chosen>(
        _ other: some SelectStatement<Chosen, F, NoJoins>,
        on constraint: (From.TableColumns, F.TableColumns) -> some QueryExpression<Bool>
    ) -> Select<Chosen, From, Joined<F>> {
        asSelect().join(other, on: constraint)
    }

    /// Joins another table, of which there may be no row.
    public func leftJoin<F: Table, Chosen>(
        _ other: some SelectStatement<Chosen, F, NoJoins>,
        on constraint: (From.TableColumns, F.TableColumns) -> some QueryExpression<Bool>
    ) -> Select<Chosen, From, Joined<F?>> {
        asSelect().leftJoin(other, on: constraint)
    }

    /// Joins another table, all of whose rows are there. It needs SQLite 3.39.
    public func rightJoin<F: Table, Chosen>(
        _ other: some SelectStatement<Chosen, F, NoJoins>,
        on constraint: (From.TableColumns, F.TableColumns) -> some QueryExpression<Bool>
    ) -> Select<Chosen, From?, Joined<F>> {
        asSelect().rightJoin(other, on: constraint)
    }

    /// Joins another table, with all rows of both sides. It needs SQLite 3.39.
    public func fullJoin<F: Table, Chosen>(
        _ other: some SelectStatement<Chosen, F, NoJoins>,
        on constraint: (From.TableColumns, F.TableColumns) -> some QueryExpression<Bool>
    ) -> Select<Chosen, From?, Joined<F?>> {
        asSelect().fullJoin(other, on: constraint)
    }
}
