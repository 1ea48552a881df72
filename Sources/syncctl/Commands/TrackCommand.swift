import ArgumentParser
import CipherStore
import SyncEngine

/// Starts the tracking of tables.
struct TrackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "track",
        abstract: "Track tables, so that their rows are synchronized.",
        usage: "syncctl track <store> <table> ... [<options>]",
        discussion: """
            A table needs one UUID column as its primary key: blobs of 16 bytes, or text of 36 \
            characters. From then on every program's writes are tracked, also those of the plain \
            sqlcipher shell.

            EXAMPLE:
              syncctl track notes.db note tag
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The tables.")
    var tables: [String]

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let tracked: [String]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let synchronizer = try Synchronizer(existing: context.open(options))
            try synchronizer.track(tables)
            let status = try synchronizer.status()
            try context.print(
                Document(store: options.store, tracked: status.tables.map(\.name)),
                text: status.tables.map {
                    "tracking \($0.name)  (\(HumanFormat.count(Int($0.rowCount), "row")))"
                }.joined(separator: "\n"))
            return .success
        }
    }
}
