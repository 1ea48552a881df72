import Foundation

/// A value as text, as it would be written in Swift.
enum RowText {
    /// The lines of a value.
    static func lines(_ value: Any) -> [String] {
        if let text = simple(value) { return [text] }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional:
            return mirror.children.first.map { lines($0.value) } ?? ["nil"]
        case .collection, .set:
            return block("[", mirror.children.map { ($0.label, $0.value) }, "]")
        case .tuple:
            return block("(", mirror.children.map { (name($0.label), $0.value) }, ")")
        case .enum:
            guard let child = mirror.children.first else { return [".\(value)"] }
            return block(".\(child.label ?? "")(", [(nil, child.value)], ")")
        case .struct, .class:
            return block("\(type(of: value))(", mirror.children.map { ($0.label, $0.value) }, ")")
        default:
            return ["\(value)"]
        }
    }

    /// The label of a tuple's element, unless it is its number.
    private static func name(_ label: String?) -> String? {
        label.flatMap { $0.hasPrefix(".") ? nil : $0 }
    }

    private static func simple(_ value: Any) -> String? {
        switch value {
        case let value as String: String(reflecting: value)
        case let value as Substring: String(reflecting: value)
        case let value as UUID: "UUID(\(value.uuidString.lowercased()))"
        case let value as Date:
            "Date(\(value.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))))"
        case let value as Data: "Data(\(value.count) bytes)"
        case let value as URL: "URL(\(value.absoluteString))"
        case let value as Decimal: "\(value)"
        default: nil
        }
    }

    private static func block(
        _ begin: String, _ children: [(label: String?, value: Any)], _ end: String
    ) -> [String] {
        guard !children.isEmpty else { return [begin + end] }
        var result = [begin]
        for (index, child) in children.enumerated() {
            var text = lines(child.value)
            if let label = child.label { text[0] = "\(label): \(text[0])" }
            if index < children.count - 1 { text[text.count - 1] += "," }
            result += text.map { "  " + $0 }
        }
        return result + [end]
    }
}

/// Rows in a frame.
///
/// ```
/// ┌────────┬───┐
/// │ "Milk" │ 1 │
/// │ "Tea"  │ 2 │
/// └────────┴───┘
/// ```
struct RowTable {
    private var rows: [[[String]]] = []

    init() {}

    /// Adds a row: a tuple has a column for each of its elements.
    mutating func append(_ row: Any) {
        let mirror = Mirror(reflecting: row)
        let cells = mirror.displayStyle == .tuple ? mirror.children.map(\.value) : [row]
        rows.append(cells.map(RowText.lines))
    }

    /// The frame with the rows; nothing when there are none.
    var description: String {
        guard let first = rows.first else { return "(No results)" }
        let widths = first.indices.map { column in
            rows.flatMap { $0.indices.contains(column) ? $0[column] : [] }.map(\.count).max() ?? 0
        }
        func line(_ begin: String, _ middle: String, _ end: String) -> String {
            begin + widths.map { String(repeating: "─", count: $0 + 2) }.joined(separator: middle) + end
        }
        var lines = [line("┌", "┬", "┐")]
        for row in rows {
            for index in 0..<(row.map(\.count).max() ?? 0) {
                let cells = zip(row, widths).map { cell, width in
                    let text = cell.indices.contains(index) ? cell[index] : ""
                    return " " + text + String(repeating: " ", count: width - text.count) + " "
                }
                lines.append("│" + cells.joined(separator: "│") + "│")
            }
        }
        return (lines + [line("└", "┴", "┘")]).joined(separator: "\n")
    }
}
