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

// Rows beside a value by which they are divided.

extension Select where Columns == (), Joins == NoJoins {
    /// Whole rows with the text of an expression, in its order first.
    ///
    /// - parameter term: An expression of one column, or a term of an order.
    package func divided(by term: some QueryExpression) -> Select<(From, String?), From, NoJoins> {
        var columns = QueryFragment()
        columns.append(columnsOf: From.self)
        return Select<(From, String?), From, NoJoins>(clauses: clauses.divided(columns, by: term))
    }
}

extension Select where Columns: QueryRepresentable, Joins == NoJoins {
    /// What is selected with the text of an expression, in its order first.
    ///
    /// - parameter term: An expression of one column, or a term of an order.
    package func divided(by term: some QueryExpression) -> Select<(Columns, String?), From, NoJoins> {
        Select<(Columns, String?), From, NoJoins>(clauses: clauses.divided(clauses.columns, by: term))
    }
}

extension SelectClauses {
    /// The clauses with the text of an expression behind columns, in its order first.
    fileprivate func divided(_ columns: QueryFragment, by term: some QueryExpression) -> SelectClauses {
        let order = term.queryFragment
        var text = QueryFragment("CAST(")
        text.append((term as? OrderingTerm)?.expression ?? order)
        text.append(literal: " AS TEXT)")
        var result = self
        result.columns = columns
        result.columns.append(term: text)
        // A limit takes the rows that come first in the query's own order, so those of one value may stand apart.
        guard limit.isEmpty else { return result }
        result.ordering = order
        // A collation takes several values for one, whose rows would stand in any order.
        result.ordering.append(term: text)
        result.ordering.append(literal: " COLLATE BINARY")
        Self.join(&result.ordering, ordering)
        return result
    }
}
