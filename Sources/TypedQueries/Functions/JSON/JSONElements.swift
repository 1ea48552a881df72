/// The elements of a JSON array, as the rows of a subquery.
///
/// ```swift
/// Reminder.where { $0.tags.jsonEach().contains("home") }
/// // SELECT … FROM "reminders" WHERE ('home') IN (SELECT "value" FROM json_each("reminders"."tags"))
/// ```
///
/// SQLite without its JSON tables gets a recursive query that counts the elements.
public struct JSONElements<Element: QueryRepresentable>: PartialSelectStatement, WritableStatement {
    /// The elements.
    public typealias QueryValue = Element
    /// No table that is known.
    public typealias From = NoTable

    private let array: QueryFragment

    init(_ array: QueryFragment) { self.array = array }

    /// Whether the two have the same SQL and values.
    public static func == (left: Self, right: Self) -> Bool { left.array == right.array }

    /// Feeds the SQL and the values to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(array) }

    /// The number of elements.
    public func count() -> SQLQueryExpression<Int> { SQLQueryExpression("(SELECT count(*) FROM (\(self)))") }

    /// Adds the statement.
    public func writeStatement(to fragment: inout QueryFragment) {
        fragment.appendChoice(.jsonTables) {
            $0.append(literal: "SELECT \"value\" FROM json_each(")
            $0.append(array)
            $0.append(literal: ")")
        } emulated: {
            $0.append(literal: "WITH RECURSIVE \"element\"(\"key\") AS (SELECT 0 WHERE json_array_length(")
            $0.append(array)
            $0.append(
                literal:
                    ") > 0 UNION ALL SELECT \"key\" + 1 FROM \"element\" WHERE \"key\" + 1 < json_array_length("
            )
            $0.append(array)
            $0.append(literal: ")) SELECT json_extract(")
            $0.append(array)
            $0.append(literal: ", '$[' || \"key\" || ']') AS \"value\" FROM \"element\"")
        }
    }
}

extension QueryExpression where QueryValue: JSONStorage {
    /// The elements of the array, as the rows of a subquery.
    public func jsonEach<Element: QueryRepresentable & Codable>() -> JSONElements<Element>
    where QueryValue.JSONValue == [Element] {
        JSONElements(queryFragment)
    }

    /// The elements of an array in the JSON, as the rows of a subquery.
    ///
    /// ```swift
    /// User.where { $0.profile.jsonEach(\.tags).contains("admin") }
    /// // … WHERE ('admin') IN (SELECT "value" FROM json_each(json_extract("users"."profile", '$.tags')))
    /// ```
    public func jsonEach<Element: QueryRepresentable>(
        _ path: JSONKeyPath<QueryValue.JSONValue, [Element]>
    ) -> JSONElements<Element> {
        var fragment = QueryFragment("json_extract(\(queryFragment), ")
        JSONPath<QueryValue.JSONValue>()[keyPath: path].write(to: &fragment)
        fragment.append(literal: ")")
        return JSONElements(fragment)
    }
}
