import Foundation

/// A format with one line for a row, for human eyes.
///
/// ```swift
/// try db.dumpSQL("SELECT * FROM player", format: .debug(header: true))
/// // id|name|avatar
/// // 1|Arthur|X'8D0F'
/// ```
///
/// A blob is shown as text when it is UTF-8, as a UUID when it has 16 bytes,
/// and as a literal of SQL otherwise.
public struct DebugDumpFormat: DumpFormat, Sendable {
    private var list: ListDumpFormat

    /// Makes the format; see ``ListDumpFormat``.
    public init(header: Bool = false, separator: String = "|", nullValue: String = "") {
        list = ListDumpFormat(header: header, separator: separator, nullValue: nullValue)
    }

    /// Whether the names of the columns come first.
    public var header: Bool {
        get { list.header }
        set { list.header = newValue }
    }

    /// What is between two values.
    public var separator: String {
        get { list.separator }
        set { list.separator = newValue }
    }

    /// What stands for NULL.
    public var nullValue: String {
        get { list.nullValue }
        set { list.nullValue = newValue }
    }

    /// Writes a row.
    public mutating func writeRow(_ row: Row, to stream: inout DumpStream) {
        list.writeRow(row, to: &stream) { value in
            guard case .blob(let data) = value.storage else { return DumpText.text(value) }
            if let text = String(validating: data, as: UTF8.self) { return text }
            return UUID.fromDatabaseValue(value)?.uuidString ?? DumpText.hexLiteral(data)
        }
    }

    /// Ends a list of rows.
    public mutating func finalize(columnNames: [String], to stream: inout DumpStream) {}
}

/// A format with one line for a row, like the list mode of the `sqlite3` tool.
///
/// ```swift
/// try db.dumpSQL("SELECT * FROM player", format: .list(header: true))
/// // id|name
/// // 1|Arthur
/// ```
public struct ListDumpFormat: DumpFormat, Sendable {
    /// Whether the names of the columns come first.
    public var header: Bool

    /// What is between two values.
    public var separator: String

    /// What stands for NULL.
    public var nullValue: String

    private var isFirstRow = true

    /// Makes the format.
    ///
    /// - parameters:
    ///     - header: Whether the names of the columns come first, if there is a row.
    ///     - separator: What is between two values.
    ///     - nullValue: What stands for NULL.
    public init(header: Bool = false, separator: String = "|", nullValue: String = "") {
        self.header = header
        self.separator = separator
        self.nullValue = nullValue
    }

    /// Writes a row.
    public mutating func writeRow(_ row: Row, to stream: inout DumpStream) {
        writeRow(row, to: &stream, DumpText.text)
    }

    mutating func writeRow(_ row: Row, to stream: inout DumpStream, _ text: (DatabaseValue) -> String?) {
        if isFirstRow && header { stream.writeln(row.columnNames.joined(separator: separator)) }
        isFirstRow = false
        stream.writeln(row.databaseValues.map { text($0) ?? nullValue }.joined(separator: separator))
    }

    /// Ends a list of rows.
    public mutating func finalize(columnNames: [String], to stream: inout DumpStream) {}
}

extension DumpFormat where Self == DebugDumpFormat {
    /// One line for a row, for human eyes: ``DebugDumpFormat``.
    public static func debug(
        header: Bool = false, separator: String = "|", nullValue: String = ""
    ) -> Self {
        DebugDumpFormat(header: header, separator: separator, nullValue: nullValue)
    }
}

extension DumpFormat where Self == ListDumpFormat {
    /// One line for a row: ``ListDumpFormat``.
    public static func list(
        header: Bool = false, separator: String = "|", nullValue: String = ""
    ) -> Self {
        ListDumpFormat(header: header, separator: separator, nullValue: nullValue)
    }
}
