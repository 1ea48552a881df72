// Columns and joins of a statement with two other tables. There is a file for each number of tables, because the
// compiler can't call a closure whose parameters and results are both packs.
// One value or a tuple: the closure says which.
// swift-format-ignore-file: AmbiguousTrailingClosureOverload

extension Select where Columns == () {
    /// Selects an expression.
    @inlinable
    public func select<J1: Table, J2: Table, Value: QueryRepresentable>(
        _ selection: (From.TableColumns, J1.TableColumns, J2.TableColumns) -> some QueryExpression<Value>
    ) -> Select<Value, From, Joins> where Joins == Joined<J1, J2> {
        selecting(Value.self, selection(From.columns, J1.columns, J2.columns).queryFragment)
    }

    /// Selects expressions, which a tuple has.
    @inlinable
    public func select<J1: Table, J2: Table, each C: QueryExpression>(
        _ selection: (From.TableColumns, J1.TableColumns, J2.TableColumns) -> (repeat each C)
    ) -> Select<(repeat (each C).QueryValue), From, Joins>
    where Joins == Joined<J1, J2>, repeat (each C).QueryValue: QueryRepresentable {
        let terms = selection(From.columns, J1.columns, J2.columns)
        return selecting((repeat (each C).QueryValue).self, QueryFragment(list: repeat each terms))
    }

    /// Joins another table: only pairs of rows that meet a condition.
    ///
    /// - parameters:
    ///     - other: A query of the other table; its conditions are added.
    ///     - constraint: Which rows belong together.
    public func join<J1: Table, J2: Table, F: Table, Chosen>(
        _ other: some SelectStatement<Chosen, F, NoJoins>,
        on constraint: (From.TableColumns, J1.TableColumns, J2.TableColumns, F.TableColumns) ->
            some QueryExpression<Bool>
    ) -> Select<Chosen, From, Joined<J1, J2, F>> where Joins == Joined<J1, J2> {
        let condition = constraint(From.columns, J1.columns, J2.columns, F.columns).queryFragment
        return joined(.inner, other, on: condition, as: Select<Chosen, From, Joined<J1, J2, F>>.self)
    }

    /// Joins another table, of which there may be no row.
    ///
    /// - parameters:
    ///     - other: A query of the other table. The conditions of the table's `all` belong to the constraint, and its own are
    ///       added: these must be met, so that no row is missing any more.
    ///     - constraint: Which rows belong together.
    public func leftJoin<J1: Table, J2: Table, F: Table, Chosen>(
        _ other: some SelectStatement<Chosen, F, NoJoins>,
        on constraint: (From.TableColumns, J1.TableColumns, J2.TableColumns, F.TableColumns) ->
            some QueryExpression<Bool>
    ) -> Select<Chosen, From, Joined<J1, J2, F?>> where Joins == Joined<J1, J2> {
        let condition = constraint(From.columns, J1.columns, J2.columns, F.columns).queryFragment
        return joined(.left, other, on: condition, as: Select<Chosen, From, Joined<J1, J2, F?>>.self)
    }

    /// Joins another table, all of whose rows are there. It needs SQLite 3.39.
    ///
    /// - parameters:
    ///     - other: A query of the other table. The conditions of the table's `all`, and those of the `all` of tables before it,
    ///       choose which rows are joined. Other conditions are of the whole statement: what they are about is not missing in
    ///       any row.
    ///     - constraint: Which rows belong together.
    public func rightJoin<J1: Table, J2: Table, F: Table, Chosen>(
        _ other: some SelectStatement<Chosen, F, NoJoins>,
        on constraint: (From.TableColumns, J1.TableColumns, J2.TableColumns, F.TableColumns) ->
            some QueryExpression<Bool>
    ) -> Select<Chosen, From?, Joined<J1?, J2?, F>> where Joins == Joined<J1, J2> {
        let condition = constraint(From.columns, J1.columns, J2.columns, F.columns).queryFragment
        return joined(.right, other, on: condition, as: Select<Chosen, From?, Joined<J1?, J2?, F>>.self)
    }

    /// Joins another table, with all rows of both sides. It needs SQLite 3.39.
    ///
    /// - parameters:
    ///     - other: A query of the other table. The conditions of the table's `all`, and those of the `all` of tables before it,
    ///       choose which rows are joined. Other conditions are of the whole statement: what they are about is not missing in
    ///       any row.
    ///     - constraint: Which rows belong together.
    public func fullJoin<J1: Table, J2: Table, F: Table, Chosen>(
        _ other: some SelectStatement<Chosen, F, NoJoins>,
        on constraint: (From.TableColumns, J1.TableColumns, J2.TableColumns, F.TableColumns) ->
            some QueryExpression<Bool>
    ) -> Select<Chosen, From?, Joined<J1?, J2?, F?>> where Joins == Joined<J1, J2> {
        let condition = constraint(From.columns, J1.columns, J2.columns, F.columns).queryFragment
        return joined(.full, other, on: condition, as: Select<Chosen, From?, Joined<J1?, J2?, F?>>.self)
    }
}
