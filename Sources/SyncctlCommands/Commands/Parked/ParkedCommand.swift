import ArgumentParser
import CipherStore
import SyncEngine

/// The rows that wait for their place.
struct ParkedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "parked",
        abstract: "Show the rows that wait for their place, and why.",
        discussion: """
            A row waits when a constraint stands against it: another row has its UNIQUE value, its \
            parent was deleted elsewhere, a column must not be NULL, a CHECK fails; or when its table \
            or column does not exist here. It is kept, sent to other replicas, and shown as soon as it \
            can be.

            EXAMPLES:
              syncctl parked notes.db
              syncctl parked list notes.db --table tag --json
              syncctl parked show notes.db 0190f5fe-7c00-7a00-8000-00000000000b
              syncctl parked retry notes.db
            """,
        subcommands: [ParkedListCommand.self, ParkedShowCommand.self, ParkedRetryCommand.self],
        defaultSubcommand: ParkedListCommand.self)
}

/// A parked row in a JSON document.
struct ParkedDocument: Encodable {
    let table: String
    let key: String
    let reason: String
    let message: String
    let since: String?
    let otherTable: String?
    let otherKey: String?

    init(_ row: ParkedRow) {
        table = row.table
        key = row.keyText
        reason = row.reason.rawValue
        message = row.message
        since = row.sinceMilliseconds.flatMap { $0 > 0 ? HumanFormat.timestamp($0) : nil }
        otherTable = row.otherTable
        otherKey = row.otherKeyText
    }
}

extension ParkedRow {
    /// The row that stands against this one, for people.
    var otherText: String {
        guard let key = otherKeyText else { return "" }
        return reason == .missingParent ? "waits for \(key)" : "has to give way to \(key)"
    }
}

/// Lists the rows that wait.
struct ParkedListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the rows that wait.",
        usage: "syncctl parked [list] <store> [--table <table>] [--limit <limit>] [<options>]",
        discussion: """
            EXAMPLE:
              syncctl parked notes.db --table tag
            """)

    @OptionGroup var options: StoreOptions

    @Option(help: "Only the rows of this table.")
    var table: String?

    @Option(help: "How many rows to show at most.")
    var limit = 100

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    private struct Document: Encodable {
        let store: String
        let rows: [ParkedDocument]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let synchronizer = try Synchronizer(existing: context.openForReading(options))
            let rows = try synchronizer.parkedRows(table: table, limit: limit)
            if let table, rows.isEmpty { try synchronizer.requireTable(table) }
            try context.print(
                Document(store: options.store, rows: rows.map { ParkedDocument($0) }),
                text: text(rows, context))
            return .success
        }
    }

    private func text(_ rows: [ParkedRow], _ context: CommandContext) -> String {
        if rows.isEmpty { return "no rows wait" }
        var output = Table([.text("TABLE"), .text("KEY"), .text("SINCE"), .text("REASON"), .text("")])
        for row in rows {
            let since = row.sinceMilliseconds.flatMap {
                $0 > 0 ? HumanFormat.timestamp($0, style: .second) : nil
            }
            output.addRow([
                .init(row.table), .init(row.keyText), .init(since ?? "-"), .init(row.message, .yellow),
                .init(row.otherText),
            ])
        }
        let more = rows.count == limit ? ["shown are \(limit) rows; see --limit"] : []
        return ([output.text(style: context.terminal.outputStyle)] + more).joined(separator: "\n")
    }
}

/// Shows one row that waits, with its values.
struct ParkedShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a row that waits, with its values.",
        usage: "syncctl parked show <store> <key> [--table <table>] [<options>]",
        discussion: """
            EXAMPLE:
              syncctl parked show notes.db 0190f5fe-7c00-7a00-8000-00000000000b
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The row's key, or its first characters.")
    var key: String

    @Option(help: "Only a row of this table.")
    var table: String?

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let row: ParkedDocument
        let values: [String: String?]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let synchronizer = try Synchronizer(existing: context.openForReading(options))
            let found = try synchronizer.parkedRows(table: table).filter {
                $0.keyText.lowercased().hasPrefix(key.lowercased())
            }
            guard let row = found.first else {
                throw Failure(
                    "no row that waits has a key that begins with \(key)",
                    hints: ["see them all with: syncctl parked \(CommandWords.path(options.store))"])
            }
            guard found.count == 1 else {
                throw Failure(
                    "\(found.count) rows that wait have a key that begins with \(key)",
                    hints: ["give more of the key, or --table"])
            }
            let values = row.values.sorted { $0.key < $1.key }.map { ($0.key, text($0.value)) }
            try context.print(
                Document(
                    store: options.store, row: ParkedDocument(row),
                    values: Dictionary(values, uniquingKeysWith: { first, _ in first })),
                text: text(row, values, context))
            return .success
        }
    }

    private func text(_ value: DatabaseValue) -> String? {
        if case .null = value.storage { return nil }
        return RowText.csv([value]).trimmingCharacters(in: .newlines)
    }

    private func text(_ row: ParkedRow, _ values: [(String, String?)], _ context: CommandContext) -> String {
        let style = context.terminal.outputStyle
        var lines = [
            "\(style.bold(PrintableText.escaped(row.table)))  \(PrintableText.escaped(row.keyText))",
            "  " + PrintableText.escaped(row.message),
        ]
        if !row.otherText.isEmpty { lines.append("  " + PrintableText.escaped(row.otherText)) }
        var output = CellTable()
        for (name, value) in values { output.add(name, value) }
        return (lines + output.lines(style)).joined(separator: "\n")
    }

    /// Names and values below each other.
    private struct CellTable {
        private var table = Table([.text("COLUMN"), .text("VALUE")], indent: 2)

        mutating func add(_ name: String, _ value: String?) {
            table.addRow([.init(name), value.map { .init($0) } ?? .init("NULL", .dim)])
        }

        func lines(_ style: Style) -> [String] { table.isEmpty ? [] : table.lines(style: style) }
    }
}

/// Tries again to write what waits.
struct ParkedRetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Try again to write the rows that wait.",
        usage: "syncctl parked retry <store> [<options>]",
        discussion: """
            It happens by itself at each synchronization; this is for in between.

            EXAMPLE:
              syncctl parked retry notes.db
            """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let shown: Int64
        let parked: Int64
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let synchronizer = try Synchronizer(existing: context.open(options))
            let shown = try synchronizer.retryParkedRows()
            let parked = try synchronizer.status().parkedCount
            try context.print(
                Document(store: options.store, shown: shown, parked: parked),
                text: "\(HumanFormat.count(Int(shown), "row")) found \(shown == 1 ? "its" : "their") place; "
                    + "\(HumanFormat.count(Int(parked), "row")) still \(parked == 1 ? "waits" : "wait")")
            return .success
        }
    }
}
