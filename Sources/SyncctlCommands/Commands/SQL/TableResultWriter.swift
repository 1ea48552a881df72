import CipherStore

/// Rows as a table for people. On a terminal, columns are cut so that a row is a line.
final class TableResultWriter: ResultWriter {
    /// The widths are those of the first rows; the rest is written as it comes.
    static let measuredRowCount = 2000
    /// Longer texts are not measured: nobody reads them in a table.
    private static let maximumCharacters = 4096

    private let context: CommandContext
    private var columns: [String] = []
    private var waiting: [[DatabaseValue]] = []
    private var layout: Layout?
    private var rowCount = 0

    init(_ context: CommandContext) { self.context = context }

    func begin(_ columns: [String]) throws {
        self.columns = columns.map(PrintableText.escaped)
        (waiting, layout, rowCount) = ([], nil, 0)
    }

    func row(_ values: [DatabaseValue]) throws {
        rowCount += 1
        guard let layout else {
            waiting.append(values)
            if waiting.count == Self.measuredRowCount { try writeWaiting() }
            return
        }
        try context.terminal.writeOutput(layout.line(values))
    }

    func end() throws {
        guard rowCount > 0 else { return context.note("no rows") }
        if layout == nil { try writeWaiting() }
    }

    func changed(_ rowCount: Int) throws {
        try context.terminal.writeOutput("changed \(HumanFormat.count(rowCount, "row"))")
    }

    private func writeWaiting() throws {
        let terminal = context.terminal
        let layout = Layout(
            columns, waiting, width: terminal.outputIsTerminal ? terminal.width : nil,
            style: terminal.outputStyle, ellipsis: terminal.usesUnicode ? "…" : ".")
        self.layout = layout
        let lines = [layout.header] + waiting.map(layout.line)
        waiting = []
        try terminal.writeOutput(lines.joined(separator: "\n"))
    }

    /// A value without anything that could act on a terminal or break a line.
    fileprivate static func text(_ value: DatabaseValue) -> String {
        let text = ValueText.plain(value)
        guard text.utf8.count > maximumCharacters else { return PrintableText.escaped(text) }
        return PrintableText.escaped(String(text.prefix(maximumCharacters))) + "…"
    }
}

/// The widths of columns.
private struct Layout {
    /// No column is cut below this, as long as the terminal has room for it.
    private static let minimumWidth = 4

    private let titles: [String]
    private let isNumeric: [Bool]
    private var widths: [Int]
    private let isCut: Bool
    private let style: Style
    private let ellipsis: String

    /// - parameter width: The columns of the terminal; nil to cut nothing.
    init(_ titles: [String], _ rows: [[DatabaseValue]], width: Int?, style: Style, ellipsis: String) {
        (self.titles, self.style, self.ellipsis) = (titles, style, ellipsis)
        isCut = width != nil
        isNumeric = titles.indices.map { column in
            var hasNumber = false
            for row in rows {
                switch row[column].storage {
                case .int64, .double: hasNumber = true
                case .null: break
                case .string, .blob: return false
                }
            }
            return hasNumber
        }
        widths = titles.indices.map { column in
            rows.map { PrintableText.width(of: TableResultWriter.text($0[column])) }
                .reduce(PrintableText.width(of: titles[column]), max)
        }
        if let width { shrink(to: width) }
    }

    /// Takes from the widest columns until a row is a line.
    private mutating func shrink(to width: Int) {
        var excess = widths.reduce(0, +) + 2 * (widths.count - 1) - width
        while excess > 0, let widest = widths.max(), widest > Self.minimumWidth {
            let next = max(widths.filter { $0 < widest }.max() ?? 0, Self.minimumWidth)
            let indices = widths.indices.filter { widths[$0] == widest }
            let step = min(widest - next, (excess + indices.count - 1) / indices.count)
            for index in indices { widths[index] -= step }
            excess -= step * indices.count
        }
    }

    var header: String { line(titles.map { (text: $0, emphasis: .dim) }) }

    func line(_ values: [DatabaseValue]) -> String {
        line(values.map { (text: TableResultWriter.text($0), emphasis: $0.isNull ? .dim : nil) })
    }

    private func line(_ cells: [(text: String, emphasis: Style.Emphasis?)]) -> String {
        var result = ""
        for (index, cell) in cells.enumerated() {
            let isLast = index == cells.count - 1
            let text = cut(cell.text, to: widths[index])
            let space = String(repeating: " ", count: max(0, widths[index] - PrintableText.width(of: text)))
            let shown = cell.emphasis.map { style.apply($0, to: text) } ?? text
            if index > 0 { result += "  " }
            result += isNumeric[index] ? space + shown : shown + (isLast ? "" : space)
        }
        return result
    }

    private func cut(_ text: String, to width: Int) -> String {
        guard isCut, PrintableText.width(of: text) > width else { return text }
        return PrintableText.truncated(text, to: max(0, width - 1)) + ellipsis
    }
}
