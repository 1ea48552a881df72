/// A format with one line for a row, and values as literals of SQL.
///
/// ```swift
/// try db.dumpSQL("SELECT * FROM player", format: .quote())
/// // 1,'Arthur',NULL,X'8D0F'
/// ```
public struct QuoteDumpFormat: DumpFormat, Sendable {
    /// Whether the names of the columns come first.
    public var header: Bool

    /// What is between two values.
    public var separator: String

    private var isFirstRow = true

    /// Makes the format.
    ///
    /// - parameters:
    ///     - header: Whether the names of the columns come first, if there is a row.
    ///     - separator: What is between two values.
    public init(header: Bool = false, separator: String = ",") {
        self.header = header
        self.separator = separator
    }

    /// Writes a row.
    public mutating func writeRow(_ row: Row, to stream: inout DumpStream) {
        if isFirstRow && header {
            stream.writeln(row.columnNames.map(\.quotedSQLText).joined(separator: separator))
        }
        isFirstRow = false
        stream.writeln(row.databaseValues.map(Self.literal).joined(separator: separator))
    }

    /// Ends a list of rows.
    public mutating func finalize(columnNames: [String], to stream: inout DumpStream) {}

    private static func literal(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: "NULL"
        case .int64(let value): "\(value)"
        // SQL has no word for it, and this number is too large.
        case .double(let value): value.isInfinite ? (value < 0 ? "-9.0e999" : "9.0e999") : "\(value)"
        case .string(let value): value.quotedSQLText
        case .blob(let value): DumpText.hexLiteral(value)
        }
    }
}

extension DumpFormat where Self == QuoteDumpFormat {
    /// One line for a row, with literals of SQL: ``QuoteDumpFormat``.
    public static func quote(header: Bool = false, separator: String = ",") -> Self {
        QuoteDumpFormat(header: header, separator: separator)
    }
}
