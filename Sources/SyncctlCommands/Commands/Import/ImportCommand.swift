import ArgumentParser
import CipherStore
import Foundation
import SyncEngine

/// Imports a file of rows.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import a file of CSV or JSON Lines into a table.",
        usage: "syncctl import <store> <file> [--table <table>] [--track] [<options>]",
        discussion: """
            A CSV file has a header and is UTF-8. The file is read twice: first to learn the type of each \
            column, then to import it. A column becomes a number only when every value comes back as it was: \
            +49301234, 1.10 and 007 stay text. Fields that are empty or NA are NULL, unless they are in \
            quotes. A column of new UUIDs is added unless the file has a column id or uuid that holds one in \
            each row. The import is applied as a whole or not at all.

            JSON Lines, an object on each line, are known by the name (.jsonl) or by --format jsonl. The file - \
            is standard input.

            EXAMPLES:
              syncctl import notes.db people.csv --table person --track
              syncctl import notes.db codes.csv --type country=text --null ''
              syncctl import notes.db people.jsonl --table person --update
              gzip -dc people.csv.gz | syncctl import notes.db - --table person
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The file; - is standard input.", completion: .file())
    var file: String

    @Option(help: "The table; made when it is not there (default: the file's name).")
    var table: String?

    @Option(help: ArgumentHelp("The column that holds the UUID of each row.", valueName: "column"))
    var key: String?

    @Option(help: "How the file is written: csv or jsonl (default: by the file's name).")
    var format: ImportFormat.Name?

    @Option(help: "What separates the fields: one character, or \"tab\" (default: a comma).")
    var delimiter: String?

    @Option(
        name: .customLong("type"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "What a column holds: integer, real, numeric, text, blob (hexadecimal) or any; may be given several times.",
            valueName: "column=type"))
    var typeArguments: [TypeArgument] = []

    @Option(
        name: .customLong("null"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A field of CSV that means NULL where it is not in quotes; may be given several times (default: '' and NA).",
            valueName: "text"))
    var nullWords: [String] = []

    @Flag(help: "Write over rows whose key is there.")
    var update = false

    @Flag(help: "Say what would be imported, and change nothing.")
    var dryRun = false

    @Flag(help: "Track the table, so that it is synchronized.")
    var track = false

    @OptionGroup var global: GlobalOptions

    /// A column and its type.
    struct TypeArgument: ExpressibleByArgument {
        let column: String
        let type: ColumnType

        init?(argument: String) {
            guard let sign = argument.lastIndex(of: "="), sign != argument.startIndex,
                let type = ColumnType(rawValue: argument[argument.index(after: sign)...].uppercased())
            else { return nil }
            (column, self.type) = (String(argument[..<sign]), type)
        }
    }

    func validate() throws {
        if let delimiter, delimiter != "tab" {
            guard let byte = delimiter.utf8.first, delimiter.utf8.count == 1,
                CSVReader.canSeparateFields(byte)
            else {
                throw ValidationError(
                    "--delimiter takes one ASCII character other than a quote or a line end, or tab")
            }
        }
        if format == .jsonl && (delimiter != nil || !nullWords.isEmpty) {
            throw ValidationError("--delimiter and --null go with CSV; JSON has commas, and null")
        }
        if table == nil && (file == ImportSource.standardInput || file.hasPrefix("/dev/")) {
            throw ValidationError("name the table with --table")
        }
        let columns = typeArguments.map { $0.column.identifierKey }
        if Set(columns).count < columns.count { throw ValidationError("--type names a column twice") }
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let name = table ?? URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
            // What SQLite and synchronization keep for themselves is told by bytes.
            let isReserved = ["_sync_", "sqlite_"].contains {
                name.foldedIdentifier.utf8.starts(with: $0.utf8)
            }
            guard !name.isEmpty, !isReserved else {
                throw Failure.usage(
                    "\"\(name)\" can't be the name of a table", hints: ["name one with --table"])
            }
            try refuseDatabases()
            try refuseSharedInput(context)
            let queue = try context.open(options)
            Interruption.listen()
            let job = try makeJob(name, context)
            let inspection = try job.inspect(progress: context.progress("reading", unit: .bytes))
            let synchronizer = try Synchronizer(existing: queue)
            var summary = TableImport.Summary()
            try queue.inTransaction { db in
                summary = try job.run(db, inspection, progress: context.progress("importing"))
                if track { try synchronizer.track([name], in: db) }
                return dryRun ? .rollback : .commit
            }
            let isTracked =
                try (track && dryRun)
                || synchronizer.status().tables.contains { $0.name.isSameIdentifier(as: name) }
            let report = ImportReport(
                summary: summary, store: options.store, table: name, isTracked: isTracked, isUpdate: update,
                isDryRun: dryRun)
            try context.print(report.document, text: report.text)
            if !isTracked && !dryRun { context.note(try nextStep(name, queue)) }
            return .success
        }
    }

    /// How the table is tracked, or why it can't be.
    private func nextStep(_ table: String, _ queue: DatabaseQueue) throws -> String {
        let found = try queue.read { try StoreTable.load($0, tracked: [], named: table).first }
        if let obstacle = found?.obstacle {
            let name = PrintableText.escaped(table)
            return "\(name) can't be tracked as it is: \(obstacle); see: syncctl help track"
        }
        return "next: syncctl track \(CommandWords.path(options.store)) \(CommandWords.operand(table))"
    }

    private func makeJob(_ name: String, _ context: CommandContext) throws -> TableImport {
        let source = try ImportSource(
            reading: file, progress: context.progress("receiving", unit: .bytes))
        let separator = delimiter.flatMap { $0 == "tab" ? UInt8(ascii: "\t") : $0.utf8.first }
        var settings = TableImport.Settings()
        settings.format = try ImportFormat.of(source, name: format, delimiter: separator)
        if !nullWords.isEmpty { settings.nulls = NullWords(nullWords) }
        settings.types = typeArguments.map { (column: $0.column, type: $0.type) }
        (settings.keyColumn, settings.updates) = (key, update)
        return TableImport(source: source, table: name, settings: settings)
    }

    /// A passphrase that is read to the end of standard input leaves no rows there.
    private func refuseSharedInput(_ context: CommandContext) throws {
        guard file == ImportSource.standardInput, options.keyFile == nil,
            try options.passphraseSource(environment: context.environment) == .descriptor(STDIN_FILENO)
        else { return }
        throw Failure.usage(
            "standard input can't be both the passphrase and the rows",
            hints: ["give the passphrase with --passphrase-file or --passphrase-command"])
    }

    /// A database given in place of a file of rows is a likely mistake.
    private func refuseDatabases() throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: file, isDirectory: &isFolder) else { return }
        if isFolder.boolValue { throw Failure("\(file) is a folder", hints: ["name a CSV file"]) }
        // The first bytes of a pipe could not be read again.
        guard isRegularFile, let handle = FileHandle(forReadingAtPath: file) else { return }
        defer { try? handle.close() }
        guard try handle.read(upToCount: 16) == Data("SQLite format 3\0".utf8) else { return }
        throw Failure(
            "\(file) is an SQLite database, not a CSV file",
            hints: [
                "encrypt it into a new store with: syncctl init <store> --from \(CommandWords.path(file))"
            ])
    }

    private var isRegularFile: Bool {
        var status = stat()
        return stat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }
}
