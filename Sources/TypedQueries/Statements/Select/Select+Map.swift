// What is selected, replaced by expressions of it.
// One value or a tuple: the closure says which.
// swift-format-ignore-file: AmbiguousTrailingClosureOverload

extension Select {
    /// Replaces two columns that are selected by an expression of them.
    ///
    /// ```swift
    /// Reminder.select { ($0.id, $0.title) }.map { $1 + $0.cast() }
    /// ```
    public func map<C1: QueryRepresentable, C2: QueryRepresentable, Value: QueryRepresentable>(
        _ transform: (SQLQueryExpression<C1>, SQLQueryExpression<C2>) -> some QueryExpression<Value>
    ) -> Select<Value, From, Joins> where Columns == (C1, C2) {
        let (first, second) = clauses.columns.twoTerms
        return replacing(transform(SQLQueryExpression(first), SQLQueryExpression(second)).queryFragment)
    }

    /// Replaces two columns that are selected by expressions of them; by whole rows, when there are none.
    ///
    /// ```swift
    /// Reminder.select { ($0.id, $0.title) }.map { ($1, $0) }    // SELECT "reminders"."title", "reminders"."id" …
    /// ```
    public func map<C1: QueryRepresentable, C2: QueryRepresentable, each V: QueryExpression>(
        _ transform: (SQLQueryExpression<C1>, SQLQueryExpression<C2>) -> (repeat each V)
    ) -> Select<(repeat (each V).QueryValue), From, Joins>
    where Columns == (C1, C2), repeat (each V).QueryValue: QueryRepresentable {
        let (first, second) = clauses.columns.twoTerms
        let chosen = transform(SQLQueryExpression(first), SQLQueryExpression(second))
        return replacing(QueryFragment(list: repeat each chosen))
    }

    private func replacing<New>(_ columns: QueryFragment) -> Select<New, From, Joins> {
        var clauses = clauses
        clauses.columns = columns
        return Select<New, From, Joins>(clauses: clauses)
    }
}

extension Select where Columns == () {
    /// Selects an expression that needs no column.
    public func map<Value: QueryRepresentable>(
        _ transform: () -> some QueryExpression<Value>
    ) -> Select<Value, From, Joins> {
        selecting(Value.self, transform().queryFragment)
    }

    /// Selects expressions that need no column; whole rows, when there are none.
    public func map<each V: QueryExpression>(
        _ transform: () -> (repeat each V)
    ) -> Select<(repeat (each V).QueryValue), From, Joins>
    where repeat (each V).QueryValue: QueryRepresentable {
        let chosen = transform()
        return selecting((repeat (each V).QueryValue).self, QueryFragment(list: repeat each chosen))
    }
}

extension QueryFragment {
    /// The terms of a list of two.
    fileprivate var twoTerms: (QueryFragment, QueryFragment) {
        let terms = terms
        // Whoever selected two expressions wrote two terms, unless SQL of theirs is none that can be read.
        guard terms.count == 2 else {
            let error = QueryBindingError(
                "\(terms.count) terms are selected as two columns: check the parentheses and quotes of their SQL"
            )
            // The statement fails with the reason.
            return (QueryFragment(binding: .invalid(error)), QueryFragment(binding: .invalid(error)))
        }
        return (terms[0], terms[1])
    }
}
