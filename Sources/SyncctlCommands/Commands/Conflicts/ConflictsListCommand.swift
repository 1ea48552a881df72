import ArgumentParser
import CipherStore
import SyncEngine

/// Lists conflicts.
struct ConflictsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the conflicts that are open, newest first.",
        usage: "syncctl conflicts list <store> [--table <table>] [--resolved] [--limit <limit>] [<options>]",
        discussion: """
            The edits of a row that was deleted are one line: restoring any of them restores the row.

            EXAMPLE:
              syncctl conflicts list notes.db --table note --json
            """)

    @OptionGroup var options: StoreOptions

    @Option(help: "Only those of one table.")
    var table: String?

    @Flag(help: "List those that were resolved too.")
    var resolved = false

    @Option(help: "How many conflicts to show.")
    var limit = 100

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    private struct Document: Encodable {
        let store: String
        let open: Int
        let dropped: Int64
        let conflicts: [ConflictDocument]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let synchronizer = try Synchronizer(existing: context.openForReading(options))
            if let table { try synchronizer.requireTable(table) }
            let filter = ConflictFilter(state: resolved ? nil : .open, table: table, limit: limit)
            let conflicts = try synchronizer.conflicts(filter)
            let total = try synchronizer.conflictCount(filter)
            let document = Document(
                store: options.store, open: try synchronizer.conflictCount(ConflictFilter(table: table)),
                dropped: try synchronizer.droppedConflictCount(),
                conflicts: conflicts.map(ConflictDocument.init))
            try context.print(document, text: text(conflicts, context))
            if conflicts.contains(where: \.isOpen) {
                let store = CommandWords.path(options.store)
                context.note(
                    "resolve them with: syncctl conflicts resolve \(store) <id> ... --keep, or --restore")
            }
            if total > conflicts.count {
                context.note("\(HumanFormat.count(total - conflicts.count)) more; use --limit")
            }
            return .success
        }
    }

    private func text(_ conflicts: [Conflict], _ context: CommandContext) -> String {
        if conflicts.isEmpty { return resolved ? "no conflicts" : "no open conflicts" }
        var table = Table([
            .text("ID"), .text("TABLE"), .text("ROW"), .text("LOST"), .text("WRITTEN BY"), .text("AT"),
            .text("WON"), .text(resolved ? "RESOLVED" : ""),
        ])
        for group in groups(conflicts) {
            guard let first = group.first else { continue }
            let lost = group.map { "\($0.column) \(ConflictText.value($0.lost, columns: 24))" }
            table.addRow([
                .init(group.map { String($0.id) }.joined(separator: " ")), .init(first.table),
                .init(first.keyText), .init(lost.joined(separator: ", ")),
                .init(Set(group.map { ConflictText.writer($0.origin) }).sorted().joined(separator: ", ")),
                .init(ConflictText.time(first.origin)),
                .init(ConflictText.outcome(first), first.reason == .deleted ? .yellow : nil),
                .init(first.resolution?.rawValue ?? ""),
            ])
        }
        return table.text(style: context.terminal.outputStyle)
    }

    /// The edits of one life of a row that was deleted go together.
    private func groups(_ conflicts: [Conflict]) -> [[Conflict]] {
        var groups: [[Conflict]] = []
        for conflict in conflicts {
            let index = groups.firstIndex { group in
                conflict.reason == .deleted
                    && group.contains {
                        $0.reason == .deleted && $0.table == conflict.table && $0.key == conflict.key
                            && $0.life == conflict.life && $0.resolution == conflict.resolution
                    }
            }
            if let index { groups[index].insert(conflict, at: 0) } else { groups.append([conflict]) }
        }
        return groups
    }
}

extension Synchronizer {
    /// Refuses a table that the store does not know, which would look like one without conflicts.
    func requireTable(_ name: String) throws {
        let known = try status().tables.map(\.name)
        guard !known.contains(where: { $0.isSameIdentifier(as: name) }) else { return }
        guard try conflictCount(ConflictFilter(state: nil, table: name)) == 0 else { return }
        throw Failure(
            "no table \(name) is tracked",
            hints: known.isEmpty ? [] : ["tracked are: \(known.joined(separator: ", "))"])
    }
}
