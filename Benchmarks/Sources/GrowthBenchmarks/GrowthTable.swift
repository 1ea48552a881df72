import Foundation

/// A figure of one size.
struct GrowthFigure: Codable {
    let name: String
    let unit: String
    let value: Double
}

/// What was measured of one size.
struct GrowthColumn: Codable {
    let size: Int
    let figures: [GrowthFigure]
}

/// What was measured of all sizes of an axis.
struct GrowthTable: Encodable {
    let axis: GrowthAxis
    let columns: [GrowthColumn]

    /// A table of Markdown: a line for each figure.
    var text: String {
        let sizes = columns.map { Self.count($0.size) }
        var lines = [
            "| \(axis.rawValue) | " + sizes.joined(separator: " | ") + " | growth |",
            "|---|" + String(repeating: "---:|", count: sizes.count + 1),
        ]
        for figure in columns.first?.figures ?? [] {
            let values = columns.compactMap { $0.figures.first { $0.name == figure.name }?.value }
            let growth = values.first.flatMap { first in values.last.map { first > 0 ? $0 / first : .nan } }
            lines.append(
                "| \(figure.name), \(figure.unit) | " + values.map(Self.number).joined(separator: " | ")
                    + " | \(growth.map { Self.number($0) + " x" } ?? "") |")
        }
        return lines.joined(separator: "\n")
    }

    private static func count(_ number: Int) -> String {
        number % 1_000_000 == 0
            ? "\(number / 1_000_000) M" : number % 1000 == 0 ? "\(number / 1000) k" : "\(number)"
    }

    private static func number(_ value: Double) -> String {
        value.isNaN ? "" : String(format: value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value)
    }
}
