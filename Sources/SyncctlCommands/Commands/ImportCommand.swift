import ArgumentParser
import CipherStore
import Foundation
import SyncEngine

/// Imports a CSV file.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import a CSV file into a table.",
        usage: "syncctl import <store> <file> [--table <table>] [--track] [<options>]",
        discussion: """
            The file has a header, is UTF-8, and is read twice: first to learn the type of each \
            column (integer, real or text; empty fields and NA are NULL), then to import it. A \
            column of new UUIDs is added unless the file has a column id or uuid that holds one in \
            each row. The import is applied as a whole or not at all.

            EXAMPLE:
              syncctl import notes.db people.csv --table person --track
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The CSV file.", completion: .file())
    var file: String

    @Option(help: "The table; made when it is not there (default: the file's name).")
    var table: String?

    @Option(help: ArgumentHelp("The column that holds the UUID of each row.", valueName: "column"))
    var key: String?

    @Option(help: "What separates the fields: one character, or \"tab\".")
    var delimiter = ","

    @Flag(help: "Track the table, so that it is synchronized.")
    var track = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard delimiter == "tab" || delimiter.utf8.count == 1 else {
            throw ValidationError("--delimiter takes one ASCII character, or tab")
        }
    }

    private struct Document: Encodable {
        struct Column: Encodable {
            let name: String
            let type: String
        }
        let store: String
        let table: String
        let rows: Int64
        let key: String
        let columns: [Column]
        let tracked: Bool
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let name = table ?? URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
            guard !name.isEmpty, !name.lowercased().hasPrefix("_sync_"),
                !name.lowercased().hasPrefix("sqlite_")
            else {
                throw Failure.usage(
                    "\"\(name)\" can't be the name of a table", hints: ["name one with --table"])
            }
            try refuseDatabases()
            let queue = try context.open(options)
            Interruption.listen()
            let separator =
                delimiter == "tab" ? UInt8(ascii: "\t") : (delimiter.utf8.first ?? UInt8(ascii: ","))
            let job = CSVImport(path: file, delimiter: separator, table: name, keyColumn: key)
            let inference = try inspect(job, separator, context)
            let synchronizer = try Synchronizer(existing: queue)
            let summary = try queue.write { db in
                let summary = try job.run(db, inference, progress: context.progress("importing"))
                if track { try synchronizer.track([name], in: db) }
                return summary
            }
            try report(
                summary, name, isTracked: synchronizer.status().tables.contains { $0.name == name }, context)
            return .success
        }
    }

    /// Reads the file, and says what it looks like if that is not CSV.
    private func inspect(_ job: CSVImport, _ separator: UInt8, _ context: CommandContext) throws
        -> ColumnTypeInference
    {
        do {
            let inference = try job.inspect(progress: context.progress("reading", unit: .bytes))
            if inference.types.count == 1, let hint = CSVGuess.hint(file, delimiter: separator) {
                context.note("one column only; \(hint)")
            }
            return inference
        } catch let error as CSVError {
            var failure = Failure(explaining: error)
            if let hint = CSVGuess.hint(file, delimiter: separator) { failure.hints.insert(hint, at: 0) }
            throw failure
        }
    }

    /// A database given in place of a CSV file is a likely mistake.
    private func refuseDatabases() throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: file, isDirectory: &isFolder) else { return }
        if isFolder.boolValue { throw Failure("\(file) is a folder", hints: ["name a CSV file"]) }
        guard let handle = FileHandle(forReadingAtPath: file) else { return }
        defer { try? handle.close() }
        guard try handle.read(upToCount: 16) == Data("SQLite format 3\0".utf8) else { return }
        throw Failure(
            "\(file) is an SQLite database, not a CSV file",
            hints: [
                "encrypt it into a new store with: syncctl init <store> --from \(CommandWords.path(file))"
            ])
    }

    private func report(
        _ summary: CSVImport.Summary, _ name: String, isTracked: Bool, _ context: CommandContext
    ) throws {
        let types = Dictionary(grouping: summary.columns, by: \.type).map {
            (type: $0.key, count: $0.value.count)
        }
        .sorted { $0.type < $1.type }.map { "\($0.count) \($0.type.lowercased())" }.joined(separator: ", ")
        try context.print(
            Document(
                store: options.store, table: name, rows: summary.rowCount, key: summary.keyColumn,
                columns: summary.columns.map { .init(name: $0.name, type: $0.type) }, tracked: isTracked),
            text: """
                imported \(HumanFormat.count(Int(summary.rowCount), "row")) into \(name)\
                \(summary.isNewTable ? "" : ", which has \(HumanFormat.count(Int(summary.totalRowCount))) now")  \
                (key \(summary.keyColumn); \(types)\(isTracked ? "; tracked" : ""))
                """)
        if !isTracked {
            context.note(
                "next: syncctl track \(CommandWords.path(options.store)) \(CommandWords.operand(name))")
        }
    }
}
