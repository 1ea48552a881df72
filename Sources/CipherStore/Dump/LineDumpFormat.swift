/// A format with one line for a value, and a blank line between rows.
///
/// ```swift
/// try db.dumpSQL("SELECT * FROM player", format: .line())
/// //   id = 1
/// // name = Arthur
/// ```
public struct LineDumpFormat: DumpFormat, Sendable {
    /// What stands for NULL.
    public var nullValue: String

    private var isFirstRow = true

    /// Makes the format.
    ///
    /// - parameter nullValue: What stands for NULL.
    public init(nullValue: String = "") { self.nullValue = nullValue }

    /// Writes a row.
    public mutating func writeRow(_ row: Row, to stream: inout DumpStream) {
        if !isFirstRow { stream.margin() }
        isFirstRow = false
        let width = row.columnNames.map(\.count).max() ?? 0
        for (name, value) in row {
            let padding = String(repeating: " ", count: width - name.count)
            stream.writeln("\(padding)\(name) = \(DumpText.text(value) ?? nullValue)")
        }
    }

    /// Ends a list of rows.
    public mutating func finalize(columnNames: [String], to stream: inout DumpStream) {
        if !isFirstRow { stream.margin() }
    }
}

extension DumpFormat where Self == LineDumpFormat {
    /// One line for a value: ``LineDumpFormat``.
    public static func line(nullValue: String = "") -> Self { LineDumpFormat(nullValue: nullValue) }
}
