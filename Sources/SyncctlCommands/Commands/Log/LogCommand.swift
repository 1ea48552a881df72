import ArgumentParser
import CipherStore
import Foundation
import SyncEngine

/// Shows the latest changes.
struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show the latest changes, newest first.",
        usage:
            "syncctl log <store> [--table <table>] [--row <key>] [--by <replica>] [--since <time>] [--values] [<options>]",
        discussion: """
            Of other replicas, the last write of each row and of each column is known, not each write. The \
            values that are shown are those that the columns hold now, at the newest change of each; what \
            they held before is not kept.

            --since takes a date, a time, or how long ago: \(TimeArgument.forms).

            EXAMPLES:
              syncctl log notes.db --limit 500 --json
              syncctl log notes.db --table note --since 7d --values
              syncctl log notes.db --row 0190c2f4-7d4e-7a10-8f00-2b1f6e1b9a3c
              syncctl log notes.db --by 8952
            """)

    @OptionGroup var options: StoreOptions

    @Option(help: "How many changes to show.")
    var limit = 20

    @Option(help: "Changes of this table only.")
    var table: String?

    @Option(
        help: ArgumentHelp(
            "Changes of the row with this key only, or with a key that begins so.", valueName: "key"))
    var row: String?

    @Option(
        help: ArgumentHelp(
            "Changes of this replica only: the beginning of its identifier, or \"here\".",
            valueName: "replica"))
    var by: String?

    @Option(
        help: ArgumentHelp("Changes from then on only.", valueName: "time"), transform: TimeArgument.parse)
    var since: TimeArgument?

    @Flag(help: "Show the values that the columns hold now.")
    var values = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be at least 1") }
        if let by, by.isEmpty {
            throw ValidationError("--by takes the beginning of a replica's identifier, or here")
        }
    }

    private struct Document: Encodable {
        struct Change: Encodable {
            let time: String
            let replica: String
            let local: Bool
            let operation: String
            let table: String
            let key: String
            let columns: [String]
            let values: [String: JSONValue]
        }
        let store: String
        let changes: [Change]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let queue = try context.openForReading(options)
            let synchronizer = try Synchronizer(existing: queue)
            let now = Int64(Date().timeIntervalSince1970 * 1000)
            let filter = HistoryFilter(
                table: try table.map { try tableName($0, queue) }, key: row, replica: by,
                sinceMilliseconds: try since?.milliseconds(now: now))
            let findings = try filter.findings(in: synchronizer, limit: limit)
            let entries = findings.entries
            if entries.isEmpty { try requireKnown(filter, findings, synchronizer) }
            let shown = values || global.isJSON ? try HistoryValues.load(entries, from: queue) : nil
            try context.print(
                Document(
                    store: options.store,
                    changes: entries.enumerated().map { index, entry in
                        .init(
                            time: HumanFormat.timestamp(entry.milliseconds, style: .internetMilliseconds),
                            replica: entry.replica.description, local: entry.isLocal,
                            operation: entry.operation.rawValue,
                            table: entry.table, key: entry.key, columns: entry.columns,
                            values: Dictionary(
                                shown?[index].map { ($0.column, JSONValue($0.value)) } ?? [],
                                uniquingKeysWith: { first, _ in first }))
                    }),
                text: text(entries, shown, context))
            return .success
        }
    }

    /// The name of a table as it is written. One that is not here any more may have a history.
    private func tableName(_ name: String, _ queue: DatabaseQueue) throws -> String {
        let tables = try queue.read { try TextExport.tables($0) }
        return tables.first { $0.isSameIdentifier(as: name) } ?? name
    }

    /// Refuses a table, a row or a replica that is not known, which would look like one without changes.
    private func requireKnown(
        _ filter: HistoryFilter, _ findings: HistoryFilter.Findings, _ synchronizer: Synchronizer
    ) throws {
        if let table = filter.table, !findings.hasTable { try synchronizer.requireTable(table) }
        if let row, !findings.hasRow {
            throw Failure(
                "no row whose key begins with \(row) has changes here",
                hints: ["keys are shown by: syncctl log \(CommandWords.path(options.store)) --limit 500"])
        }
        guard let by, by != "here" else { return }
        let replicas = try synchronizer.replicas()
        guard replicas.contains(where: { $0.replica.description.hasPrefix(by.lowercased()) }) else {
            throw Failure(
                "no replica whose identifier begins with \(by) is known here",
                hints: ["see: syncctl replica list \(CommandWords.path(options.store))"])
        }
    }

    private func text(
        _ entries: [HistoryEntry], _ values: [[HistoryValues.Value]]?, _ context: CommandContext
    ) -> String {
        if entries.isEmpty { return "no changes" }
        let cells = entries.enumerated().map { index, entry in
            [
                HumanFormat.timestamp(entry.milliseconds, style: .second),
                entry.isLocal ? "here" : entry.replica.shortDescription, entry.operation.rawValue,
                entry.table, entry.key, columns(entry, self.values ? values?[index] ?? [] : []),
            ].map(PrintableText.escaped)
        }
        let titles = ["TIME", "BY", "CHANGE", "TABLE", "KEY", self.values ? "VALUES" : "COLUMNS"]
        var table = Table(titles.map { .text($0) })
        let room = room(titles, cells, context.terminal)
        for row in cells {
            let last = room.map { PrintableText.truncated(row[5], to: $0) } ?? row[5]
            table.addRow((row.dropLast() + [last]).map { .init($0) })
        }
        return table.text(style: context.terminal.outputStyle)
    }

    /// The columns that were written, with the values of those of which they are known.
    private func columns(_ entry: HistoryEntry, _ values: [HistoryValues.Value]) -> String {
        let others = entry.columns.filter { name in !values.contains { $0.column == name } }
        return (values.map { "\($0.column)=\(ValueText.literal($0.value))" } + others).joined(separator: ", ")
    }

    /// What is left of a line of the terminal for the last column; nil when nothing is cut.
    private func room(_ titles: [String], _ rows: [[String]], _ terminal: Terminal) -> Int? {
        guard values, terminal.outputIsTerminal else { return nil }
        let taken = titles.indices.dropLast().reduce(0) { sum, column in
            sum + 2 + ([titles] + rows).map { PrintableText.width(of: $0[column]) }.reduce(0, max)
        }
        return max(terminal.width - taken, 20)
    }
}
