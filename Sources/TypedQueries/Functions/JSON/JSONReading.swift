import Foundation

// Functions that read JSON, in text or in binary form.

extension QueryExpression where QueryValue: JSONStorage {
    /// A value of the JSON, NULL when it is not there.
    ///
    /// ```swift
    /// User.select { $0.profile.jsonExtract(\.links[0].url) }
    /// // SELECT json_extract("users"."profile", '$.links[0].url') FROM "users"
    /// ```
    ///
    /// - parameter path: The place of the value.
    public func jsonExtract<Value: QueryBindable>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>
    ) -> SQLQueryExpression<Value.QueryUnwrapped?> {
        extracted(false, path)
    }

    private func extracted<Value: QueryBindable>(
        _ isBinary: Bool, _ path: JSONKeyPath<QueryValue.JSONValue, Value>
    ) -> SQLQueryExpression<Value.QueryUnwrapped?> {
        // The function that makes bytes of an array takes it as text.
        let call = jsonCall("extract", isBinary: isBinary && Value.jsonBytes == nil, path)
        return SQLQueryExpression(call.takenOutOfJSON(as: Value.self))
    }

    /// A part of the JSON that is JSON itself, NULL when it is not there.
    @_disfavoredOverload
    public func jsonExtract<Value: Codable>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>
    ) -> SQLQueryExpression<JSONTextRepresentation<Value>?> {
        SQLQueryExpression(jsonCall("extract", path))
    }

    /// A value of the JSON, NULL when it is not there. Only what is JSON itself has a binary form.
    public func jsonbExtract<Value: QueryBindable>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>
    ) -> SQLQueryExpression<Value.QueryUnwrapped?> {
        extracted(true, path)
    }

    /// A part of the JSON that is JSON itself, in binary form; NULL when it is not there.
    @_disfavoredOverload
    public func jsonbExtract<Value: Codable>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>
    ) -> SQLQueryExpression<JSONBinaryRepresentation<Value>?> {
        SQLQueryExpression(jsonCall("extract", isBinary: true, path))
    }

    /// The number of elements of an array in the JSON, 0 for what is no array, NULL for what is not there.
    ///
    /// ```swift
    /// $0.profile.jsonArrayLength(\.links)    // json_array_length("users"."profile", '$.links')
    /// ```
    public func jsonArrayLength<Value>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>
    ) -> SQLQueryExpression<Int?> {
        SQLQueryExpression(jsonCall("array_length", path))
    }

    /// The kind of a value of the JSON: `null`, `true`, `false`, `integer`, `real`, `text`, `array` or `object`.
    public func jsonType<Value>(_ path: JSONKeyPath<QueryValue.JSONValue, Value>) -> SQLQueryExpression<
        String?
    > {
        SQLQueryExpression(jsonCall("type", path))
    }

    /// The elements of an array.
    private func jsonCall<Value>(
        _ name: String, isBinary: Bool = false, _ path: JSONKeyPath<QueryValue.JSONValue, Value>
    ) -> QueryFragment {
        var arguments = queryFragment
        arguments.append(literal: ", ")
        JSONPath<QueryValue.JSONValue>()[keyPath: path].write(to: &arguments)
        var fragment = QueryFragment()
        fragment.append(jsonCall: name, isBinary: isBinary, arguments)
        return fragment
    }
}

extension QueryExpression where QueryValue: JSONStorage, QueryValue.JSONValue: Collection {
    /// The number of elements of the array.
    ///
    /// ```swift
    /// Reminder.where { $0.tags.jsonArrayLength() > 1 }    // json_array_length("reminders"."tags")
    /// ```
    public func jsonArrayLength() -> FunctionExpression<Int> { FunctionExpression("json_array_length", self) }
}

extension QueryExpression where QueryValue: QueryRepresentable {
    /// A value of JSON by SQLite's text for its place, as a type of your choice; NULL when it is not there.
    ///
    /// ```swift
    /// $0.payload.jsonExtract("$.size.width", as: Int.self)    // json_extract("t"."payload", '$.size.width')
    /// ```
    ///
    /// - parameters:
    ///     - path: The place: <https://sqlite.org/json1.html#path_arguments>
    ///     - type: The type of the value.
    public func jsonExtract<Value: QueryRepresentable>(
        _ path: String, as type: Value.Type = Value.self
    ) -> FunctionExpression<Value?> {
        guard let bytes = Value.jsonBytes else { return FunctionExpression("json_extract", self, path) }
        return FunctionExpression(
            bytes.functionOfJSON, FunctionExpression<Value?>("json_extract", self, path))
    }

    /// The kind of the JSON: `null`, `true`, `false`, `integer`, `real`, `text`, `array` or `object`.
    public func jsonType() -> FunctionExpression<String?> { FunctionExpression("json_type", self) }

    /// Whether the text is JSON.
    public func jsonValid() -> FunctionExpression<Bool> { FunctionExpression("json_valid", self) }

    /// The value as JSON text without blanks.
    public func json() -> FunctionExpression<String?> { FunctionExpression("json", self) }

    /// The value as binary JSON.
    public func jsonb() -> FunctionExpression<[UInt8]?> { FunctionExpression("jsonb", self) }
}
