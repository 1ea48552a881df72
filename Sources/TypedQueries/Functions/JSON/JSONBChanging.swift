// The twins of the functions that change JSON, for the binary form.

extension QueryExpression where QueryValue: JSONStorage {
    /// Sets a value of the JSON, whether it is there or not. The result is in binary form.
    ///
    /// ```swift
    /// User.update { $0.profile = $0.profile.jsonbSet(\.name, "Blob") }
    /// // UPDATE "users" SET "profile" = jsonb_set("users"."profile", '$.name', 'Blob')
    /// ```
    ///
    /// - parameters:
    ///     - path: The place of the value.
    ///     - value: The value.
    public func jsonbSet<Value>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>, _ value: some QueryExpression<Value>
    ) -> SQLQueryExpression<QueryValue.JSONBinary> {
        edited("set", true, path, value)
    }

    /// Sets a value of the JSON, whether it is there or not. The result is in binary form.
    @_disfavoredOverload
    public func jsonbSet<Value: Codable>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>, _ value: Value
    ) -> SQLQueryExpression<QueryValue.JSONBinary> {
        edited("set", true, path, JSONTextRepresentation(queryOutput: value))
    }

    /// Adds a value to the JSON, unless it is there. The result is in binary form.
    public func jsonbInsert<Value>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>, _ value: some QueryExpression<Value>
    ) -> SQLQueryExpression<QueryValue.JSONBinary> {
        edited("insert", true, path, value)
    }

    /// Adds a value to the JSON, unless it is there. The result is in binary form.
    @_disfavoredOverload
    public func jsonbInsert<Value: Codable>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>, _ value: Value
    ) -> SQLQueryExpression<QueryValue.JSONBinary> {
        edited("insert", true, path, JSONTextRepresentation(queryOutput: value))
    }

    /// Replaces a value of the JSON, if it is there. The result is in binary form.
    public func jsonbReplace<Value>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>, _ value: some QueryExpression<Value>
    ) -> SQLQueryExpression<QueryValue.JSONBinary> {
        edited("replace", true, path, value)
    }

    /// Replaces a value of the JSON, if it is there. The result is in binary form.
    @_disfavoredOverload
    public func jsonbReplace<Value: Codable>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>, _ value: Value
    ) -> SQLQueryExpression<QueryValue.JSONBinary> {
        edited("replace", true, path, JSONTextRepresentation(queryOutput: value))
    }

    /// Adds an element to the end of an array of the JSON. The result is in binary form.
    ///
    /// ```swift
    /// $0.profile.jsonbAppend(\.tags, "new")    // jsonb_insert("users"."profile", '$.tags[#]', 'new')
    /// ```
    public func jsonbAppend<Element>(
        _ path: JSONKeyPath<QueryValue.JSONValue, [Element]>, _ element: some QueryExpression<Element>
    ) -> SQLQueryExpression<QueryValue.JSONBinary> {
        edited("insert", true, JSONPath<QueryValue.JSONValue>()[keyPath: path].appended(), element)
    }

    /// Adds an element before another one of an array of the JSON. The result is in binary form.
    ///
    /// - parameters:
    ///     - path: The place of the other element.
    ///     - value: The element.
    public func jsonbArrayInsert<Value>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>, _ value: some QueryExpression<Value>
    ) -> SQLQueryExpression<QueryValue.JSONBinary> {
        edited("array_insert", true, path, value)
    }

    /// Removes values from the JSON. The result is in binary form.
    public func jsonbRemove<each Value>(
        _ paths: repeat JSONKeyPath<QueryValue.JSONValue, each Value>
    ) -> SQLQueryExpression<QueryValue.JSONBinary> {
        var arguments = queryFragment
        for path in repeat each paths {
            arguments.append(literal: ", ")
            JSONPath<QueryValue.JSONValue>()[keyPath: path].write(to: &arguments)
        }
        return jsonCall("remove", true, arguments)
    }

    /// The JSON changed by other JSON: RFC 7396. What is null there is removed. The result is in binary form.
    public func jsonbPatch(
        _ patch: some QueryExpression<some JSONStorage>
    ) -> SQLQueryExpression<QueryValue.JSONBinary> {
        jsonCall("patch", true, "\(queryFragment), \(patch.queryFragment)")
    }
}
