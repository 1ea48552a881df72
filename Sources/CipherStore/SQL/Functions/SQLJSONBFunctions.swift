// The functions that make JSON in the binary form, which needs SQLite 3.45.
// Related SQLite documentation: <https://www.sqlite.org/json1.html#jsonbx>

extension Database {
    /// `JSONB(value)`: a text as JSON in the binary form.
    public static func jsonb(_ value: some SQLExpressible) -> SQLExpression {
        .json("JSONB", [value], isJSON: true)
    }

    /// `JSONB_ARRAY(a, b)`
    public static func jsonbArray(_ values: some Collection<some SQLExpressible>) -> SQLExpression {
        .json("JSONB_ARRAY", values.map { $0 as any SQLExpressible }, isJSON: true, wrapping: 0, binary: true)
    }

    /// `JSONB_ARRAY(a, b)`
    public static func jsonbArray(_ values: some Collection<any SQLExpressible>) -> SQLExpression {
        .json("JSONB_ARRAY", values.map(\.self), isJSON: true, wrapping: 0, binary: true)
    }

    /// `JSONB_EXTRACT(value, path)`: what is at a path.
    public static func jsonbExtract(_ value: some SQLExpressible, atPath path: some SQLExpressible)
        -> SQLExpression
    {
        .json("JSONB_EXTRACT", [value, path])
    }

    /// `JSONB_EXTRACT(value, path, …)`: an array of what is at several paths.
    public static func jsonbExtract(
        _ value: some SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression {
        .json("JSONB_EXTRACT", [value] + paths.map { $0 as any SQLExpressible }, isJSON: true)
    }

    /// `JSONB_INSERT(value, path, …)`: adds values where there are none.
    ///
    /// - parameters:
    ///     - value: JSON.
    ///     - assignments: Paths and their values: `["$.a": 1]`.
    public static func jsonbInsert(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .json(
            "JSONB_INSERT", [value] + assignments.flatMap { [$0.key, $0.value] as [any SQLExpressible] },
            isJSON: true, wrapping: 1, binary: true)
    }

    /// `JSONB_REPLACE(value, path, …)`: replaces values that are there.
    ///
    /// - parameters:
    ///     - value: JSON.
    ///     - assignments: Paths and their values: `["$.a": 1]`.
    public static func jsonbReplace(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .json(
            "JSONB_REPLACE", [value] + assignments.flatMap { [$0.key, $0.value] as [any SQLExpressible] },
            isJSON: true, wrapping: 1, binary: true)
    }

    /// `JSONB_SET(value, path, …)`: adds or replaces values.
    ///
    /// - parameters:
    ///     - value: JSON.
    ///     - assignments: Paths and their values: `["$.a": 1]`.
    public static func jsonbSet(
        _ value: some SQLExpressible, _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .json(
            "JSONB_SET", [value] + assignments.flatMap { [$0.key, $0.value] as [any SQLExpressible] },
            isJSON: true, wrapping: 1, binary: true)
    }

    /// `JSONB_OBJECT(key, value, …)`
    ///
    /// - parameter elements: A dictionary, `KeyValuePairs`, or an array of pairs.
    public static func jsonbObject(
        _ elements: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .json(
            "JSONB_OBJECT", elements.flatMap { [$0.key, $0.value] as [any SQLExpressible] }, isJSON: true,
            wrapping: 0, binary: true)
    }

    /// `JSONB_OBJECT(key, value, …)`
    public static func jsonbObject<Value: SQLExpressible>(
        _ elements: some Collection<(key: String, value: Value)>
    ) -> SQLExpression {
        jsonbObject(elements.map { (key: $0.key, value: $0.value as any SQLExpressible) })
    }

    /// `JSONB_PATCH(value, patch)`: JSON merged with other JSON.
    public static func jsonbPatch(_ value: some SQLExpressible, with patch: some SQLExpressible)
        -> SQLExpression
    {
        .json("JSONB_PATCH", [value, patch], isJSON: true)
    }

    /// `JSONB_REMOVE(value, path)`: JSON without what is at a path.
    public static func jsonbRemove(_ value: some SQLExpressible, atPath path: some SQLExpressible)
        -> SQLExpression
    {
        .json("JSONB_REMOVE", [value, path], isJSON: true)
    }

    /// `JSONB_REMOVE(value, path, …)`: JSON without what is at some paths.
    public static func jsonbRemove(
        _ value: some SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression {
        .json("JSONB_REMOVE", [value] + paths.map { $0 as any SQLExpressible }, isJSON: true)
    }

    /// `JSONB_GROUP_ARRAY(value ORDER BY …) FILTER (WHERE …)`: an array of the values of many rows.
    ///
    /// - parameters:
    ///     - value: The elements.
    ///     - ordering: The order of the elements. It needs SQLite 3.44.
    ///     - filter: Which rows count.
    public static func jsonbGroupArray(
        _ value: some SQLExpressible, orderBy ordering: (any SQLOrderingTerm)? = nil,
        filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        .json(
            "JSONB_GROUP_ARRAY", [value], isJSON: true, wrapping: 0, binary: true, isAggregate: true,
            orderBy: ordering, filter: filter)
    }

    /// `JSONB_GROUP_OBJECT(key, value) FILTER (WHERE …)`: an object of the values of many rows.
    ///
    /// - parameters:
    ///     - key: The names of the properties.
    ///     - value: The values of the properties.
    ///     - filter: Which rows count.
    public static func jsonbGroupObject(
        key: some SQLExpressible, value: some SQLExpressible,
        filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        .json(
            "JSONB_GROUP_OBJECT", [key, value], isJSON: true, wrapping: 1, binary: true, isAggregate: true,
            filter: filter)
    }
}
