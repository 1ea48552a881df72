import ArgumentParser
import CipherStore
import SyncEngine

/// Applies a bundle file.
struct BundleApplyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Apply a bundle file to a store.",
        usage: "syncctl bundle apply <store> <bundle> [--identity <file> | --plaintext] [<options>]",
        discussion: """
            All of it is applied or nothing. Exits with 3 when rows could not be written yet; they \
            are kept and tried again.

            EXAMPLE:
              syncctl bundle apply b.db a.bundle --bundle-passphrase-file pw
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The bundle file.", completion: .file())
    var bundle: String

    @OptionGroup var secret: BundleSecretOptions
    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let bundle: String
        let sender: String
        let rows: Int64
        let changed: Int64
        let conflicts: Int64
        let parked: Int64
        let new: Bool
    }

    func run() throws {
        try CommandContext.run(global) { context in
            try StoreFileCheck.requireStore(options.store)
            let access = try context.access(secret, for: bundle)
            let synchronizer = try Synchronizer(existing: context.open(options))
            Interruption.listen()
            let progress = context.progress("applying", unit: .bytes)
            defer { progress.finish() }
            let report: BundleReport
            do {
                report = try explainingBundle(bundle) {
                    try synchronizer.applyBundle(at: bundle, access, progress: progress.update)
                }
            } catch let error as SyncError where error.code == .missingChanges {
                throw Self.missing(error, options.store)
            }
            progress.finish()
            let applied = report.applied
            let document = Document(
                store: options.store, bundle: bundle, sender: report.sender.description,
                rows: applied?.rowCount ?? 0, changed: applied?.changedRowCount ?? 0,
                conflicts: applied?.conflictCount ?? 0,
                parked: applied?.parkedCount ?? 0, new: applied != nil)
            try context.print(document, text: Self.text(applied, options.store))
            if let old = report.renewedReplica {
                context.note(
                    "this store was replica \(old.shortDescription) and is a new one: its file is a copy, or was restored from an older one"
                )
            }
            return context.parkedRemark(applied?.parkedCount ?? 0, options.store)
        }
    }

    private static func text(_ applied: ApplySummary?, _ store: String) -> String {
        guard let applied else { return "nothing new for \(store)" }
        let known = applied.rowCount - applied.changedRowCount
        return "applied \(HumanFormat.count(Int(applied.changedRowCount), "row")) to \(store), "
            + (known > 0 ? "\(HumanFormat.count(Int(known))) known before, " : "")
            + ExchangeText.conflicts(applied.conflictCount)
    }

    private static func missing(_ error: SyncError, _ store: String) -> Failure {
        Failure(
            error.message,
            hints: [
                "say what is known here: syncctl bundle request \(CommandWords.path(store)) --to my.request",
                "then the sender makes one that fits: syncctl bundle create <its store> --known-by my.request --to new.bundle",
                "or one of everything: syncctl bundle create <its store> --since-nothing --to new.bundle",
            ])
    }
}

/// Shows what a bundle file holds.
struct BundleShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Check a bundle file, and show what it holds.",
        usage: "syncctl bundle show <bundle> [--identity <file> | --plaintext] [<options>]",
        discussion: """
            Each byte of the file is checked. No store is needed.

            EXAMPLE:
              syncctl bundle show a.bundle --bundle-passphrase-file pw
            """)

    @Argument(help: "The bundle file.", completion: .file())
    var bundle: String

    @OptionGroup var secret: BundleSecretOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        try CommandContext.run(global) { context in
            let access = try context.access(secret, for: bundle)
            Interruption.listen()
            let progress = context.progress("checking", unit: .bytes)
            defer { progress.finish() }
            let information = try explainingBundle(bundle) {
                try BundleFile.inspect(bundle, access, progress: progress.update)
            }
            progress.finish()
            let document = BundleDocument(bundle, information)
            try context.print(document, text: Self.text(document, information, context.terminal.outputStyle))
            return .success
        }
    }

    private static func text(
        _ bundle: BundleDocument, _ information: BundleFile.Information, _ style: Style
    ) -> String {
        let time = information.createdMilliseconds.map { HumanFormat.timestamp($0, style: .second) }
        let what = bundle.request ? "request" : "bundle of \(HumanFormat.count(Int(bundle.rows), "row"))"
        var lines = [
            "\(style.bold(bundle.bundle))  \(what), \(HumanFormat.bytes(bundle.bytes)), \(bundle.encrypted ? "encrypted" : "not encrypted"), every byte checked",
            "database \(bundle.database.prefix(4)), made by replica \(bundle.sender.prefix(4))\(time.map { " at \($0)" } ?? "")",
        ]
        if !bundle.tables.isEmpty {
            var table = Table([.text("TABLE"), .number("ROWS"), .number("DELETED")], indent: 2)
            for item in bundle.tables {
                table.addRow([
                    .init(item.name), .init(HumanFormat.count(Int(item.rows))),
                    .init(HumanFormat.count(Int(item.deleted))),
                ])
            }
            lines += table.lines(style: style)
        }
        var table = Table([.text("REPLICA"), .number("NEEDS UP TO"), .number("BRINGS UP TO")], indent: 2)
        for item in bundle.changes {
            table.addRow([
                .init(String(item.replica.prefix(4))), .init(HumanFormat.count(Int(item.after))),
                .init(HumanFormat.count(Int(item.upTo))),
            ])
        }
        if !bundle.changes.isEmpty { lines += table.lines(style: style) }
        return lines.joined(separator: "\n")
    }
}
