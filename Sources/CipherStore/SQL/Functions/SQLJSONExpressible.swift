/// A type whose SQL expression is JSON.
///
/// ```swift
/// enum Columns {
///     static let address = JSONColumn("address")
/// }
///
/// // SELECT * FROM player WHERE address ->> 'country' = 'FR'
/// Player.filter { $0.address["country"] == "FR" }
/// ```
///
/// JSON functions take such an expression for JSON, where they would take
/// another one for a text.
public protocol SQLJSONExpressible: SQLSpecificExpressible {}

/// A column that holds JSON.
public struct JSONColumn: ColumnExpression, SQLJSONExpressible, Sendable {
    /// The name of the column.
    public var name: String

    /// Makes a column of a name.
    public init(_ name: String) {
        self.name = name
    }

    /// Makes a column with the name of a coding key.
    public init(_ codingKey: some CodingKey) {
        name = codingKey.stringValue
    }

    /// The column as an expression.
    public var sqlExpression: SQLExpression { SQLExpression(.json(.column(name))) }
}

/// An expression that is JSON.
public struct AnySQLJSONExpressible: SQLJSONExpressible, Sendable {
    /// The expression.
    public let sqlExpression: SQLExpression

    /// Hides the type of a JSON expression.
    public init(_ expression: some SQLJSONExpressible) {
        sqlExpression = expression.sqlExpression
    }

    init(sqlExpression: SQLExpression) {
        self.sqlExpression = sqlExpression
    }
}

extension SQLSpecificExpressible {
    /// The expression, taken for JSON.
    ///
    /// ```swift
    /// // JSON_ARRAY(JSON(info))
    /// Database.jsonArray([Column("info").asJSON])
    /// ```
    public var asJSON: AnySQLJSONExpressible {
        let expression = sqlExpression
        return AnySQLJSONExpressible(
            sqlExpression: expression.isJSON ? expression : SQLExpression(.json(expression)))
    }
}

extension SQLJSONExpressible {
    /// The SQL value at a path: `info ->> 'score'`.
    ///
    /// - parameter path: A path, such as `"$.a[0]"`, the name of a property, or
    ///   the number of an element.
    public subscript(_ path: some SQLExpressible) -> SQLExpression {
        SQLExpression(.jsonAccess(sqlExpression, path.sqlExpression, isJSON: false))
    }

    /// The JSON at a path: `info -> 'address'`.
    ///
    /// - parameter path: As in ``subscript(_:)``.
    public func jsonRepresentation(atPath path: some SQLExpressible) -> AnySQLJSONExpressible {
        AnySQLJSONExpressible(
            sqlExpression: SQLExpression(.jsonAccess(sqlExpression, path.sqlExpression, isJSON: true)))
    }

    /// The SQL value at a path: `JSON_EXTRACT(info, '$.score')`.
    ///
    /// - parameter path: A path, such as `"$.a[0]"`.
    public func jsonExtract(atPath path: some SQLExpressible) -> SQLExpression {
        Database.jsonExtract(self, atPath: path)
    }

    /// A JSON array of the values at paths: `JSON_EXTRACT(info, '$.score', '$.bonus')`.
    public func jsonExtract(atPaths paths: some Collection<some SQLExpressible>) -> SQLExpression {
        Database.jsonExtract(self, atPaths: paths)
    }
}

extension TableAlias {
    /// A JSON expression on the columns of the table.
    public subscript(
        _ expression: some SQLJSONExpressible & SQLSpecificExpressible & SQLSelectable & SQLOrderingTerm
    )
        -> AnySQLJSONExpressible
    {
        AnySQLJSONExpressible(sqlExpression: expression.sqlExpression.scoped(to: identity))
    }
}

extension TableAlias where RowDecoder: TableRecord {
    /// A column with JSON that the record type names.
    public subscript<Value: SQLJSONExpressible>(
        dynamicMember keyPath: KeyPath<RowDecoder.DatabaseComponents, Value>
    ) -> AnySQLJSONExpressible {
        let expression = RowDecoder.databaseComponents[keyPath: keyPath].sqlExpression
        return AnySQLJSONExpressible(sqlExpression: expression.scoped(to: identity))
    }
}

extension SQLExpression {
    /// Whether SQLite knows that the value is JSON, or needs to be told.
    fileprivate var isJSON: Bool {
        switch node {
        case .json, .jsonAccess(_, _, isJSON: true): true
        case .function(let call): call.isJSON
        case .aliased(_, let expression), .detached(let expression): expression.isJSON
        default: false
        }
    }

    /// Writes `json -> path` or `json ->> path`, and what means the same where
    /// there are no such operators, which is before SQLite 3.38.
    static func writeJSONAccess(
        _ json: SQLExpression, _ path: SQLExpression, isJSON: Bool, to writer: SQLWriter
    ) throws {
        if writer.features.supportsJSONOperators {
            try json.write(to: writer, isOperand: true)
            writer.append(isJSON ? " -> " : " ->> ")
            return try path.write(to: writer, isOperand: true)
        }
        let function = isJSON ? JSONFunctions.part.name : "JSON_EXTRACT"
        try SQLExpression.function(function, [json, path.fullJSONPath]).write(to: writer)
    }

    /// The path in full, where operators accept the name of a property or the
    /// number of an element, in brackets or without.
    private var fullJSONPath: SQLExpression {
        guard case .value(let value) = node else {
            return SQL(
                """
                CASE WHEN TYPEOF(\(self)) = 'integer' THEN '$[' || \(self) || ']' \
                WHEN SUBSTR(\(self), 1, 1) = '$' THEN \(self) \
                WHEN (\(self)) LIKE '[_%]' THEN '$' || \(self) ELSE '$."' || \(self) || '"' END
                """
            ).sqlExpression
        }
        switch value.content {
        case .int64(let index):
            return (index < 0 ? "$[#\(index)]" : "$[\(index)]").sqlExpression
        case .string(let path):
            // SQLite looks at the bytes.
            let bytes = path.utf8
            if bytes.first == UInt8(ascii: "$") { return self }
            let isElement =
                bytes.first == UInt8(ascii: "[") && bytes.last == UInt8(ascii: "]") && bytes.count > 2
            return (isElement ? "$\(path)" : "$.\"\(path)\"").sqlExpression
        default: return self
        }
    }
}
