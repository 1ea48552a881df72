// Aggregate functions: one value of all rows, or of those of each group.
//
// Each has a `distinct:`, which takes equal values once, and a `filter:`, which takes only rows that meet a condition.

extension QueryExpression where QueryValue: QueryRepresentable {
    /// The number of rows where the value is not NULL.
    ///
    /// ```swift
    /// Reminder.select { $0.dueDate.count(distinct: true) }
    /// // SELECT count(DISTINCT "reminders"."dueDate") FROM "reminders"
    /// Reminder.select { $0.id.count(filter: $0.isCompleted) }
    /// // SELECT count("reminders"."id") FILTER (WHERE "reminders"."isCompleted") FROM "reminders"
    /// ```
    public func count<Filter: QueryExpression>(
        distinct isDistinct: Bool = false, filter: Filter? = Bool?.none
    ) -> AggregateExpression<Int>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        aggregate("count", isDistinct, filter)
    }

    /// The least value, NULL when there is none.
    @_disfavoredOverload
    public func min<Filter: QueryExpression>(
        filter: Filter? = Bool?.none
    ) -> AggregateExpression<QueryValue.QueryUnwrapped?>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        guard filter == nil, !EngineChoice.indexedMinimum.isSupported else {
            return aggregate("min", false, filter)
        }
        var argument = QueryFragment()
        argument.append(outOfPlansOf: .indexedMinimum) { write(to: &$0) }
        var call = AggregateExpression<QueryValue.QueryUnwrapped?>("min", argument)
        call.ordering = .ignored
        return call
    }

    /// The greatest value, NULL when there is none.
    @_disfavoredOverload
    public func max<Filter: QueryExpression>(
        filter: Filter? = Bool?.none
    ) -> AggregateExpression<QueryValue.QueryUnwrapped?>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        aggregate("max", false, filter)
    }

    /// A call of an aggregate function with the expression as its argument.
    func aggregate<Value>(
        _ name: StaticString, _ isDistinct: Bool, _ filter: (any QueryExpression)?
    ) -> AggregateExpression<Value> {
        var call = AggregateExpression<Value>(name, queryFragment)
        call.isDistinct = isDistinct
        call.filter = filter?.queryFragment
        call.ordering = .ignored
        return call
    }
}

extension QueryExpression where QueryValue: QueryRepresentable, QueryValue.QueryUnwrapped: Numeric {
    /// The mean of the values, NULL when there is none.
    ///
    /// ```swift
    /// Player.select { $0.score.avg() }    // SELECT avg("players"."score") FROM "players"
    /// ```
    public func avg<Filter: QueryExpression>(
        distinct isDistinct: Bool = false, filter: Filter? = Bool?.none
    ) -> AggregateExpression<Double?>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        aggregate("avg", isDistinct, filter)
    }

    /// The sum of the values, NULL when there is none. A sum of integers that is too large is an error.
    public func sum<Filter: QueryExpression>(
        distinct isDistinct: Bool = false, filter: Filter? = Bool?.none
    ) -> AggregateExpression<QueryValue.QueryUnwrapped?>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        aggregate("sum", isDistinct, filter)
    }

    /// The sum of the values as a floating-point number, 0 when there is none.
    public func total<Filter: QueryExpression>(
        distinct isDistinct: Bool = false, filter: Filter? = Bool?.none
    ) -> AggregateExpression<Double>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        aggregate("total", isDistinct, filter)
    }
}

extension QueryExpression where QueryValue: QueryRepresentable, QueryValue.QueryUnwrapped == String {
    /// The texts, with another text between each two; NULL when there is none.
    ///
    /// ```swift
    /// Tag.select { $0.title.groupConcat(" ", order: $0.title.desc()) }
    /// // SELECT group_concat("tags"."title", ' ' ORDER BY "tags"."title" DESC) FROM "tags"
    /// ```
    ///
    /// An order by a column that has a collation of its own is by bytes on SQLite before 3.44, which can't tell
    /// functions about collations.
    ///
    /// - parameters:
    ///     - separator: The text between the others.
    ///     - order: The order of the texts; without one, it is not defined.
    ///     - filter: Which rows count.
    public func groupConcat<Order: QueryExpression, Filter: QueryExpression>(
        _ separator: some QueryExpression, order: Order? = Bool?.none, filter: Filter? = Bool?.none
    ) -> AggregateExpression<String?>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        var call: AggregateExpression<String?> = aggregate("group_concat", false, filter)
        call.others = ", \(separator.queryFragment)"
        call.order = order.map { OrderingTerms($0) }
        call.ordering = .emulated("cipherstore_group_concat")
        return call
    }

    /// The texts, with commas between them; NULL when there is none.
    ///
    /// - parameters:
    ///     - isDistinct: Whether equal texts are taken once.
    ///     - order: The order of the texts; without one, it is not defined.
    ///     - filter: Which rows count.
    public func groupConcat<Order: QueryExpression, Filter: QueryExpression>(
        distinct isDistinct: Bool = false, order: Order? = Bool?.none, filter: Filter? = Bool?.none
    ) -> AggregateExpression<String?>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        var call: AggregateExpression<String?> = aggregate("group_concat", isDistinct, filter)
        call.order = order.map { OrderingTerms($0) }
        call.ordering = .emulated("cipherstore_group_concat")
        call.separatorIsImplied = true
        return call
    }
}
