// What is selected. Each call adds columns to those that are selected already.

extension Select where Columns: QueryRepresentable {
    /// Selects one more expression.
    public func select<each Other: Table, Value: QueryRepresentable>(
        _ selection: (From.TableColumns, repeat (each Other).TableColumns) -> some QueryExpression<Value>
    ) -> Select<(Columns, Value), From, Joins> where Joins == Joined<repeat each Other> {
        selecting((Columns, Value).self, selection(From.columns, repeat (each Other).columns).queryFragment)
    }

    /// Replaces what is selected by an expression of it.
    ///
    /// ```swift
    /// Reminder.select(\.title).map { $0.length() }    // SELECT length("reminders"."title")
    /// ```
    public func map<Value: QueryRepresentable>(
        _ transform: (SQLQueryExpression<Columns>) -> some QueryExpression<Value>
    ) -> Select<Value, From, Joins> {
        var clauses = clauses
        clauses.columns = transform(SQLQueryExpression(clauses.columns)).queryFragment
        return Select<Value, From, Joins>(clauses: clauses)
    }
}

extension QueryFragment {
    /// Expressions with commas between them.
    @inlinable
    init<each Term: QueryExpression>(list terms: repeat each Term) {
        self.init()
        for term in repeat each terms {
            if !code.isEmpty { code.append(Code.comma) }
            term.write(to: &self)
        }
    }
}
