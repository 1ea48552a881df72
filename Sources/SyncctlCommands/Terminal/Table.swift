/// A table of aligned columns: text at the left, numbers at the right, the header dim.
///
///     ID    LABEL      KIND
///     5c65  laptop     passphrase
package struct Table: Sendable {
    /// A column with its title; an empty title in all columns means no header line.
    package struct Column: Sendable {
        let title: String
        let isNumeric: Bool

        package static func text(_ title: String) -> Column { Column(title: title, isNumeric: false) }
        package static func number(_ title: String) -> Column { Column(title: title, isNumeric: true) }
    }

    /// A cell: plain text, for the table measures and escapes it, and how to emphasise it.
    package struct Cell: ExpressibleByStringInterpolation, Sendable {
        let text: String
        let emphasis: Style.Emphasis?

        package init(_ text: String, _ emphasis: Style.Emphasis? = nil) {
            self.text = PrintableText.escaped(text)
            self.emphasis = emphasis
        }

        package init(stringLiteral value: String) {
            self.init(value)
        }
    }

    private struct Row {
        let marker: String
        let cells: [Cell]
    }

    private let columns: [Column]
    private let indent: Int
    private var rows: [Row] = []

    /// Creates an empty table.
    ///
    /// - Parameter indent: The spaces before each line.
    package init(_ columns: [Column], indent: Int = 0) {
        precondition(!columns.isEmpty, "A table needs a column.")
        self.columns = columns
        self.indent = indent
    }

    var isEmpty: Bool { rows.isEmpty }

    /// Adds a row. A row shorter than the table ends in empty cells.
    ///
    /// - Parameter marker: A sign before the row, such as `*` for the key in use. Once a row has
    ///   one, all lines leave room for it.
    package mutating func addRow(_ cells: [Cell], marker: String = "") {
        precondition(cells.count <= columns.count, "A row has no more cells than the table has columns.")
        let missing = Array(repeating: Cell(""), count: columns.count - cells.count)
        rows.append(Row(marker: PrintableText.escaped(marker), cells: cells + missing))
    }

    /// The lines of the table, header first. No line ends in spaces.
    func lines(style: Style = .plain) -> [String] {
        let widths = columns.indices.map { column in
            rows.map { PrintableText.width(of: $0.cells[column].text) }
                .reduce(PrintableText.width(of: columns[column].title), max)
        }
        let markerWidth = rows.map { PrintableText.width(of: $0.marker) }.max() ?? 0
        let header = Row(marker: "", cells: columns.map { Cell($0.title, .dim) })
        let hasHeader = columns.contains { !$0.title.isEmpty }
        return ((hasHeader ? [header] : []) + rows).map { row in
            let marker = markerWidth == 0 ? "" : PrintableText.padded(row.marker, to: markerWidth) + " "
            return line(prefix: String(repeating: " ", count: indent) + marker, row, widths, style)
        }
    }

    /// The table as one text, with no newline at its end.
    package func text(style: Style = .plain) -> String {
        lines(style: style).joined(separator: "\n")
    }

    /// One line. Padding stays outside the emphasis, and nothing follows the last visible text.
    private func line(prefix: String, _ row: Row, _ widths: [Int], _ style: Style) -> String {
        guard let last = row.cells.lastIndex(where: { !$0.text.isEmpty }) else {
            return row.marker.isEmpty ? "" : String(repeating: " ", count: indent) + row.marker
        }
        var result = prefix
        for (index, cell) in row.cells[...last].enumerated() {
            let space = String(repeating: " ", count: widths[index] - PrintableText.width(of: cell.text))
            let text = cell.emphasis.map { style.apply($0, to: cell.text) } ?? cell.text
            if index > 0 { result += "  " }
            if columns[index].isNumeric {
                result += space + text
            } else {
                result += text + (index == last ? "" : space)
            }
        }
        return result
    }
}
