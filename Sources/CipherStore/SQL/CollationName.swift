extension Database {
    /// The name of a collation: a way to compare texts.
    ///
    /// Related SQLite documentation: <https://www.sqlite.org/datatype3.html#collation>
    public struct CollationName: RawRepresentable, Hashable, Sendable {
        /// The name in SQL.
        public let rawValue: String

        /// Makes the name of a collation.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Makes the name of a collation.
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// `BINARY`: by bytes.
        public static let binary = CollationName("BINARY")

        /// `NOCASE`: without the case of the letters A to Z.
        public static let nocase = CollationName("NOCASE")

        /// `RTRIM`: without the spaces at the end.
        public static let rtrim = CollationName("RTRIM")
    }
}

extension SQLSpecificExpressible {
    /// `name COLLATE unicodeCompare`
    ///
    /// - parameter collation: A collation that was added to the connection.
    public func collating(_ collation: DatabaseCollation) -> SQLExpression {
        sqlExpression.collated(collation.name)
    }
}

extension SQLInterpolation {
    /// Appends the name of a collation: `ORDER BY email COLLATE \(.nocase)`.
    public mutating func appendInterpolation(_ collation: Database.CollationName) {
        append(.sql(collation.rawValue))
    }

    /// Appends the name of a collation: `ORDER BY name COLLATE \(.localizedCompare)`.
    public mutating func appendInterpolation(_ collation: DatabaseCollation) {
        append(.sql(collation.name))
    }
}

extension DatabaseFunction {
    /// Calls the function in SQL.
    ///
    /// ```swift
    /// let reverse = DatabaseFunction("reverse", argumentCount: 1, pure: true) { … }
    /// Player.select { reverse($0.name) }
    /// ```
    public func callAsFunction(_ arguments: any SQLExpressible...) -> SQLExpression {
        .function(name, arguments)
    }

    /// Calls the function in SQL: the older way to write `function(…)`.
    public func apply(_ arguments: any SQLExpressible...) -> SQLExpression {
        .function(name, arguments)
    }
}
