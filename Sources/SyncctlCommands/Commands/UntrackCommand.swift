import ArgumentParser
import SyncEngine

/// Ends the tracking of tables.
struct UntrackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "untrack",
        abstract: "Take tables out of the synchronization; their rows stay.",
        usage: "syncctl untrack <store> <table> ... [--yes] [<options>]",
        discussion: """
            Nothing that is written to such a table is sent any more, and nothing of other replicas is \
            written into it. What they change waits beside the table, with a copy of its rows, so that this \
            store goes on to serve others.

            "syncctl track" merges all of it again: of a value that was changed on both sides, the other \
            replicas' stands and the one of here is kept as a conflict; rows that were deleted here come \
            back. An app that tracks its tables when it starts does so, too.

            On a terminal it asks before; --yes answers.

            EXAMPLES:
              syncctl untrack notes.db draft
              syncctl untrack notes.db draft scratch --yes
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The tables.")
    var tables: [String]

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let untracked: [String]
        let tracked: [String]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let synchronizer = try Synchronizer(existing: context.open(options))
            var seen: Set<String> = []
            let names = tables.filter { seen.insert($0.identifierKey).inserted }
            if !yes {
                try context.confirm(
                    "take \(names.joined(separator: ", ")) of \(options.store) out of the synchronization?")
            }
            try synchronizer.untrack(names)
            let tracked = try synchronizer.status().tables.map(\.name)
            try context.print(
                Document(store: options.store, untracked: names, tracked: tracked),
                text: names.map { "\(PrintableText.escaped($0)) is not tracked any more; its rows stay" }
                    .joined(separator: "\n"))
            return .success
        }
    }
}
