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

            --orphans says what happens to rows of these tables whose parent is deleted on another \
            replica: "hold" hides them until it comes back, "delete" deletes them, "set-null" \
            empties the columns that refer to it. It counts for this store; use the same in all \
            replicas.

            EXAMPLES:
              syncctl track notes.db note tag
              syncctl track notes.db comment --orphans delete
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The tables.")
    var tables: [String]

    @Option(help: "What happens to rows whose parent was deleted elsewhere: hold, delete or set-null.")
    var orphans: OrphanChoice?

    @OptionGroup var global: GlobalOptions

    /// The policies, as options are spelled.
    enum OrphanChoice: String, ExpressibleByArgument, CaseIterable {
        case hold
        case delete
        case setNull = "set-null"

        var policy: OrphanPolicy {
            switch self {
            case .hold: .hold
            case .delete: .delete
            case .setNull: .setNull
            }
        }
    }

    private struct Document: Encodable {
        let store: String
        let tracked: [String]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let synchronizer = try Synchronizer(existing: context.open(options))
            try synchronizer.track(tables)
            if let orphans {
                for table in tables { try synchronizer.setOrphanPolicy(orphans.policy, for: table) }
            }
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
