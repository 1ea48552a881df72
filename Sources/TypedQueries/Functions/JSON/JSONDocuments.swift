// Changes of JSON by values that are JSON themselves, such as a part of another document, and of whole arrays.

extension QueryExpression where QueryValue: JSONStorage {
    /// Sets a value of the JSON to other JSON.
    ///
    /// ```swift
    /// $0.profile.jsonSet(\.links, $0.profile.jsonExtract(\.pastLinks))
    /// // json_set("users"."profile", '$.links', json(json_extract("users"."profile", '$.pastLinks')))
    /// ```
    public func jsonSet<Value: Codable, Document: JSONStorage>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>, _ value: some QueryExpression<Document>
    ) -> SQLQueryExpression<QueryValue.JSONText> where Document.JSONValue == Value {
        edited("set", false, path, value)
    }

    /// Sets a value of the JSON to other JSON. The result is in binary form.
    public func jsonbSet<Value: Codable, Document: JSONStorage>(
        _ path: JSONKeyPath<QueryValue.JSONValue, Value>, _ value: some QueryExpression<Document>
    ) -> SQLQueryExpression<QueryValue.JSONBinary> where Document.JSONValue == Value {
        edited("set", true, path, value)
    }
}

extension QueryExpression where QueryValue: JSONStorage {
    /// Adds an element to the end of the array.
    ///
    /// ```swift
    /// $0.tags.jsonAppend("new")    // json_insert("reminders"."tags", '$[#]', 'new')
    /// ```
    public func jsonAppend<Element>(
        _ element: some QueryExpression<Element>
    ) -> SQLQueryExpression<QueryValue.JSONText> where QueryValue.JSONValue == [Element] {
        edited("insert", false, JSONPath<QueryValue.JSONValue>().appended(), element)
    }

    /// Adds an element to the end of the array. The result is in binary form.
    public func jsonbAppend<Element>(
        _ element: some QueryExpression<Element>
    ) -> SQLQueryExpression<QueryValue.JSONBinary> where QueryValue.JSONValue == [Element] {
        edited("insert", true, JSONPath<QueryValue.JSONValue>().appended(), element)
    }

    /// Adds a value that is JSON itself to the end of an array of the JSON.
    @_disfavoredOverload
    public func jsonAppend<Element: Codable>(
        _ path: JSONKeyPath<QueryValue.JSONValue, [Element]>, _ element: Element
    ) -> SQLQueryExpression<QueryValue.JSONText> {
        edited(
            "insert", false, JSONPath<QueryValue.JSONValue>()[keyPath: path].appended(),
            JSONTextRepresentation(queryOutput: element))
    }

    /// Adds a value that is JSON itself to the end of an array of the JSON. The result is in binary form.
    @_disfavoredOverload
    public func jsonbAppend<Element: Codable>(
        _ path: JSONKeyPath<QueryValue.JSONValue, [Element]>, _ element: Element
    ) -> SQLQueryExpression<QueryValue.JSONBinary> {
        edited(
            "insert", true, JSONPath<QueryValue.JSONValue>()[keyPath: path].appended(),
            JSONTextRepresentation(queryOutput: element))
    }
}
