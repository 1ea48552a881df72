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

extension TableDefinition where QueryValue.QueryOutput: Codable {
    /// The row as a JSON object, whose names are those that `Codable` gives the properties.
    ///
    /// ```swift
    /// Tag.select { $0.jsonObject() }    // SELECT json_object('id', "tags"."id", 'title', "tags"."title") FROM "tags"
    /// ```
    ///
    /// All of it is as the conformance to `Codable` has it that Swift makes: an enum whose cases are columns is the object of its
    /// case, `Data` a text in Base64, and `[UInt8]` an array of numbers. Other types that are stored as bytes are an error of SQLite:
    /// "JSON cannot hold BLOB values". A row that an outer join makes up is null. A `Double` has the 15 digits that SQLite writes, so
    /// `0.1 + 0.2` is read as `0.3`.
    public func jsonObject() -> SQLQueryExpression<JSONTextRepresentation<QueryValue.QueryOutput>> {
        SQLQueryExpression(JSONGroup.row(of: QueryValue.self))
    }

    /// The row as a JSON object in binary form, whose names are those that `Codable` gives the properties.
    public func jsonbObject() -> SQLQueryExpression<JSONBinaryRepresentation<QueryValue.QueryOutput>> {
        var fragment = QueryFragment("jsonb(")
        fragment.append(JSONGroup.row(of: QueryValue.self))
        fragment.append(literal: ")")
        return SQLQueryExpression(fragment)
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
    ) -> AggregateExpression<JSONTextRepresentation<[QueryValue.QueryOutput]>>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        JSONGroup.rows(
            of: QueryValue.self, isDistinct, order: order.map { OrderingTerms($0) }, filter?.queryFragment)
    }

    /// The rows as a JSON array of objects in binary form, without those that an outer join makes up.
    public func jsonbGroupArray<Order: QueryExpression, Filter: QueryExpression>(
        distinct isDistinct: Bool = false, order: Order? = Bool?.none, filter: Filter? = Bool?.none
    ) -> AggregateExpression<JSONBinaryRepresentation<[QueryValue.QueryOutput]>>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        JSONGroup.rows(
            of: QueryValue.self, isBinary: true, isDistinct, order: order.map { OrderingTerms($0) },
            filter?.queryFragment)
    }
}

extension Optional.TableColumns where Wrapped.QueryOutput: Codable {
    /// The rows as a JSON array of objects, without those that an outer join makes up.
    ///
    /// - parameters:
    ///     - isDistinct: Whether equal rows are taken once.
    ///     - order: The order of the rows; without one, it is not defined.
    ///     - filter: Which rows count.
    public func jsonGroupArray<Order: QueryExpression, Filter: QueryExpression>(
        distinct isDistinct: Bool = false, order: Order? = Bool?.none, filter: Filter? = Bool?.none
    ) -> AggregateExpression<JSONTextRepresentation<[Wrapped.QueryOutput]>>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        JSONGroup.rows(
            of: QueryValue.self, isDistinct, skipsMissing: true, order: order.map { OrderingTerms($0) },
            filter?.queryFragment)
    }

    /// The rows as a JSON array of objects in binary form, without those that an outer join makes up.
    public func jsonbGroupArray<Order: QueryExpression, Filter: QueryExpression>(
        distinct isDistinct: Bool = false, order: Order? = Bool?.none, filter: Filter? = Bool?.none
    ) -> AggregateExpression<JSONBinaryRepresentation<[Wrapped.QueryOutput]>>
    where Filter.QueryValue: QueryRepresentable, Filter.QueryValue.QueryUnwrapped == Bool {
        JSONGroup.rows(
            of: QueryValue.self, isBinary: true, isDistinct, skipsMissing: true,
            order: order.map { OrderingTerms($0) }, filter?.queryFragment)
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

    /// A row as an object; null when it is that of an outer join which there is not.
    static func row<Root: Table>(of type: Root.Type) -> QueryFragment {
        document(type, isOptional: Root.self is any OptionalRow.Type, of: type)
    }

    /// The columns of a row, or of a group in it, which is an object in the row's.
    private static func object<Root: Table>(_ list: ColumnList, of type: Root.Type) -> QueryFragment {
        if let names = list.caseValueNames { return cases(list, names, of: type) }
        var fragment = QueryFragment("json_object(")
        for (index, column) in list.columns.enumerated() {
            if index > 0 { fragment.append(literal: ", ") }
            fragment.append(QueryFragment("\(quote: list.nameInJSON(of: index), delimiter: .text)"))
            fragment.append(literal: ", ")
            append(column, of: type, to: &fragment)
        }
        fragment.append(literal: ")")
        return fragment
    }

    /// An enum whose cases are the columns as the object of its case: the first that has a value.
    private static func cases<Root: Table>(
        _ list: ColumnList, _ valueNames: [String], of type: Root.Type
    ) -> QueryFragment {
        var fragment = QueryFragment("json(CASE")
        for (index, column) in list.columns.enumerated() {
            fragment.append(literal: " WHEN ")
            fragment.append(isThere(column.queryColumnNames, of: type))
            fragment.append(literal: " THEN json_object(")
            fragment.append(QueryFragment("\(quote: list.nameInJSON(of: index), delimiter: .text)"))
            fragment.append(literal: ", json_object(")
            fragment.append(QueryFragment("\(quote: valueNames[index], delimiter: .text)"))
            fragment.append(literal: ", ")
            append(column, of: type, to: &fragment)
            fragment.append(literal: "))")
        }
        fragment.append(literal: " ELSE 'null' END)")
        return fragment
    }

    /// Whether one of the columns isn't NULL.
    private static func isThere(_ names: [String], of type: (some Table).Type) -> QueryFragment {
        var condition = QueryFragment()
        for name in names {
            if !condition.isEmpty { condition.append(literal: " OR ") }
            condition.append(named(name, of: type))
            condition.append(literal: " IS NOT NULL")
        }
        return condition
    }

    private static func append<Column: TableColumnExpression>(
        _ column: Column, of type: (some Table).Type, to fragment: inout QueryFragment
    ) {
        if let group = Column.Value.self as? any Table.Type {
            return fragment.append(
                document(group, isOptional: Column.Value.self is any OptionalRow.Type, of: type))
        }
        fragment.append(json: named(column.queryColumnName, of: type), of: Column.Value.self)
    }

    /// A group as an object; null when it is optional and all its columns are NULL.
    private static func document<Group: Table>(
        _ group: Group.Type, isOptional: Bool, of type: (some Table).Type
    ) -> QueryFragment {
        let object = object(Group.TableColumns.columnList, of: type)
        guard isOptional else { return object }
        let isThere = isThere(group.allColumnNames, of: type)
        return "json(CASE WHEN \(isThere) THEN \(object) ELSE 'null' END)"
    }

    private static func named(_ name: String, of type: (some Table).Type) -> QueryFragment {
        var column = QueryFragment()
        column.append(tableOf: type)
        column.append(literal: ".")
        column.append(identifier: name)
        return column
    }

    static func rows<Root: Table, Value>(
        of type: Root.Type, isBinary: Bool = false, _ isDistinct: Bool, skipsMissing: Bool = false,
        order: OrderingTerms?, _ filter: QueryFragment?
    ) -> AggregateExpression<Value> {
        var condition = filter
        if skipsMissing {
            let isThere = isThere(type.allColumnNames, of: type)
            condition = filter.map { "(\(isThere)) AND (\($0))" } ?? isThere
        }
        return call(
            object(Root.TableColumns.columnList, of: type), isBinary, isDistinct, order, condition)
    }
}
