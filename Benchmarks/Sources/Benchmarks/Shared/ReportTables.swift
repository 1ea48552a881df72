import Foundation

extension Report {
    /// The report as tables.
    var text: String {
        let times = usesProcessorTime ? "processor times" : "times"
        var lines = [
            engine.description,
            "\(times) are medians of \(runCount) runs" + (sync.isEmpty ? "" : "; sync is one run"),
        ]
        if !comparisons.isEmpty {
            let title = ["figure", "rows", "against", "ms", "measured", "ms", "ratio", "bar", ""]
            lines += [""] + align([title] + comparisons.map(cells), rightAligned: [1, 3, 5, 6, 7])
        }
        if !sync.isEmpty {
            let title = ["sync", "count", "ms", "value", "unit", "bar", "", "peak MB"]
            lines += [""] + align([title] + sync.map(cells), rightAligned: [1, 2, 3, 5, 7])
        }
        for peer in peers { lines += [""] + sideBySide(peer) }
        return lines.joined(separator: "\n")
    }

    private func cells(_ comparison: Comparison) -> [String] {
        [
            comparison.figure, String(comparison.rowCount), comparison.baseline.name,
            decimals(comparison.baseline.seconds * 1000, 1), comparison.measured.name,
            decimals(comparison.measured.seconds * 1000, 1), decimals(comparison.ratio, 2),
            comparison.bar.map { decimals($0, 2) } ?? "-",
            comparison.isWithinBar.map { $0 ? "ok" : "over" } ?? "",
        ]
    }

    private func cells(_ sync: SyncResult) -> [String] {
        let count = sync.value < 1000 ? 1 : 0
        let verdict = sync.isWithinBar ? "ok" : sync.isLeast ? "under" : "over"
        return [
            sync.name, String(sync.count), decimals(sync.seconds * 1000, 1), decimals(sync.value, count),
            sync.unit, decimals(sync.bar, 0), verdict, decimals(sync.peakMegabytes, 0),
        ]
    }

    /// What both measured: each library in times of its own C loop, and what it adds to each row
    /// of that loop, which is the same question without the cost of the encryption in it.
    private func sideBySide(_ peer: Report) -> [String] {
        let title =
            ["figure", "rows", "measured"]
            + [engine, peer.engine].flatMap { ["C ms", $0.library, "ratio", "+ns/row"] }
        let rows: [[String]] = comparisons.compactMap { comparison in
            let match = peer.comparisons.first {
                $0.figure == comparison.figure && $0.measured.name == comparison.measured.name
                    && $0.rowCount == comparison.rowCount
            }
            return match.map {
                [comparison.figure, String(comparison.rowCount), comparison.measured.name]
                    + [comparison, $0].flatMap { sideCells($0) }
            }
        }
        var lines = [peer.engine.description]
        if peer.runCount != runCount || peer.usesProcessorTime != usesProcessorTime {
            lines.append("measured in another way: other runs, or other times")
        }
        guard !rows.isEmpty else { return lines + ["nothing that both measured, with as many rows"] }
        return lines + [""] + align([title] + rows, rightAligned: [1, 3, 4, 5, 6, 7, 8, 9, 10])
    }

    private func sideCells(_ comparison: Comparison) -> [String] {
        let added = comparison.measured.seconds - comparison.baseline.seconds
        return [
            decimals(comparison.baseline.seconds * 1000, 1), decimals(comparison.measured.seconds * 1000, 1),
            decimals(comparison.ratio, 2), decimals(added * 1e9 / Double(comparison.rowCount), 0),
        ]
    }
}

private func decimals(_ value: Double, _ count: Int) -> String { String(format: "%.\(count)f", value) }

/// Pads the cells of each column to one width.
private func align(_ rows: [[String]], rightAligned: Set<Int>) -> [String] {
    guard let first = rows.first else { return [] }
    let widths = first.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
        var line = ""
        for (column, cell) in row.enumerated() {
            let padding = String(repeating: " ", count: widths[column] - cell.count)
            if column > 0 { line += "  " }
            line += rightAligned.contains(column) ? padding + cell : cell + padding
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}
