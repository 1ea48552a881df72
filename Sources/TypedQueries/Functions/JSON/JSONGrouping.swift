// Functions that make JSON of the values of rows.

extension QueryExpression where QueryValue: QueryRepresentable, QueryValue.QueryOutput: Codable {
    /// The values of the rows as a JSON array.
    ///
    /// ```swift
    /// Tag.select { $0.title.jsonGroupArray(order: $0.title) }
    /// // SELECT json_group_array("tags"."title" ORDER BY "tags"."title") FROM "tags"
    /// ```
    ///
    /// - parameters:
    ///     - isDistinct: Whether equal values are taken once.
    ///     - order: The order of the values; without one, it is not defined.
    ///     - filter: Which rows count.
    public func jsonGroupArray<Order: QueryExpression, Filter: QueryExpression>(
        distinct isDistinct: Bool = false, order: Order? = Bool?.none, filter: Filter? = Bool?.none
    ) -> AggregateExpression<JSONTextRepresentation<[QueryValue.QueryOutput]>>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        JSONGroup.array(
            self, isBinary: false, isDistinct, order: order.map { OrderingTerms($0) }, filter?.queryFragment)
    }

    /// The values of the rows as a JSON array in binary form.
    public func jsonbGroupArray<Order: QueryExpression, Filter: QueryExpression>(
        distinct isDistinct: Bool = false, order: Order? = Bool?.none, filter: Filter? = Bool?.none
    ) -> AggregateExpression<JSONBinaryRepresentation<[QueryValue.QueryOutput]>>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        JSONGroup.array(
            self, isBinary: true, isDistinct, order: order.map { OrderingTerms($0) }, filter?.queryFragment)
    }
}

extension QueryExpression where QueryValue == String {
    /// The texts of the rows as the names of a JSON object, with other values as its values.
    ///
    /// ```swift
    /// Setting.select { $0.name.jsonGroupObject($0.value) }
    /// // SELECT json_group_object("settings"."name", "settings"."value") FROM "settings"
    /// ```
    public func jsonGroupObject<Value: QueryExpression, Filter: QueryExpression>(
        _ value: Value, filter: Filter? = Bool?.none
    ) -> AggregateExpression<JSONTextRepresentation<[String: Value.QueryValue.QueryOutput]>>
    where
        Value.QueryValue: QueryRepresentable, Value.QueryValue.QueryOutput: Codable,
        Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool
    {
        JSONGroup.object(self, value, isBinary: false, filter?.queryFragment)
    }

    /// The texts of the rows as the names of a JSON object in binary form, with other values as its values.
    public func jsonbGroupObject<Value: QueryExpression, Filter: QueryExpression>(
        _ value: Value, filter: Filter? = Bool?.none
    ) -> AggregateExpression<JSONBinaryRepresentation<[String: Value.QueryValue.QueryOutput]>>
    where
        Value.QueryValue: QueryRepresentable, Value.QueryValue.QueryOutput: Codable,
        Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool
    {
        JSONGroup.object(self, value, isBinary: true, filter?.queryFragment)
    }
}

extension TableDefinition where QueryValue: Codable, QueryValue.QueryOutput == QueryValue {
    /// The row as a JSON object, whose names are those of the columns.
    ///
    /// ```swift
    /// Tag.select { $0.jsonObject() }    // SELECT json_object('id', "tags"."id", 'title', "tags"."title") FROM "tags"
    /// ```
    public func jsonObject() -> SQLQueryExpression<JSONTextRepresentation<QueryValue>> {
        SQLQueryExpression(JSONGroup.row(of: QueryValue.self))
    }

    /// The rows as a JSON array of objects, without those that an outer join makes up.
    ///
    /// ```swift
    /// RemindersList.group(by: \.id).leftJoin(Reminder.all) { $0.id.eq($1.listID) }
    ///     .select { ($0, $1.jsonGroupArray()) }
    /// ```
    ///
    /// - parameters:
    ///     - isDistinct: Whether equal rows are taken once.
    ///     - order: The order of the rows; without one, it is not defined.
    ///     - filter: Which rows count.
    public func jsonGroupArray<Order: QueryExpression, Filter: QueryExpression>(
        distinct isDistinct: Bool = false, order: Order? = Bool?.none, filter: Filter? = Bool?.none
    ) -> AggregateExpression<JSONTextRepresentation<[QueryValue]>>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        JSONGroup.rows(
            of: QueryValue.self, isDistinct, order: order.map { OrderingTerms($0) }, filter?.queryFragment)
    }
}

extension Optional.TableColumns where Wrapped: Codable {
    /// The rows as a JSON array of objects, without those that an outer join makes up.
    ///
    /// - parameters:
    ///     - isDistinct: Whether equal rows are taken once.
    ///     - order: The order of the rows; without one, it is not defined.
    ///     - filter: Which rows count.
    public func jsonGroupArray<Order: QueryExpression, Filter: QueryExpression>(
        distinct isDistinct: Bool = false, order: Order? = Bool?.none, filter: Filter? = Bool?.none
    ) -> AggregateExpression<JSONTextRepresentation<[Wrapped]>>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        JSONGroup.rows(
            of: QueryValue.self, isDistinct, skipsMissing: true, order: order.map { OrderingTerms($0) },
            filter?.queryFragment)
    }
}

/// Makes the calls.
private enum JSONGroup {
    static func array<Expression: QueryExpression, Value>(
        _ expression: Expression, isBinary: Bool, _ isDistinct: Bool, order: OrderingTerms?,
        _ filter: QueryFragment?
    ) -> AggregateExpression<Value> {
        var argument = QueryFragment()
        argument.append(json: expression.queryFragment, of: Expression.QueryValue.self)
        return call(argument, isBinary, isDistinct, order, filter)
    }

    private static func call<Value>(
        _ argument: QueryFragment, _ isBinary: Bool, _ isDistinct: Bool, _ order: OrderingTerms?,
        _ filter: QueryFragment?
    ) -> AggregateExpression<Value> {
        var call = AggregateExpression<Value>(isBinary ? "jsonb_group_array" : "json_group_array", argument)
        call.isDistinct = isDistinct
        call.order = order
        call.filter = filter
        call.filtering = isBinary ? "cipherstore_jsonb_group_array" : "cipherstore_json_group_array"
        call.ordering = .emulated(isBinary ? "cipherstore_jsonb_group_array" : "cipherstore_json_group_array")
        return call
    }

    static func object<Value: QueryExpression, Result>(
        _ name: some QueryExpression, _ value: Value, isBinary: Bool, _ filter: QueryFragment?
    ) -> AggregateExpression<Result> {
        var call = AggregateExpression<Result>(
            isBinary ? "jsonb_group_object" : "json_group_object", name.queryFragment)
        call.others.append(literal: ", ")
        call.others.append(json: value.queryFragment, of: Value.QueryValue.self)
        call.filter = filter
        call.filtering = isBinary ? "cipherstore_jsonb_group_object" : "cipherstore_json_group_object"
        return call
    }

    static func row<Root: Table>(of type: Root.Type) -> QueryFragment {
        var fragment = QueryFragment("json_object(")
        var isFirst = true
        for column in Root.TableColumns.columnList.columns {
            append(column, of: type, to: &fragment, &isFirst)
        }
        fragment.append(literal: ")")
        return fragment
    }

    private static func append<Column: TableColumnExpression>(
        _ column: Column, of type: (some Table).Type, to fragment: inout QueryFragment, _ isFirst: inout Bool
    ) {
        let names = column.names
        for name in names {
            if !isFirst { fragment.append(literal: ", ") }
            isFirst = false
            fragment.append(QueryFragment("\(quote: name, delimiter: .text)"))
            fragment.append(literal: ", ")
            var value = QueryFragment()
            value.append(tableOf: type)
            value.append(literal: ".")
            value.append(identifier: name)
            // The types of the columns of a group are not known here.
            if names.count == 1 {
                fragment.append(json: value, of: Column.Value.self)
            } else {
                fragment.append(value)
            }
        }
    }

    static func rows<Root: Table, Value>(
        of type: Root.Type, _ isDistinct: Bool, skipsMissing: Bool = false, order: OrderingTerms?,
        _ filter: QueryFragment?
    ) -> AggregateExpression<Value> {
        var condition = filter
        if skipsMissing {
            var isThere = QueryFragment()
            for name in type.allColumnNames {
                if !isThere.isEmpty { isThere.append(literal: " OR ") }
                isThere.append(tableOf: type)
                isThere.append(literal: ".")
                isThere.append(identifier: name)
                isThere.append(literal: " IS NOT NULL")
            }
            condition = filter.map { "(\(isThere)) AND (\($0))" } ?? isThere
        }
        return call(row(of: type), false, isDistinct, order, condition)
    }
}
