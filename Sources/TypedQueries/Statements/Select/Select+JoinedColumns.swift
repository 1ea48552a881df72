// Joins of statements whose columns are chosen already: those of both are selected.

extension Select where Columns: QueryRepresentable, Joins == NoJoins {
    /// Joins another table: only pairs of rows that meet a condition.
    ///
    /// ```swift
    /// Reminder.select(\.title).join(RemindersList.all) { $0.listID.eq($1.id) }
    /// // SELECT "reminders"."title" FROM "reminders" JOIN "remindersLists" ON …
    /// ```
    public func join<F: Table>(
        _ other: some SelectStatement<(), F, NoJoins>,
        on constraint: (From.TableColumns, F.TableColumns) -> some QueryExpression<Bool>
    ) -> Select<Columns, From, Joined<F>> {
        let condition = constraint(From.columns, F.columns).queryFragment
        return joined(.inner, other, on: condition, as: Select<Columns, From, Joined<F>>.self)
    }

    /// Joins another table of which a column is chosen, too.
    public func join<F: Table, Chosen: QueryRepresentable>(
        _ other: some SelectStatement<Chosen, F, NoJoins>,
        on constraint: (From.TableColumns, F.TableColumns) -> some QueryExpression<Bool>
    ) -> Select<(Columns, Chosen), From, Joined<F>> {
        let condition = constraint(From.columns, F.columns).queryFragment
        return joined(.inner, other, on: condition, as: Select<(Columns, Chosen), From, Joined<F>>.self)
    }

    /// Joins another table, of which there may be no row.
    public func leftJoin<F: Table>(
        _ other: some SelectStatement<(), F, NoJoins>,
        on constraint: (From.TableColumns, F.TableColumns) -> some QueryExpression<Bool>
    ) -> Select<Columns, From, Joined<F?>> {
        let condition = constraint(From.columns, F.columns).queryFragment
        return joined(.left, other, on: condition, as: Select<Columns, From, Joined<F?>>.self)
    }

    /// Joins another table, of which there may be no row, and of which a column is chosen, too.
    public func leftJoin<F: Table, Chosen: QueryRepresentable>(
        _ other: some SelectStatement<Chosen, F, NoJoins>,
        on constraint: (From.TableColumns, F.TableColumns) -> some QueryExpression<Bool>
    ) -> Select<(Columns, Chosen?), From, Joined<F?>> {
        let condition = constraint(From.columns, F.columns).queryFragment
        return joined(.left, other, on: condition, as: Select<(Columns, Chosen?), From, Joined<F?>>.self)
    }

    /// Adds the clauses and the columns of a static member of the table's type that is a query with joins.
    public subscript<Other: QueryRepresentable, J: Table>(
        dynamicMember keyPath: KeyPath<From.Type, Select<Other, From, Joined<J>>>
    ) -> Select<(Columns, Other), From, Joined<J>> {
        let other = From.self[keyPath: keyPath].clauses
        var clauses = clauses
        clauses.joins.append(other.joins)
        clauses.columns.append(term: other.columns)
        clauses.merge(other)
        return Select<(Columns, Other), From, Joined<J>>(clauses: clauses)
    }
}

extension Select {
    /// Limits the number of rows by an expression of the tables, such as a subquery that is a member of one.
    public func limit<each Other: Table>(
        _ count: (From.TableColumns, repeat (each Other).TableColumns) -> some QueryExpression<Int>
    ) -> Self where Joins == Joined<repeat each Other> {
        limit(count(From.columns, repeat (each Other).columns))
    }
}
