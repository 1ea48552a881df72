import ArgumentParser
import CipherStore
import SyncEngine

/// Resolves conflicts.
struct ConflictsResolveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Close conflicts, or write the lost values again.",
        usage:
            "syncctl conflicts resolve <store> (<id> ... | --all [--table <table>]) (--keep | --restore [--partial]) [<options>]",
        discussion: """
            A restored value is an edit of now, which other replicas get. A row that was deleted is \
            inserted again as a whole. Where some of its values are not known, that is refused, unless \
            --partial says that these columns are to get their defaults, on all replicas. Either all \
            of the conflicts are resolved, or none.

            EXAMPLES:
              syncctl conflicts resolve notes.db 12 13 --restore
              syncctl conflicts resolve notes.db --all --table note --keep
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The numbers of the conflicts.")
    var ids: [Int64] = []

    @Flag(help: "Close them: what is there stays.")
    var keep = false

    @Flag(help: "Write the values again that lost.")
    var restore = false

    @Flag(help: "With --restore: also deleted rows of which some values are not known here.")
    var partial = false

    @Flag(help: "All that are open.")
    var all = false

    @Option(help: "With --all: only those of one table.")
    var table: String?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if keep == restore { throw ValidationError("say what to do: either --keep or --restore") }
        if partial && !restore { throw ValidationError("--partial needs --restore") }
        if ids.isEmpty && !all { throw ValidationError("say which conflicts: their numbers, or --all") }
        if !ids.isEmpty && all { throw ValidationError("--all excludes numbers of conflicts") }
        if table != nil && !all { throw ValidationError("--table needs --all") }
    }

    private struct Document: Encodable {
        let store: String
        let resolved: Int
        let restoredValues: Int
        let restoredRows: Int
        let remaining: Int
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let synchronizer = try Synchronizer(existing: context.open(options))
            if let table { try synchronizer.requireTable(table) }
            let choice: ConflictChoice = keep ? .keepCurrent : partial ? .restoreKnown : .restoreLost
            let result =
                all
                ? try synchronizer.resolve(ConflictFilter(table: table), by: choice)
                : try synchronizer.resolve(ids, by: choice)
            try context.print(
                Document(
                    store: options.store, resolved: result.resolvedCount,
                    restoredValues: result.restoredValueCount, restoredRows: result.restoredRowCount,
                    remaining: result.remainingCount), text: text(result))
            return result.remainingCount > 0 ? .attention : .success
        }
    }

    private func text(_ result: ConflictResolution) -> String {
        var text = "\(HumanFormat.count(result.resolvedCount, "conflict")) closed"
        if restore {
            text += ", \(HumanFormat.count(result.restoredValueCount, "value")) restored"
            if result.restoredRowCount > 0 {
                text += ", \(HumanFormat.count(result.restoredRowCount, "deleted row")) inserted again"
            }
        } else if result.resolvedCount > 0 {
            text += ", nothing else changed"
        }
        if result.remainingCount > 0 {
            text += """

                \(HumanFormat.count(result.remainingCount, "conflict")) still open: of several lost values of a \
                column only the newest was restored, or the column is not here
                """
        }
        return text
    }
}
