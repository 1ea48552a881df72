import ArgumentParser
import CipherStore
import SyncEngine

/// Starts the tracking of tables.
struct TrackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "track",
        abstract: "Track tables, so that their rows are synchronized.",
        usage: "syncctl track <store> <table> ... [--counter <table.column>] ... [<options>]",
        discussion: """
            A table needs one UUID column as its primary key: blobs of 16 bytes, or text of 36 \
            characters. From then on every program's writes are tracked, also those of the plain \
            sqlcipher shell.

            Of two values of a column that were written apart, the later one stands. A column that counts             can be declared a counter: then what each replica adds is summed up. That holds for all             replicas, and can't be taken back.

            EXAMPLES:
              syncctl track notes.db note tag
              syncctl track notes.db note --counter note.stars
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The tables.")
    var tables: [String]

    @Option(
        name: .customLong("counter"), parsing: .singleValue,
        help: ArgumentHelp(
            "A column of integers that counts; may be given several times.", valueName: "table.column"))
    var counters: [String] = []

    @OptionGroup var global: GlobalOptions

    func validate() throws { _ = try policies() }

    /// The table is what stands before the last dot.
    private func policies() throws -> [ColumnPolicy] {
        try counters.map { text in
            guard let dot = text.lastIndex(of: "."), dot != text.startIndex,
                text.index(after: dot) != text.endIndex
            else { throw ValidationError("--counter takes a table and a column, such as note.stars") }
            return .counter(String(text[..<dot]), String(text[text.index(after: dot)...]))
        }
    }

    private struct Document: Encodable {
        let store: String
        let tracked: [String]
        let counters: [String]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let synchronizer = try Synchronizer(existing: context.open(options))
            try synchronizer.track(tables, policies: policies())
            let status = try synchronizer.status()
            let counters = try synchronizer.policies().filter { $0.kind == .counter }
            let lines = status.tables.map { table in
                let columns = counters.filter { $0.table == table.name }.map(\.column)
                let remark =
                    columns.isEmpty
                    ? "" : "  counting in \(columns.map(PrintableText.escaped).joined(separator: ", "))"
                return "tracking \(table.name)  (\(HumanFormat.count(Int(table.rowCount), "row")))\(remark)"
            }
            try context.print(
                Document(
                    store: options.store, tracked: status.tables.map(\.name),
                    counters: counters.map { "\($0.table).\($0.column)" }),
                text: lines.joined(separator: "\n"))
            return .success
        }
    }
}
