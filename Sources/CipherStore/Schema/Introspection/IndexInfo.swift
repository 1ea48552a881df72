/// An index on columns of a table.
///
/// ```swift
/// for index in try db.indexes(on: "player") { print(index.name, index.columns) }
/// ```
public struct IndexInfo: Sendable {
    /// What made an index.
    public struct Origin: RawRepresentable, Hashable, Sendable {
        /// The letters that `PRAGMA index_list` gives.
        public let rawValue: String

        /// Makes an origin from the letters of `PRAGMA index_list`.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A `CREATE INDEX` statement.
        public static let createIndex = Origin(rawValue: "c")

        /// A primary key.
        public static let primaryKeyConstraint = Origin(rawValue: "pk")

        /// A unique constraint.
        public static let uniqueConstraint = Origin(rawValue: "u")
    }

    /// The name of the index.
    public let name: String

    /// The indexed columns, in order.
    public let columns: [String]

    /// Whether no two rows can have the same values.
    public let isUnique: Bool

    /// What made the index.
    public let origin: Origin

    /// Whether the index has a `WHERE` clause, and so leaves rows out.
    package let isPartial: Bool
}
