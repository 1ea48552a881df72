import Foundation

/// What `import` says.
struct ImportReport {
    let summary: TableImport.Summary
    let store: String
    let table: String
    let isTracked: Bool
    let isUpdate: Bool
    let isDryRun: Bool

    /// The columns that are named in the line; more are counted.
    private static let maximumNamedColumns = 5

    /// The JSON document.
    struct Document: Encodable {
        struct Column: Encodable {
            let name: String
            let type: String
            let nulls: Int64
        }
        let store: String
        let table: String
        let rows: Int64
        let inserted: Int64
        let updated: Int64?
        let unchanged: Int64?
        let key: String
        let columns: [Column]
        let tracked: Bool
        let dryRun: Bool
    }

    var document: Document {
        Document(
            store: store, table: table, rows: summary.rowCount, inserted: summary.insertedCount,
            updated: isUpdate ? summary.updatedCount : nil,
            unchanged: isUpdate ? summary.unchangedCount : nil, key: summary.keyColumn,
            columns: summary.columns.map {
                .init(name: $0.name, type: $0.type.rawValue, nulls: $0.nullCount)
            },
            tracked: isTracked, dryRun: isDryRun)
    }

    var text: String {
        let verb = isDryRun ? "would import" : "imported"
        let remark = [keyAndTypes, nulls, isTracked ? "tracked" : nil].compactMap { $0 }.joined(
            separator: "; ")
        return
            "\(verb) \(count(summary.rowCount, "row")) into \(PrintableText.escaped(table))\(numbers)  (\(remark))"
    }

    /// What became of the rows, and how many there are now.
    private var numbers: String {
        let total =
            isDryRun
            ? "would have \(count(summary.totalRowCount))" : "has \(count(summary.totalRowCount)) now"
        guard isUpdate else { return summary.isNewTable ? "" : ", which \(total)" }
        return """
            : \(count(summary.insertedCount)) new, \(count(summary.updatedCount)) updated, \
            \(count(summary.unchangedCount)) unchanged\(summary.isNewTable ? "" : "; it \(total)")
            """
    }

    private var keyAndTypes: String {
        let types = Dictionary(grouping: summary.columns, by: \.type).map {
            ($0.key.rawValue, $0.value.count)
        }
        .sorted { $0.0 < $1.0 }.map { "\($0.1) \($0.0.lowercased())" }.joined(separator: ", ")
        let key = "key \(PrintableText.escaped(summary.keyColumn))"
        return types.isEmpty ? key : "\(key); \(types)"
    }

    /// The values that became NULL, by column, those with most of them first.
    private var nulls: String? {
        let columns = summary.columns.enumerated().filter { $1.nullCount > 0 }
            .sorted { ($1.element.nullCount, $0.offset) < ($0.element.nullCount, $1.offset) }.map(\.element)
        guard !columns.isEmpty else { return nil }
        var parts = columns.prefix(Self.maximumNamedColumns).map {
            "\(count($0.nullCount)) in \(PrintableText.escaped($0.name))"
        }
        let others = columns.dropFirst(Self.maximumNamedColumns)
        if !others.isEmpty {
            let sum = others.reduce(0) { $0 + $1.nullCount }
            parts.append("\(count(sum)) in \(HumanFormat.count(others.count, "more column"))")
        }
        return "NULL: \(parts.joined(separator: ", "))"
    }

    private func count(_ value: Int64) -> String { HumanFormat.count(Int(value)) }
    private func count(_ value: Int64, _ noun: String) -> String { HumanFormat.count(Int(value), noun) }
}
