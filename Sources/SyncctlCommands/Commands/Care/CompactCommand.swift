import ArgumentParser
import CipherStore
import SyncEngine

/// Drops what nobody needs any more.
struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Forget deletions that every replica knows, drop old history, shrink the file.",
        usage: "syncctl compact <store> [--dry-run] [<options>]",
        discussion: """
            A replica that nothing was heard of for the lease, 90 days, is retired. It loses nothing: \
            when it comes back, it gets a new identity and all rows, and what it wrote is kept.

            EXAMPLES:
              syncctl compact notes.db --dry-run
              syncctl compact notes.db --history-count 10000 --history-days 365
            """)

    @OptionGroup var options: StoreOptions

    @Flag(name: .customLong("dry-run"), help: "Only say what would be dropped.")
    var isDryRun = false

    @Option(help: ArgumentHelp("Retire replicas that were not seen for so many days.", valueName: "days"))
    var lease = 90

    @Option(help: ArgumentHelp("Keep so many changes in the history, from now on.", valueName: "number"))
    var historyCount: Int64?

    @Option(help: ArgumentHelp("Keep changes in the history for so long, from now on.", valueName: "days"))
    var historyDays: Int64?

    @OptionGroup var global: GlobalOptions

    private static let dayMilliseconds: Int64 = 24 * 60 * 60 * 1000
    private static let daysMax: Int64 = 36_500

    func validate() throws {
        guard (1...Int(Self.daysMax)).contains(lease) else {
            throw ValidationError("--lease is a number of days from 1 to \(Self.daysMax)")
        }
        if let historyDays, !(0...Self.daysMax).contains(historyDays) {
            throw ValidationError("--history-days is a number of days from 0 to \(Self.daysMax)")
        }
        if let historyCount, historyCount < 0 {
            throw ValidationError("--history-count is not negative")
        }
    }

    private struct Document: Encodable {
        let store: String
        let dryRun: Bool
        let forgottenDeletions: Int64
        let keptDeletions: Int64
        let history: Int64
        let retired: [String]
        let waitingFor: [String]
        let bytesBefore: Int64
        let bytesAfter: Int64
        let repaired: Repaired
    }

    private struct Repaired: Encodable {
        let rows: Int64
        let replicas: Int64
        let names: Int64
        let claims: Int64

        init(_ report: MetadataRepairReport) {
            (rows, replicas) = (report.rowCount, report.replicaCount)
            (names, claims) = (report.nameCount, report.claimCount)
        }
    }

    func run() throws {
        try CommandContext.run(global) { context in
            var settings = CompactionOptions()
            settings.leaseMilliseconds = Int64(lease) * Self.dayMilliseconds
            settings.historyCount = historyCount
            settings.historyMilliseconds = historyDays.map { $0 * Self.dayMilliseconds }
            let report = try Synchronizer(existing: context.open(options))
                .compact(settings, isDryRun: isDryRun)
            let document = Document(
                store: options.store, dryRun: isDryRun, forgottenDeletions: report.forgottenDeletionCount,
                keptDeletions: report.keptDeletionCount, history: report.historyEntryCount,
                retired: report.retiredReplicas.map(\.description),
                waitingFor: report.awaitedReplicas.map(\.description), bytesBefore: report.byteCountBefore,
                bytesAfter: report.byteCountAfter, repaired: Repaired(report.repair))
            try context.print(document, text: text(report))
            return .success
        }
    }

    /// What was taken out that a peer had planted, and that nobody uses.
    private static func repairs(_ repair: MetadataRepairReport, isDryRun: Bool) -> [String] {
        let verb = isDryRun ? "would drop" : "dropped"
        return [
            (
                repair.rowCount, "version of the far future or of a last life, whose row stays",
                "versions of the far future or of last lives, whose rows stay"
            ),
            (repair.claimCount, "number that no replica reaches", "numbers that no replica reaches"),
            (repair.replicaCount, "replica of which nothing is known", "replicas of which nothing is known"),
            (repair.nameCount, "table or column that nobody used", "tables and columns that nobody used"),
        ].filter { $0.0 > 0 }.map { count, one, many in
            "\(verb) \(HumanFormat.count(Int(count), one, plural: many))"
        }
    }

    private func text(_ report: CompactionReport) -> String {
        let verb = isDryRun ? "would forget" : "forgot"
        var lines = [
            "\(verb) \(HumanFormat.count(Int(report.forgottenDeletionCount), "deletion")) and "
                + "\(HumanFormat.count(Int(report.historyEntryCount), "entry", plural: "entries")) of the history"
        ]
        lines += Self.repairs(report.repair, isDryRun: isDryRun)
        for replica in report.retiredReplicas {
            lines.append(
                "\(isDryRun ? "would retire" : "retired") replica \(replica.shortDescription): not seen for \(lease) days"
            )
        }
        if report.keptDeletionCount > 0 {
            let names = report.awaitedReplicas.map(\.shortDescription).joined(separator: ", ")
            lines.append(
                "\(HumanFormat.count(Int(report.keptDeletionCount), "deletion")) kept"
                    + (names.isEmpty ? "" : " until it is known that they know them: \(names)"))
        }
        if !isDryRun {
            lines.append(
                "\(HumanFormat.bytes(Int(report.byteCountBefore))) before, "
                    + "\(HumanFormat.bytes(Int(report.byteCountAfter))) now")
        }
        return lines.joined(separator: "\n")
    }
}
