// The number of rows, where a whole table is counted: `$1.count()`.

extension TableDefinition {
    /// The number of rows.
    ///
    /// ```swift
    /// Reminder.group(by: \.listID).select { ($0.listID, $0.count()) }
    /// // SELECT "reminders"."listID", count(*) FROM "reminders" GROUP BY "reminders"."listID"
    /// ```
    public func count<Filter: QueryExpression>(
        distinct isDistinct: Bool = false, filter: Filter? = Bool?.none
    ) -> AggregateExpression<Int>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        RowCount.of(QueryValue.self, key: isDistinct ? QueryValue.allColumnNames : [], isDistinct, filter)
    }
}

extension PrimaryKeyedTableDefinition {
    /// The number of rows, without those that an outer join makes up.
    ///
    /// ```swift
    /// RemindersList.group(by: \.id).leftJoin(Reminder.all) { $0.id.eq($1.listID) }.select { ($0.title, $1.count()) }
    /// // SELECT "remindersLists"."title", count("reminders"."id") FROM "remindersLists" LEFT JOIN "reminders" ON …
    /// ```
    public func count<Filter: QueryExpression>(
        distinct isDistinct: Bool = false, filter: Filter? = Bool?.none
    ) -> AggregateExpression<Int>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        RowCount.of(QueryValue.self, key: primaryKey.queryColumnNames, isDistinct, filter)
    }
}

extension Optional.TableColumns {
    /// The number of rows, without those that an outer join makes up.
    public func count<Filter: QueryExpression>(
        distinct isDistinct: Bool = false, filter: Filter? = Bool?.none
    ) -> AggregateExpression<Int>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        RowCount.ofThoseThere(QueryValue.self, isDistinct, filter)
    }
}

extension Optional.TableColumns where Wrapped: PrimaryKeyedTable {
    /// The number of rows, without those that an outer join makes up.
    public func count<Filter: QueryExpression>(
        distinct isDistinct: Bool = false, filter: Filter? = Bool?.none
    ) -> AggregateExpression<Int>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        RowCount.of(QueryValue.self, key: Wrapped.columns.primaryKey.queryColumnNames, isDistinct, filter)
    }
}

extension TableAlias.TableColumns where Base: PrimaryKeyedTable {
    /// The number of rows, without those that an outer join makes up.
    public func count<Filter: QueryExpression>(
        distinct isDistinct: Bool = false, filter: Filter? = Bool?.none
    ) -> AggregateExpression<Int>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        RowCount.of(QueryValue.self, key: Base.columns.primaryKey.queryColumnNames, isDistinct, filter)
    }
}

extension QueryExpression where Self == AggregateExpression<Int> {
    /// The number of rows, whatever they are of: `count(*)`.
    ///
    /// ```swift
    /// Reminder.select { _ in .count() }    // SELECT count(*) FROM "reminders"
    /// ```
    public static func count<Filter: QueryExpression>(filter: Filter? = Bool?.none) -> Self
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        RowCount.of(NoTable.self, key: [], false, filter)
    }
}

/// Makes the expressions that count rows.
private enum RowCount {
    /// Counts the keys, or everything where there is none.
    static func of<Root: Table>(
        _ type: Root.Type, key: [String], _ isDistinct: Bool, _ filter: (any QueryExpression)?
    ) -> AggregateExpression<Int> {
        var columns = key.map { columnNamed($0, of: type) }
        // One column tells whether there is a row; together they tell which one.
        if isDistinct, columns.count > 1 { columns = [joined(columns.map { "quote(\($0))" }, " || ',' || ")] }
        var call = AggregateExpression<Int>("count", columns.first ?? "*")
        call.isDistinct = isDistinct
        call.filter = filter?.queryFragment
        call.ordering = .ignored
        return call
    }

    /// Counts the rows that have a value in any column.
    static func ofThoseThere<Root: Table>(
        _ type: Root.Type, _ isDistinct: Bool, _ filter: (any QueryExpression)?
    ) -> AggregateExpression<Int> {
        let tests = type.allColumnNames.map { name in
            var test = columnNamed(name, of: type)
            test.append(literal: " IS NOT NULL")
            return test
        }
        let names = type.allColumnNames.map { columnNamed($0, of: type) }
        let value = isDistinct ? joined(names.map { "quote(\($0))" }, " || ',' || ") : "1"
        var call = AggregateExpression<Int>("count", "CASE WHEN \(joined(tests, " OR ")) THEN \(value) END")
        call.isDistinct = isDistinct
        call.filter = filter?.queryFragment
        call.ordering = .ignored
        return call
    }

    private static func columnNamed<Root: Table>(_ name: String, of type: Root.Type) -> QueryFragment {
        var column = QueryFragment()
        column.append(tableOf: type)
        column.append(literal: ".")
        column.append(identifier: name)
        return column
    }

    private static func joined(_ fragments: [QueryFragment], _ separator: StaticString) -> QueryFragment {
        var result = QueryFragment()
        for fragment in fragments {
            if !result.isEmpty { result.append(sql: separator) }
            result.append(fragment)
        }
        return result
    }
}
