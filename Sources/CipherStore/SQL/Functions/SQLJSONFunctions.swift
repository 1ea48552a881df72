// The functions on JSON.
// Related SQLite documentation: <https://www.sqlite.org/json1.html>

extension Database {
    /// `JSON(value)`: a text as JSON.
    public static func json(_ value: some SQLExpressible) -> SQLExpression {
        .json("JSON", [value], isJSON: true)
    }

    /// `JSON_ARRAY(a, b)`
    public static func jsonArray(_ values: some Collection<some SQLExpressible>) -> SQLExpression {
        .json("JSON_ARRAY", values.map { $0 as any SQLExpressible }, isJSON: true, wrapping: 0)
    }

    /// `JSON_ARRAY(a, b)`
    public static func jsonArray(_ values: some Collection<any SQLExpressible>) -> SQLExpression {
        .json("JSON_ARRAY", values.map(\.self), isJSON: true, wrapping: 0)
    }

    /// `JSON_ARRAY_LENGTH(value)`: the number of elements.
    public static func jsonArrayLength(_ value: some SQLExpressible) -> SQLExpression {
        .json("JSON_ARRAY_LENGTH", [value])
    }

    /// `JSON_ARRAY_LENGTH(value, path)`: the number of elements of the array at a path.
    public static func jsonArrayLength(_ value: some SQLExpressible, atPath path: some SQLExpressible)
        -> SQLExpression
    {
        .json("JSON_ARRAY_LENGTH", [value, path])
    }

    /// `JSON_ERROR_POSITION(value)`: where a text stops being JSON, counted from 1, or 0. It needs SQLite 3.42.
    public static func jsonErrorPosition(_ value: some SQLExpressible) -> SQLExpression {
        .json("JSON_ERROR_POSITION", [value])
    }

    /// `JSON_EXTRACT(value, path)`: what is at a path.
    public static func jsonExtract(_ value: some SQLExpressible, atPath path: some SQLExpressible)
        -> SQLExpression
    {
        .json("JSON_EXTRACT", [value, path])
    }

    /// `JSON_EXTRACT(value, path, …)`: an array of what is at several paths.
    public static func jsonExtract(
        _ value: some SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression {
        .json("JSON_EXTRACT", [value] + paths.map { $0 as any SQLExpressible }, isJSON: true)
    }

    /// `JSON_INSERT(value, path, …)`: adds values where there are none.
    ///
    /// - parameters:
    ///     - value: JSON.
    ///     - assignments: Paths and their values: `["$.a": 1]`.
    public static func jsonInsert(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .json(
            "JSON_INSERT", [value] + assignments.flatMap { [$0.key, $0.value] as [any SQLExpressible] },
            isJSON: true, wrapping: 1)
    }

    /// `JSON_REPLACE(value, path, …)`: replaces values that are there.
    ///
    /// - parameters:
    ///     - value: JSON.
    ///     - assignments: Paths and their values: `["$.a": 1]`.
    public static func jsonReplace(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .json(
            "JSON_REPLACE", [value] + assignments.flatMap { [$0.key, $0.value] as [any SQLExpressible] },
            isJSON: true, wrapping: 1)
    }

    /// `JSON_SET(value, path, …)`: adds or replaces values.
    ///
    /// - parameters:
    ///     - value: JSON.
    ///     - assignments: Paths and their values: `["$.a": 1]`.
    public static func jsonSet(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .json(
            "JSON_SET", [value] + assignments.flatMap { [$0.key, $0.value] as [any SQLExpressible] },
            isJSON: true, wrapping: 1)
    }

    /// `JSON_OBJECT(key, value, …)`
    ///
    /// - parameter elements: A dictionary, `KeyValuePairs`, or an array of pairs.
    public static func jsonObject(
        _ elements: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .json(
            "JSON_OBJECT", elements.flatMap { [$0.key, $0.value] as [any SQLExpressible] }, isJSON: true,
            wrapping: 0)
    }

    /// `JSON_OBJECT(key, value, …)`
    public static func jsonObject<Value: SQLExpressible>(
        _ elements: some Collection<(key: String, value: Value)>
    ) -> SQLExpression {
        jsonObject(elements.map { (key: $0.key, value: $0.value as any SQLExpressible) })
    }

    /// `JSON_PATCH(value, patch)`: JSON merged with other JSON.
    public static func jsonPatch(_ value: some SQLExpressible, with patch: some SQLExpressible)
        -> SQLExpression
    {
        .json("JSON_PATCH", [value, patch], isJSON: true)
    }

    /// `JSON_REMOVE(value, path)`: JSON without what is at a path.
    public static func jsonRemove(_ value: some SQLExpressible, atPath path: some SQLExpressible)
        -> SQLExpression
    {
        .json("JSON_REMOVE", [value, path], isJSON: true)
    }

    /// `JSON_REMOVE(value, path, …)`: JSON without what is at some paths.
    public static func jsonRemove(
        _ value: some SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression {
        .json("JSON_REMOVE", [value] + paths.map { $0 as any SQLExpressible }, isJSON: true)
    }

    /// `JSON_TYPE(value)`: the name of a type, such as `'array'`.
    public static func jsonType(_ value: some SQLExpressible) -> SQLExpression {
        .json("JSON_TYPE", [value])
    }

    /// `JSON_TYPE(value, path)`: the name of the type of what is at a path.
    public static func jsonType(_ value: some SQLExpressible, atPath path: some SQLExpressible)
        -> SQLExpression
    {
        .json("JSON_TYPE", [value, path])
    }

    /// `JSON_VALID(value)`: whether a text is JSON.
    public static func jsonIsValid(_ value: some SQLExpressible) -> SQLExpression {
        .json("JSON_VALID", [value])
    }

    /// `JSON_VALID(value, options)`: whether a value is JSON of some forms. It needs SQLite 3.45.
    public static func jsonIsValid(_ value: some SQLExpressible, options: JSONValidationOptions)
        -> SQLExpression
    {
        .json("JSON_VALID", [value, options.rawValue])
    }

    /// `JSON_QUOTE(value)`: a number or a text as JSON.
    public static func jsonQuote(_ value: some SQLExpressible) -> SQLExpression {
        .json("JSON_QUOTE", [value], isJSON: true, wrapping: 0)
    }

    /// `JSON_GROUP_ARRAY(value ORDER BY …) FILTER (WHERE …)`: an array of the values of many rows.
    ///
    /// - parameters:
    ///     - value: The elements.
    ///     - ordering: The order of the elements. It needs SQLite 3.44.
    ///     - filter: Which rows count.
    public static func jsonGroupArray(
        _ value: some SQLExpressible, orderBy ordering: (any SQLOrderingTerm)? = nil,
        filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        .json(
            "JSON_GROUP_ARRAY", [value], isJSON: true, wrapping: 0, isAggregate: true,
            orderBy: ordering, filter: filter)
    }

    /// `JSON_GROUP_OBJECT(key, value) FILTER (WHERE …)`: an object of the values of many rows.
    ///
    /// - parameters:
    ///     - key: The names of the properties.
    ///     - value: The values of the properties.
    ///     - filter: Which rows count.
    public static func jsonGroupObject(
        key: some SQLExpressible, value: some SQLExpressible,
        filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        .json(
            "JSON_GROUP_OBJECT", [key, value], isJSON: true, wrapping: 1, isAggregate: true,
            filter: filter)
    }
}

extension SQLExpression {
    /// A call of a JSON function.
    ///
    /// - parameters:
    ///     - name: The function.
    ///     - arguments: Its arguments.
    ///     - isJSON: Whether the value is JSON.
    ///     - first: The first argument that must not be taken for a text when it is JSON.
    ///     - binary: Whether such arguments are given in the binary form.
    static func json(
        _ name: String, _ arguments: [any SQLExpressible], isJSON: Bool = false, wrapping first: Int? = nil,
        binary: Bool = false, isAggregate: Bool = false, orderBy ordering: (any SQLOrderingTerm)? = nil,
        filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        var call = SQLFunctionCall(name: name, arguments: arguments.map(\.sqlExpression))
        call.isJSON = isJSON
        if let first { call.jsonArguments = .wrapped(from: first, alwaysBinary: binary) }
        call.isAggregate = isAggregate
        call.ordering = ordering?.sqlOrdering
        call.filter = filter?.sqlExpression
        return SQLExpression(.function(call))
    }
}

/// The forms of JSON that ``Database/jsonIsValid(_:options:)`` accepts.
public struct JSONValidationOptions: OptionSet, Sendable {
    /// The number that SQLite knows the options by.
    public let rawValue: Int

    /// Makes options of a number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Text, by the standard.
    public static let json = JSONValidationOptions(rawValue: 1)

    /// Text, with the extensions of JSON5.
    public static let json5 = JSONValidationOptions(rawValue: 2)

    /// What looks like the binary form, after a quick look.
    public static let probablyJSONB = JSONValidationOptions(rawValue: 4)

    /// The binary form.
    public static let jsonb = JSONValidationOptions(rawValue: 8)
}
