import ArgumentParser
import CipherStore

/// Shows the definitions of tables.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Show how the tables of a store are defined.",
        usage: "syncctl schema <store> [<table> ...] [<options>]",
        discussion: """
            Definitions are not synchronized: each replica needs the tables. What is printed makes them \\
            elsewhere; the tables and triggers of synchronization are left out.

            EXAMPLES:
              syncctl schema notes.db
              syncctl schema notes.db note --json
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The tables (default: all).")
    var tables: [String] = []

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let tables: [StoreSchema]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let schema = try context.openForReading(options).read { try StoreSchema.load($0, tables: tables) }
            try context.print(
                Document(store: options.store, tables: schema),
                text: schema.map(\.text).joined(separator: "\n"))
            if schema.isEmpty { context.note("no tables") }
            return .success
        }
    }
}
