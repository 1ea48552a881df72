import ArgumentParser
import CipherStore
import SyncEngine

/// Shows a conflict beside the value that stands.
struct ConflictsShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a conflict beside the value that stands now.",
        usage: "syncctl conflicts show <store> <id> [<options>]",
        discussion: """
            With --json, values are complete. In the text they are cut to one line.

            EXAMPLE:
              syncctl conflicts show notes.db 12
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The number of the conflict, as \"syncctl conflicts list\" shows it.")
    var id: Int64

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let conflict: ConflictDocument
        let rowExists: Bool
        let current: JSONValue?
        let others: [ConflictDocument]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let synchronizer = try Synchronizer(existing: context.openForReading(options))
            guard let detail = try synchronizer.conflict(id: id) else {
                throw SyncError(.noSuchConflict, "there is no conflict \(id)")
            }
            try context.print(
                Document(
                    store: options.store, conflict: ConflictDocument(detail.conflict),
                    rowExists: detail.rowExists, current: detail.current.map { JSONValue($0) },
                    others: detail.others.map(ConflictDocument.init)), text: text(detail, context))
            return .success
        }
    }

    private func text(_ detail: ConflictDetail, _ context: CommandContext) -> String {
        let conflict = detail.conflict
        let style = context.terminal.outputStyle
        let state =
            conflict.resolution.map {
                "\($0.rawValue) at \(HumanFormat.timestamp(conflict.resolvedMilliseconds ?? 0, style: .second))"
            } ?? "open"
        var table = Table([.text(""), .text("")], indent: 2)
        table.addRow([.init("row", .dim), .init("\(conflict.table) \(conflict.keyText)")])
        table.addRow([.init("column", .dim), .init(conflict.column)])
        table.addRow([
            .init("lost", .dim),
            .init("\(ConflictText.value(conflict.lost, columns: 200))  (\(written(conflict.origin)))"),
        ])
        table.addRow([.init("now", .dim), .init(now(detail))])
        table.addRow([.init("why", .dim), .init(why(conflict))])
        for other in detail.others {
            table.addRow([
                .init(other.reason == .row ? "rest" : "also", .dim),
                .init("\(other.column) \(ConflictText.value(other.lost, columns: 200))"),
            ])
        }
        // Another replica may have brought the value back, which closes nothing here.
        if conflict.resolution == nil, detail.current == conflict.lost {
            let store = CommandWords.path(options.store)
            table.addRow([
                .init("so", .dim),
                .init(
                    "the value is there again; close it with: syncctl conflicts resolve \(store) \(conflict.id) --keep"
                ),
            ])
        }
        return (["\(style.bold("conflict \(conflict.id)"))  \(state)"] + table.lines(style: style))
            .joined(separator: "\n")
    }

    private func now(_ detail: ConflictDetail) -> String {
        if let current = detail.current { return ConflictText.value(current, columns: 200) }
        return detail.rowExists ? "the column is not here" : "the row is not here"
    }

    private func written(_ writer: Conflict.Writer) -> String {
        let time = ConflictText.time(writer)
        return "written \(writer.isLocal ? "here" : "by \(writer.replica.shortDescription)")"
            + (time.isEmpty ? "" : " at \(time)")
    }

    private func why(_ conflict: Conflict) -> String {
        let winner = conflict.winner.isLocal ? "here" : "by \(conflict.winner.replica.shortDescription)"
        let time = ConflictText.time(conflict.winner)
        let at = time.isEmpty ? "" : " at \(time)"
        switch conflict.reason {
        case .newer: return "a newer value was written \(winner)\(at)"
        case .deleted: return "the row was deleted \(winner)\(at)"
        case .mergeFailed: return "the merge policy of the column failed"
        case .row: return "it is the rest of a row of which a delete discarded an edit"
        }
    }
}
