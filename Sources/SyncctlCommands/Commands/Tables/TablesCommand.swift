import ArgumentParser
import CipherStore
import SyncEngine

/// Lists the tables of a store.
struct TablesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tables",
        abstract: "List the tables of a store, and which of them are synchronized.",
        usage: "syncctl tables <store> [<options>]",
        discussion: """
            A table is synchronized when it is tracked. For one that cannot be, the list says why; keys that \
            are no UUIDs are turned into such by syncctl track --convert-keys.

            EXAMPLE:
              syncctl tables notes.db --json
            """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let tables: [StoreTable]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let queue = try context.openForReading(options)
            let tracked = Set(try Synchronizer(existing: queue).status().tables.map { $0.name.identifierKey })
            let tables = try queue.read { try StoreTable.load($0, tracked: tracked) }
            try context.print(
                Document(store: options.store, tables: tables), text: text(tables, context))
            if let hint = hint(tables) { context.note(hint) }
            return .success
        }
    }

    private func text(_ tables: [StoreTable], _ context: CommandContext) -> String {
        if tables.isEmpty { return "no tables" }
        var list = Table([.text("TABLE"), .number("ROWS"), .text("KEY"), .text("TRACKED")])
        for table in tables {
            let tracked = table.tracked ? "yes" : table.obstacle.map { "can't be: \($0)" } ?? "no"
            list.addRow([
                .init(table.name), .init(table.rows.map { HumanFormat.count(Int($0)) } ?? "-"),
                .init(table.key.isEmpty ? "-" : table.key.joined(separator: ", ")),
                .init(tracked, table.tracked ? nil : .yellow),
            ])
        }
        return list.text(style: context.terminal.outputStyle)
    }

    private func hint(_ tables: [StoreTable]) -> String? {
        guard let table = tables.first(where: { !$0.tracked && $0.obstacle == nil }) else { return nil }
        return "next: syncctl track \(CommandWords.quoted(options.store)) \(CommandWords.quoted(table.name))"
    }
}
