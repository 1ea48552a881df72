// Functions that change JSON and give it as text. Those that begin with `jsonb` give it in binary form.

extension QueryExpression where QueryValue: JSONStorage {
    /// Sets a value of the JSON, whether it is there or not.
    ///
    /// ```swift
    /// User.update { $0.profile = $0.profile.jsonSet(\.name, "Blob") }
    /// // UPDATE "users" SET "profile" = json_set("users"."profile", '$.name', 'Blob')
    /// ```
    ///
    /// - parameters:
    ///     - path: The place of the value.
    ///     - value: The value.
    public func jsonSet<Value>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>, _ value: some QueryExpression<Value>
    ) -> SQLQueryExpression<QueryValue.JSONText> {
        edited("set", false, path, value)
    }

    /// Sets a value of the JSON, whether it is there or not.
    @_disfavoredOverload
    public func jsonSet<Value: Codable>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>, _ value: Value
    ) -> SQLQueryExpression<QueryValue.JSONText> {
        edited("set", false, path, JSONTextRepresentation(queryOutput: value))
    }

    /// Adds a value to the JSON, unless it is there.
    public func jsonInsert<Value>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>, _ value: some QueryExpression<Value>
    ) -> SQLQueryExpression<QueryValue.JSONText> {
        edited("insert", false, path, value)
    }

    /// Adds a value to the JSON, unless it is there.
    @_disfavoredOverload
    public func jsonInsert<Value: Codable>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>, _ value: Value
    ) -> SQLQueryExpression<QueryValue.JSONText> {
        edited("insert", false, path, JSONTextRepresentation(queryOutput: value))
    }

    /// Replaces a value of the JSON, if it is there.
    public func jsonReplace<Value>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>, _ value: some QueryExpression<Value>
    ) -> SQLQueryExpression<QueryValue.JSONText> {
        edited("replace", false, path, value)
    }

    /// Replaces a value of the JSON, if it is there.
    @_disfavoredOverload
    public func jsonReplace<Value: Codable>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>, _ value: Value
    ) -> SQLQueryExpression<QueryValue.JSONText> {
        edited("replace", false, path, JSONTextRepresentation(queryOutput: value))
    }

    /// Adds an element to the end of an array of the JSON.
    ///
    /// ```swift
    /// $0.profile.jsonAppend(\.tags, "new")    // json_insert("users"."profile", '$.tags[#]', 'new')
    /// ```
    public func jsonAppend<Element>(
        _ path: JSONKeyPath<QueryValue.JSONValue, [Element]>, _ element: some QueryExpression<Element>
    ) -> SQLQueryExpression<QueryValue.JSONText> {
        edited("insert", false, JSONPath<QueryValue.JSONValue>()[keyPath: path].appended(), element)
    }

    /// Adds an element before another one of an array of the JSON.
    ///
    /// - parameters:
    ///     - path: The place of the other element.
    ///     - value: The element.
    public func jsonArrayInsert<Value>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>, _ value: some QueryExpression<Value>
    ) -> SQLQueryExpression<QueryValue.JSONText> {
        edited("array_insert", false, path, value)
    }

    /// Removes values from the JSON.
    public func jsonRemove<each Value>(
        _ paths: repeat JSONKeyPath<QueryValue.JSONValue, each Value>
    ) -> SQLQueryExpression<QueryValue.JSONText> {
        var arguments = queryFragment
        for path in repeat each paths {
            arguments.append(literal: ", ")
            JSONPath<QueryValue.JSONValue>()[keyPath: path].write(to: &arguments)
        }
        return jsonCall("remove", false, arguments)
    }

    /// The JSON changed by other JSON: RFC 7396. What is null there is removed.
    public func jsonPatch(_ patch: some QueryExpression<some JSONStorage>) -> SQLQueryExpression<
        QueryValue.JSONText
    > {
        jsonCall("patch", false, "\(queryFragment), \(patch.queryFragment)")
    }

    func edited<Value, Result>(
        _ name: String, _ isBinary: Bool, _ path: JSONKeyPath<QueryValue.JSONValue, Value>,
        _ value: some QueryExpression
    ) -> SQLQueryExpression<Result> {
        edited(name, isBinary, JSONPath<QueryValue.JSONValue>()[keyPath: path], value)
    }

    func edited<Value, Result, Expression: QueryExpression>(
        _ name: String, _ isBinary: Bool, _ path: JSONPath<Value>, _ value: Expression
    ) -> SQLQueryExpression<Result> {
        var arguments = queryFragment
        arguments.append(literal: ", ")
        path.write(to: &arguments)
        arguments.append(literal: ", ")
        if let document = value.document {
            arguments.append(document)
        } else {
            arguments.append(json: value.queryFragment, of: Expression.QueryValue.self)
        }
        return jsonCall(name, isBinary, arguments)
    }

    func jsonCall<Result>(
        _ name: String, _ isBinary: Bool, _ arguments: QueryFragment
    ) -> SQLQueryExpression<Result> {
        var fragment = QueryFragment()
        fragment.append(jsonCall: name, isBinary: isBinary, arguments)
        return SQLQueryExpression(fragment)
    }
}

extension QueryExpression {
    /// A value changed by another that is stored in the same way: RFC 7396. What is null there is removed.
    ///
    /// ```swift
    /// #bind(["a": 1]).jsonPatch(#bind(["b": 2]))
    /// ```
    @_disfavoredOverload
    public func jsonPatch<Value: Codable>(
        _ patch: BindQueryExpression<JSONTextRepresentation<Value>>
    ) -> SQLQueryExpression<JSONTextRepresentation<Value>> where QueryValue == JSONTextRepresentation<Value> {
        jsonCall("patch", false, "\(queryFragment), \(patch.queryFragment)")
    }
}
