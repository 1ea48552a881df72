import ArgumentParser
import CipherStore
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Runs SQL on a store.
struct SQLCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sql",
        abstract: "Run SQL on a store, or open a shell for it.",
        usage: "syncctl sql <store> [<statement>] [--write] [--csv | --jsonl | --json] [<options>]",
        discussion: """
            Without a statement, statements come from standard input, or, at a terminal, from a shell in \
            which they end with a semicolon; .help tells its commands.

            The store is opened for reading only, unless --write is given. With it, rows can be inserted, \
            updated and deleted; several statements are applied as a whole or not at all, but for the shell, \
            where each one is on its own. Definitions, the tables of synchronization, other files and \
            settings can't be changed in either way.

            EXAMPLES:
              syncctl sql notes.db 'SELECT title FROM note ORDER BY stars DESC'
              syncctl sql notes.db --csv 'SELECT * FROM note' > notes.csv
              syncctl sql notes.db --write "UPDATE note SET stars = 5"
              syncctl sql notes.db < report.sql
              syncctl sql notes.db
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The statement.")
    var statement: String?

    @Flag(help: "Allow rows to be written.")
    var write = false

    @Flag(help: "Print CSV.")
    var csv = false

    @Flag(help: "Print a JSON object for each row.")
    var jsonl = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if [csv, jsonl, global.isJSON].count(where: { $0 }) > 1 {
            throw ValidationError("--csv, --jsonl and --json exclude each other")
        }
        if let statement, statement.allSatisfy({ $0.isWhitespace || $0 == ";" }) {
            throw ValidationError("the statement is empty")
        }
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let isShell =
                statement == nil && !global.isJSON && CommandSurroundings.current == nil
                && isatty(STDIN_FILENO) == 1
            if !isShell && statement == nil { try refuseSharedInput(context) }
            let session = SQLSession(queue: try open(context), allowsWriting: write)
            if isShell {
                try SQLShell(
                    session: session, terminal: context.terminal, makeWriter: { makeWriter(context) }
                ).run()
                return .success
            }
            let text = try statement ?? Self.readInput()
            Interruption.listen()
            if CommandSurroundings.current == nil {
                Interruption.onRequest { [queue = session.queue] in queue.interrupt() }
            }
            let writer = makeWriter(context)
            try session.run(text, into: writer)
            try finish(writer)
            return .success
        }
    }

    /// Prints what is printed when all statements have run. Their changes are committed by then.
    private func finish(_ writer: any ResultWriter) throws {
        do {
            try writer.finish()
        } catch {
            guard write else { throw error }
            var failure = Failure(explaining: error, store: options.store)
            failure.hints.append("the statements have run, and what they changed stays")
            throw failure
        }
    }

    private func open(_ context: CommandContext) throws -> DatabaseQueue {
        try StoreFileCheck.requireStore(options.store)
        var configuration = context.configuration(try context.storeSecret(options))
        if !write {
            configuration.readonly = true
            configuration.journalMode = .default
        }
        let queue = try DatabaseQueue(path: options.store, configuration: configuration)
        if !write { context.noteObstacle(toWriting: options.store) }
        return queue
    }

    private func makeWriter(_ context: CommandContext) -> any ResultWriter {
        if global.isJSON { return JSONResultWriter(store: options.store, terminal: context.terminal) }
        if csv || jsonl { return LinesResultWriter(isCSV: csv, terminal: context.terminal) }
        return TableResultWriter(context)
    }

    /// A passphrase that is read to the end of standard input leaves no statements there.
    private func refuseSharedInput(_ context: CommandContext) throws {
        guard options.keyFile == nil,
            try options.passphraseSource(environment: context.environment) == .descriptor(STDIN_FILENO)
        else { return }
        throw Failure.usage(
            "standard input can't be both the passphrase and the statements",
            hints: ["give the passphrase with --passphrase-file or --passphrase-command"])
    }

    /// The longest text that is taken from standard input.
    private static let maximumInputBytes = 16 << 20

    private static func readInput() throws -> String {
        var data = Data()
        while let part = try FileHandle.standardInput.read(upToCount: 1 << 16), !part.isEmpty {
            data.append(part)
            guard data.count <= maximumInputBytes else {
                throw Failure("the statements are longer than \(HumanFormat.bytes(maximumInputBytes))")
            }
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw Failure("the statements are not valid UTF-8")
        }
        return text
    }
}
