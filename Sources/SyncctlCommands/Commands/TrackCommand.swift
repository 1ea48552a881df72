import ArgumentParser
import CipherStore
import Foundation
import SyncEngine

/// Starts the tracking of tables.
struct TrackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "track",
        abstract: "Track tables, so that their rows are synchronized.",
        usage:
            "syncctl track <store> <table> ... [--counter|--max|--min <table.column>] ... [--convert-keys [--all]] [<options>]",
        discussion: """
            A table needs one UUID column as its primary key: blobs of 16 bytes, or text of 36 \
            characters. From then on every program's writes are tracked, also those of the plain \
            sqlcipher shell.

            Of two values of a column that were written apart, the later one stands. A column that counts \
            can be declared a counter: then what each replica adds is summed up. That holds for all \
            replicas, and can't be taken back. Of a column declared with --max the greater of both values \
            stands, with --min the smaller one: see docs/merging.md.

            With --convert-keys, integer keys, other text keys, keys of several columns and bare rowids \
            become UUIDs before, and all that refers to them follows. Replicas that convert \
            the same rows get the same keys: see docs/keys.md before you convert more than one.

            --orphans says what happens to rows of these tables whose parent is deleted on another \
            replica: "hold" hides them until it comes back, "delete" deletes them, "set-null" \
            empties the columns that refer to it. Rows whose foreign key has several columns, or refers \
            to another column than the primary key, are hidden in any case. It counts for this store; \
            use the same in all replicas.

            EXAMPLES:
              syncctl track notes.db note tag
              syncctl track notes.db note --counter note.stars
              syncctl track notes.db article --max article.read_until
              syncctl track notes.db --convert-keys --all --dry-run
              syncctl track notes.db note tag --convert-keys --backup before.db
              syncctl track notes.db comment --orphans delete
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The tables.")
    var tables: [String] = []

    @OptionGroup(title: "Conversion of keys")
    var conversion: KeyConversionOptions

    @Option(help: "What happens to rows whose parent was deleted elsewhere: hold, delete or set-null.")
    var orphans: OrphanChoice?

    @Option(
        name: .customLong("counter"), parsing: .singleValue,
        help: ArgumentHelp(
            "A column of integers that counts; may be given several times.", valueName: "table.column"))
    var counters: [String] = []

    @Option(
        name: .customLong("max"), parsing: .singleValue,
        help: ArgumentHelp(
            "A column of which the greatest value stands; may be given several times.",
            valueName: "table.column"))
    var greatest: [String] = []

    @Option(
        name: .customLong("min"), parsing: .singleValue,
        help: ArgumentHelp(
            "A column of which the smallest value stands; may be given several times.",
            valueName: "table.column"))
    var smallest: [String] = []

    @OptionGroup var global: GlobalOptions

    /// The tables, each once however often it was named.
    private var names: [String] {
        var seen: Set<String> = []
        return tables.filter { seen.insert($0.identifierKey).inserted }
    }

    private func policies() throws -> [ColumnPolicy] {
        try columns(counters, "--counter").map { .counter($0.table, $0.column) }
            + columns(greatest, "--max").map { .max($0.table, $0.column) }
            + columns(smallest, "--min").map { .min($0.table, $0.column) }
    }

    /// The table is what stands before the last dot.
    private func columns(_ texts: [String], _ option: String) throws -> [(table: String, column: String)] {
        try texts.map { text in
            guard let dot = text.lastIndex(of: "."), dot != text.startIndex,
                text.index(after: dot) != text.endIndex
            else { throw ValidationError("\(option) takes a table and a column, such as note.stars") }
            return (String(text[..<dot]), String(text[text.index(after: dot)...]))
        }
    }

    /// The policies, as options are spelled.
    enum OrphanChoice: String, ExpressibleByArgument, CaseIterable {
        case hold
        case delete
        case setNull = "set-null"

        var policy: OrphanPolicy {
            switch self {
            case .hold: .hold
            case .delete: .delete
            case .setNull: .setNull
            }
        }
    }

    private struct Document: Encodable {
        let store: String
        let tracked: [String]
        let counters: [String]
        let max: [String]
        let min: [String]
        let conversion: KeyConversionReport?
    }

    func validate() throws {
        if conversion.all && !tables.isEmpty { throw ValidationError("--all excludes names of tables") }
        if !conversion.all && tables.isEmpty { throw ValidationError("name the tables to track") }
        if conversion.backup != nil && options.keyFile != nil {
            throw ValidationError(
                "--backup copies the store under its passphrase, and a key file is none; use syncctl export before"
            )
        }
        if conversion.dryRun, try !policies().isEmpty {
            throw ValidationError("--dry-run excludes --counter, --max and --min")
        }
        _ = try policies()
        try requireOneOptionForEachColumn()
    }

    /// A column has one policy. Of two options for it, one would count without a word.
    private func requireOneOptionForEachColumn() throws {
        var options: [String: String] = [:]
        for (option, texts) in [("--counter", counters), ("--max", greatest), ("--min", smallest)] {
            for text in texts {
                let earlier = options.updateValue(option, forKey: text.identifierKey)
                guard let earlier, earlier != option else { continue }
                throw ValidationError("\(earlier) and \(option) exclude each other for one column: \(text)")
            }
        }
    }

    func run() throws {
        try CommandContext.run(global) { context in
            var report: KeyConversionReport?
            let synchronizer: Synchronizer
            if conversion.convertKeys {
                (synchronizer, report) = try convert(context)
                try synchronizer.setPolicies(policies())
            } else {
                synchronizer = try Synchronizer(existing: context.open(options))
                try synchronizer.track(names, policies: policies())
            }
            let status = try synchronizer.status()
            if let orphans, !conversion.dryRun {
                for table in names.isEmpty ? status.tables.map(\.name) : names {
                    try synchronizer.setOrphanPolicy(orphans.policy, for: table)
                }
            }
            let policies = try conversion.dryRun ? [] : synchronizer.policies()
            let tracked = status.tables.map { table in
                let remark = Self.remark(policies.filter { $0.table.isSameIdentifier(as: table.name) })
                return
                    "tracking \(PrintableText.escaped(table.name))  (\(HumanFormat.count(Int(table.rowCount), "row")))\(remark)"
            }
            func columns(_ kind: ColumnPolicy.Kind) -> [String] {
                policies.filter { $0.kind == kind }.map { "\($0.table).\($0.column)" }
            }
            let lines = [report?.text(style: context.terminal.outputStyle)].compactMap { $0 }
            try context.print(
                Document(
                    store: options.store, tracked: status.tables.map(\.name),
                    counters: columns(.counter), max: columns(.max), min: columns(.min), conversion: report),
                text: (lines + (conversion.dryRun ? [] : tracked)).joined(separator: "\n"))
            if let advice = report?.advice { context.note(advice) }
            return .success
        }
    }

    /// What is said of the columns of a table that have a policy.
    private static func remark(_ policies: [ColumnPolicy]) -> String {
        let words: [(kind: ColumnPolicy.Kind, text: String)] = [
            (.counter, "counting in"), (.max, "greatest of"), (.min, "smallest of"),
        ]
        return words.map { word in
            let columns = policies.filter { $0.kind == word.kind }.map { PrintableText.escaped($0.column) }
            return columns.isEmpty ? "" : "  \(word.text) \(columns.joined(separator: ", "))"
        }.joined()
    }

    private func convert(_ context: CommandContext) throws -> (Synchronizer, KeyConversionReport) {
        let migration = try conversion.migration(of: names)
        Interruption.listen()
        guard let path = conversion.backup else {
            let queue = try context.open(options)
            return try convert(queue, migration, context)
        }
        try StoreFileCheck.requireStore(options.store)
        try StoreFileCheck.requirePlace(of: path)
        let passphrase = try context.storePassphrase(options, for: options.store)
        let queue = try context.open(options.store, Secret(passphrase))
        try requirePassphraseOfBackup(Secret(passphrase))
        let progress = context.progress("copying", unit: .items("pages"))
        try queue.writeWithoutTransaction { db in
            try StoreCopy.make(of: db, at: path, passphrase: passphrase) {
                try progress.update(Int64($0.completedPageCount), Int64($0.totalPageCount))
            }
        }
        progress.finish()
        do {
            return try convert(queue, migration, context)
        } catch let error as SyncError where [.keysNotConvertible, .noSuchTable].contains(error.code) {
            // Nothing was changed, and the copy would be in the way of the next attempt.
            try? FileManager.default.removeItem(atPath: path)
            throw error
        }
    }

    /// Refuses the text of a recovery key: the backup has no keyring, so that one would be its passphrase as it was typed, and
    /// in other letters or hyphens open nothing.
    private func requirePassphraseOfBackup(_ secret: Secret) throws {
        let keyring = Keyring(store: options.store)
        guard keyring.exists, try keyring.belongsToStore() else { return }
        guard try keyring.verify(secret).kind != .passphrase else { return }
        throw Failure(
            "the backup gets the passphrase that the store is opened with, and a recovery key is none",
            hints: [
                "open the store with a passphrase, or make an archive instead: syncctl export \(CommandWords.path(options.store)) --to <file>.csa"
            ])
    }

    private func convert(
        _ queue: DatabaseQueue, _ migration: UUIDKeyMigration, _ context: CommandContext
    ) throws -> (Synchronizer, KeyConversionReport) {
        let synchronizer = try Synchronizer(existing: queue)
        if conversion.dryRun {
            let plan = try queue.read { try migration.plan($0) }
            return (synchronizer, KeyConversionReport(plan, isDryRun: true))
        }
        let progress = context.progress("converting", unit: .items("keys"))
        let plan = try synchronizer.convertKeys(migration) { try progress.update($0, $1) }
        progress.finish()
        return (synchronizer, KeyConversionReport(plan, isDryRun: false))
    }
}
