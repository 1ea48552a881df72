import CipherStore
import Foundation

/// What was measured, and on what.
struct Report: Encodable {
    let cipherVersion: String
    let sqliteVersion: String
    let pageSize: String
    let runCount: Int
    let usesProcessorTime: Bool
    let comparisons: [Comparison]
    let sync: SyncResult?

    /// Measures the figures that the options ask for.
    static func measure(_ options: Options) throws -> Report {
        let folder = try StoreFolder()
        // The push comes first, because the peak of memory is the process's.
        let sync = options.figures.contains(.sync) ? try measureSync(folder, options) : nil
        var comparisons: [Comparison] = []
        for figure in options.figures {
            switch figure {
            case .fetch: comparisons += try measureFetch(folder, options)
            case .insert: comparisons += try measureInsert(folder, options)
            case .tracked: comparisons += try measureTrackedInsert(folder, options)
            case .recordFetch: comparisons += try measureRecordFetch(folder, options)
            case .recordInsert: comparisons += try measureRecordInsert(folder, options)
            case .poolOpen: comparisons += try measurePoolOpening(folder, options)
            case .poolRead: comparisons += try measureReadersBesideWriter(folder, options)
            case .sync: break
            }
        }
        let (cipherVersion, sqliteVersion, pageSize) = try engine(folder)
        return Report(
            cipherVersion: cipherVersion, sqliteVersion: sqliteVersion, pageSize: pageSize,
            runCount: options.runCount, usesProcessorTime: options.usesProcessorTime,
            comparisons: comparisons, sync: sync)
    }

    /// What the library itself says.
    private static func engine(
        _ folder: StoreFolder
    ) throws -> (cipher: String, sqlite: String, pageSize: String) {
        try openQueue(folder.newPath("engine.db")).writeWithoutTransaction { db in
            try (
                String.fetchOne(db, sql: "PRAGMA cipher_version") ?? "?",
                String.fetchOne(db, sql: "SELECT sqlite_version()") ?? "?",
                String.fetchOne(db, sql: "PRAGMA cipher_page_size") ?? "?"
            )
        }
    }

    /// The report as JSON.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// The report as a table.
    var table: String {
        let times = usesProcessorTime ? "processor times" : "times"
        var lines = [
            "SQLCipher \(cipherVersion), SQLite \(sqliteVersion), pages of \(pageSize) bytes",
            "\(times) are medians of \(runCount) runs; sync is one run",
        ]
        if !comparisons.isEmpty {
            let title = ["figure", "rows", "against", "ms", "measured", "ms", "ratio", "bar", ""]
            lines += [""] + align([title] + comparisons.map(cells), rightAligned: [1, 3, 5, 6, 7])
        }
        if let sync {
            let title = ["figure", "rows", "seconds", "rows/s", "bar", "", "peak MB"]
            lines += [""] + align([title, cells(sync)], rightAligned: [1, 2, 3, 4, 6])
        }
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
        [
            "sync", String(sync.rowCount), decimals(sync.seconds, 2), decimals(sync.rowsPerSecond, 0),
            decimals(sync.bar, 0), sync.isWithinBar ? "ok" : "under", decimals(sync.peakMegabytes, 0),
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
