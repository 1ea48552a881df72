/// A column of a table or a view.
///
/// ```swift
/// let names = try db.columns(in: "player").map(\.name)
/// ```
public struct ColumnInfo: Sendable {
    let cid: Int
    let hidden: Int?

    /// The name of the column.
    public let name: String

    /// The type, as it was declared; empty when it was not.
    public let type: String

    /// Whether the column was declared `NOT NULL`.
    public let isNotNull: Bool

    /// The SQL of the default value.
    public let defaultValueSQL: String?

    /// The position in the primary key, from 1; 0 when the column is not in it.
    public let primaryKeyIndex: Int

    /// The declared type, or nil when the column has none.
    public var columnType: Database.ColumnType? {
        type.isEmpty ? nil : Database.ColumnType(rawValue: type)
    }

    /// Whether the value is computed from other columns.
    package var isGenerated: Bool { hidden == 2 || hidden == 3 }

    /// The default value as an expression, which has no name of a column in it.
    package var defaultExpressionSQL: String? { defaultValueSQL.map { Self.expression(ofDefault: $0) } }

    /// The SQL of a default as an expression.
    ///
    /// SQLite takes a name that stands for a default for a text: `DEFAULT open` and `DEFAULT "open"`, and before 3.23
    /// `DEFAULT TRUE` too. In a statement the name would be a column.
    package static func expression(ofDefault sql: String) -> String {
        let tokens = SQLTokens(sql).tokens
        guard tokens.count == 1, let token = tokens.first else { return sql }
        switch token.kind {
        case .quotedName: break
        case .word:
            let words =
                ["null", "current_time", "current_date", "current_timestamp"]
                + (EngineFeatures.current.supportsBooleanNames ? ["true", "false"] : [])
            if words.contains(where: token.isKeyword) { return sql }
        case .string, .other: return sql
        }
        return "'" + token.text.replacing("'", with: "''") + "'"
    }

    /// Reads a row of `PRAGMA table_info` or `PRAGMA table_xinfo`.
    init(row: Row) throws {
        cid = try row.decode(forColumn: "cid")
        hidden = row.hasColumn("hidden") ? try row.decode(Int.self, forColumn: "hidden") : nil
        name = try row.decode(forColumn: "name")
        // A view's column can have no type at all.
        type = row["type"] as String? ?? ""
        isNotNull = try row.decode(forColumn: "notnull")
        defaultValueSQL = row["dflt_value"] as String?
        primaryKeyIndex = try row.decode(forColumn: "pk")
    }
}

extension Database {
    /// The type of a column, as it is written in SQL.
    ///
    /// SQLite only uses it to choose an affinity, unless the table is strict.
    /// Related SQLite documentation: <https://www.sqlite.org/datatype3.html>
    public struct ColumnType: RawRepresentable, Hashable, Sendable {
        /// The SQL of the type.
        public let rawValue: String

        /// Makes a type from its SQL.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Makes a type from its SQL.
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// `TEXT`
        public static let text = ColumnType("TEXT")

        /// `TEXT`, for JSON documents.
        public static let jsonText = ColumnType("TEXT")

        /// `BLOB`, for JSON documents in the binary form.
        public static let jsonb = ColumnType("BLOB")

        /// `INTEGER`
        public static let integer = ColumnType("INTEGER")

        /// `DOUBLE`
        public static let double = ColumnType("DOUBLE")

        /// `REAL`
        public static let real = ColumnType("REAL")

        /// `NUMERIC`
        public static let numeric = ColumnType("NUMERIC")

        /// `BOOLEAN`
        public static let boolean = ColumnType("BOOLEAN")

        /// `BLOB`
        public static let blob = ColumnType("BLOB")

        /// `DATE`
        public static let date = ColumnType("DATE")

        /// `DATETIME`
        public static let datetime = ColumnType("DATETIME")

        /// `ANY`, which strict tables store as it is given.
        public static let any = ColumnType("ANY")
    }
}
