import ArgumentParser
import CipherStore
import SyncEngine

/// Shows the latest changes.
struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show the latest changes, newest first.",
        usage: "syncctl log <store> [--limit <limit>] [<options>]",
        discussion: """
            EXAMPLE:
              syncctl log notes.db --limit 500 --json
            """)

    @OptionGroup var options: StoreOptions

    @Option(help: "How many changes to show.")
    var limit = 20

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be at least 1") }
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
        }
        let store: String
        let changes: [Change]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let entries = try Synchronizer(existing: context.open(options)).history(limit: limit)
            try context.print(
                Document(
                    store: options.store,
                    changes: entries.map {
                        .init(
                            time: HumanFormat.timestamp($0.milliseconds, style: .internetMilliseconds),
                            replica: $0.replica.description, local: $0.isLocal,
                            operation: $0.operation.rawValue,
                            table: $0.table, key: $0.key, columns: $0.columns)
                    }),
                text: text(entries, context))
            return .success
        }
    }

    private func text(_ entries: [HistoryEntry], _ context: CommandContext) -> String {
        if entries.isEmpty { return "no changes" }
        var table = Table([
            .text("TIME"), .text("BY"), .text("CHANGE"), .text("TABLE"), .text("KEY"), .text("COLUMNS"),
        ])
        for entry in entries {
            table.addRow([
                .init(HumanFormat.timestamp(entry.milliseconds, style: .second)),
                .init(entry.isLocal ? "here" : entry.replica.shortDescription),
                .init(entry.operation.rawValue),
                .init(entry.table), .init(entry.key), .init(entry.columns.joined(separator: ", ")),
            ])
        }
        return table.text(style: context.terminal.outputStyle)
    }
}
