import ArgumentParser
import CipherStore
import Foundation
import SyncEngine

extension TextExport.Format: ExpressibleByArgument {}

/// Exports a store.
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export a store: encrypted, as an archive or under another key, or in plain text.",
        usage:
            "syncctl export <store> [--to <file>] [--recipient <recipient> | --plaintext | --format <format> [--table <table>]] [<options>]",
        discussion: """
            EXAMPLES:
              An archive for backups, under a passphrase of its own:
                syncctl export a.db --to backup.csa --to-passphrase-file pw4
              For the holder of a private key (see: syncctl help key identity):
                syncctl export a.db --to backup.csa --recipient csr1-…
              A store under another key:
                syncctl export a.db --to c.db --to-passphrase-file pw4
              An SQLite file that is not encrypted:
                syncctl export a.db --to plain.sqlite --plaintext
              CSV on standard output:
                syncctl export a.db --format csv --table flight
              CSV of all tables, a file each:
                syncctl export a.db --format csv --to folder

            A file whose name ends in .csa is an archive: one encrypted file that is authenticated as \
            a whole. A store is made of it with: syncctl init --from. An encrypted copy is a replica \
            of its own, and can be synchronized. Neither has the keys of this store's device, its \
            membership, its remotes or its server. CSV, JSON lines, \
            SQL and --plaintext are not encrypted: whoever reads the file reads everything.
            """)

    @OptionGroup var options: StoreOptions

    @Option(
        name: .customLong("to"),
        help: ArgumentHelp(
            "The new file, or a new folder for CSV and JSON lines of all tables; - or nothing is standard output.",
            valueName: "file"),
        completion: .file())
    var destination: String?

    /// The new file or folder; nil for standard output.
    private var to: String? { destination == "-" ? nil : destination }

    @Option(help: ArgumentHelp("Make an archive for this recipient.", valueName: "recipient"))
    var recipient: String?

    @OptionGroup(title: "Passphrase of the copy")
    var toPassphrase: TargetPassphraseOptions

    @Flag(help: "Write an SQLite file that is not encrypted.")
    var plaintext = false

    @Option(help: "Write text: csv, jsonl or sql.")
    var format: TextExport.Format?

    @Option(help: "Export this table only (text formats).")
    var table: String?

    @Flag(help: "Write an apostrophe before texts that a spreadsheet would take for formulas (csv only).")
    var escapeFormulas = false

    @OptionGroup var cost: FileCostOptions

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        let isText = plaintext || format != nil
        if isText && toPassphrase.isPassphraseGiven {
            throw ValidationError(
                "--plaintext and --format write files that are not encrypted; they take no passphrase")
        }
        if let recipient {
            guard ArchiveRecipient(recipient) != nil else {
                throw ValidationError("--recipient is no recipient, or has a typing error")
            }
            guard let to, ArchiveName.isArchive(to) else {
                throw ValidationError("--recipient makes an archive; end its name with \(ArchiveName.suffix)")
            }
            if toPassphrase.isPassphraseGiven { throw ValidationError("--recipient excludes a passphrase") }
        }
        if cost.cost != nil && (isText || recipient != nil || to.map(ArchiveName.isArchive) != true) {
            throw ValidationError("--cost goes with the passphrase of an archive")
        }
        if isText && recipient != nil { throw ValidationError("--recipient goes with archives only") }
        if isText, let to, ArchiveName.isArchive(to) {
            throw ValidationError(
                "a name that ends in \(ArchiveName.suffix) is that of an encrypted archive, and this is not encrypted: choose another name, such as \((to as NSString).deletingPathExtension).\(format?.rawValue ?? "sqlite")"
            )
        }
        if plaintext && format != nil { throw ValidationError("--plaintext and --format exclude each other") }
        if table != nil && format == nil { throw ValidationError("--table needs --format csv, jsonl or sql") }
        if escapeFormulas && format != .csv { throw ValidationError("--escape-formulas needs --format csv") }
        if format == nil && to == nil {
            throw ValidationError(
                "name the new file with --to; only text, of --format, goes to standard output")
        }
        if let format, format != .sql, table == nil, to == nil {
            throw ValidationError(
                "CSV and JSON lines of a store are a folder with a file for each table: add --to <folder>, or --table <table>"
            )
        }
    }

    private struct Document: Encodable {
        let store: String
        let to: String?
        let format: String
        let rows: Int64?
        /// Tables and others in whose definitions SQLite's shell changes line ends; absent without any.
        var changedDefinitions: [String]?
        /// What `import` refuses of the file, the first of it, and how much that is; absent without any.
        var refused: [ImportRefusal]?
        var refusedCount: Int?

        mutating func add(_ remarks: ExportRemarks) {
            if !remarks.changedDefinitions.isEmpty { changedDefinitions = remarks.changedDefinitions }
            guard remarks.refusalCount > 0 else { return }
            refused = remarks.refusals
            refusedCount = remarks.refusalCount
        }
    }

    func run() throws {
        try CommandContext.run(global) { context in
            if let to {
                try StoreFileCheck.requirePlace(of: to)
                // Nobody is asked for a passphrase to make what can't be made.
                if format == nil { try StoreFileCheck.requireFree(to) }
            }
            let queue = try context.openForReading(options, makesFiles: format == nil)
            if let format {
                Interruption.listen()
                let remarks = ExportRemarks()
                let rows = try exportText(queue, format, remarks, context)
                if let to {
                    var document = Document(
                        store: options.store, to: to, format: format.rawValue, rows: rows)
                    document.add(remarks)
                    try report(document, context)
                }
                for text in remarks.texts { context.noteAtEnd(text) }
            } else if let to {
                let kind = plaintext ? "sqlite" : ArchiveName.isArchive(to) ? "archive" : "store"
                try exportDatabase(queue, to, context)
                try report(Document(store: options.store, to: to, format: kind, rows: nil), context)
            }
            return .success
        }
    }

    private func report(_ document: Document, _ context: CommandContext) throws {
        let rows = document.rows.map { HumanFormat.count(Int($0), "row") + ", " } ?? ""
        let kind =
            switch document.format {
            case "store": "encrypted, a replica of its own"
            case "archive": "encrypted, for \(recipient == nil ? "its passphrase" : "the recipient")"
            default: "\(rows)not encrypted"
            }
        try context.print(document, text: "exported \(options.store) to \(document.to ?? "")  (\(kind))")
    }

    private func exportDatabase(_ queue: DatabaseQueue, _ path: String, _ context: CommandContext) throws {
        let synchronizer = try Synchronizer(existing: queue)
        if plaintext {
            Interruption.listen()
            try synchronizer.exportPlaintext(to: path)
            return
        }
        if let recipient = recipient.flatMap({ ArchiveRecipient($0) }) {
            try archive(synchronizer, path, ArchiveLock(recipient: recipient), context)
            return
        }
        guard let passphrase = try context.passphrase(toPassphrase, for: path, isNew: true) else {
            throw Failure.usage(
                "no passphrase for \(path)",
                hints: ["use --to-passphrase-file, or --plaintext for a file that is not encrypted"])
        }
        guard !ArchiveName.isArchive(path) else {
            let lock = ArchiveLock(passphrase: passphrase, cost: try cost.scrypt)
            try archive(synchronizer, path, lock, context)
            return
        }
        Interruption.listen()
        let progress = PageProgress(context)
        try synchronizer.clone(to: path, passphrase: passphrase, progress: progress.update)
        progress.finish()
    }

    private func archive(
        _ synchronizer: Synchronizer, _ path: String, _ lock: ArchiveLock, _ context: CommandContext
    ) throws {
        Interruption.listen()
        let progress = PageProgress(context)
        try synchronizer.archive(to: path, lock: lock, progress: progress.update)
        progress.finish()
    }

    private func exportText(
        _ queue: DatabaseQueue, _ format: TextExport.Format, _ remarks: ExportRemarks,
        _ context: CommandContext
    ) throws -> Int64 {
        let progress = context.progress("exporting")
        defer { progress.finish() }
        return try queue.read { db in
            let export = TextExport(
                db: db, terminal: context.terminal, progress: progress, escapesFormulas: escapeFormulas,
                remarks: remarks)
            let tables = try TextExport.tables(db)
            if let table {
                guard let name = tables.first(where: { $0.isSameIdentifier(as: table) }) else {
                    throw Failure(
                        "there is no table \(table)", hints: ["tables: \(tables.joined(separator: ", "))"])
                }
                return try removingLeftovers(of: to) { try export.write(name, format, to: to) }
            }
            guard format != .sql, let to else {
                return try removingLeftovers(of: to) { try export.writeScript(to: to) }
            }
            return try writeFolder(to, TextExport.contentTables(db), format, export)
        }
    }

    /// Writes a file, after what killed exports to the same name have left was removed.
    private func removingLeftovers(of file: String?, _ body: () throws -> Int64) throws -> Int64 {
        guard let file else { return try body() }
        return try FileReplacement.removingLeftovers(
            of: file, purpose: OutputFile.purpose, sparing: options.store, body)
    }

    private func writeFolder(
        _ path: String, _ tables: [String], _ format: TextExport.Format, _ export: TextExport
    ) throws -> Int64 {
        try FileReplacement.removingLeftovers(
            of: OutputFolder.trimmed(path), purpose: OutputFolder.purpose, isFolder: true,
            sparing: options.store
        ) {
            let folder = try OutputFolder(path)
            do {
                var count: Int64 = 0
                var names = TableFileNames()
                for table in tables {
                    let name = names.name(of: table, format.rawValue)
                    count += try export.write(
                        table, format, to: folder.file(name), shownAs: "\(path)/\(name)")
                }
                try folder.finish()
                return count
            } catch {
                folder.discard()
                throw error
            }
        }
    }
}
