import ArgumentParser
import CipherStore
import Foundation
import SyncEngine

/// Checks a store or an archive.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check a store, its keyring and its sync metadata, or an archive, for damage.",
        usage: "syncctl verify <store> [--deep | --remote <store> [--repair]] [<options>]",
        discussion: """
            Checks that each page, and each frame of the write-ahead log, is what somebody with the \
            key wrote; the size of the file; the keyring; the triggers and the numbers of \
            synchronization. --deep also checks the structure of tables and indexes, foreign keys, \
            and each row against its versions, and names triggers, views, indexes and tables of other \
            programs that reach into what synchronization keeps for itself. Nothing is changed, and the \
            store may be in use.

            --remote compares the store with another one that knows the same changes, row by row and \
            value by value, and lists the rows that differ. That finds what a program changed while \
            nothing tracked it. --repair merges these rows; values that lose are kept as conflicts, and \
            rows that came that way to this store count as inserted now.

            A file whose name ends in .csa is checked as an archive, all of it.

            Exits with 16 when something is damaged, and with 1 when the system does not let a part be \
            read, the disk is full, or the copy of the keyring is missing, which is no damage. A store that can't be written is checked as it \
            is. An old copy of the whole file that somebody put in its place can't be noticed: see \
            docs/threat-model.md.

            EXAMPLES:
              syncctl verify notes.db --deep
              syncctl verify notes.db --remote stick/notes.db --repair
              syncctl verify backup.csa --archive-passphrase-file pw4
            """)

    @OptionGroup var options: StoreOptions

    @Flag(help: "Check the content, too.")
    var deep = false

    @Option(
        name: [.customShort("r"), .customLong("remote")],
        help: ArgumentHelp("Compare with the file of another store.", valueName: "store"), completion: .file()
    )
    var remote: String?

    @Flag(help: "Make the rows equal that differ from those of the remote.")
    var repair = false

    @OptionGroup(title: "Passphrase of the remote (default: the store's)")
    var remotePassphrase: RemotePassphraseOptions
    @OptionGroup var archive: ArchiveSecretOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        let isArchive = ArchiveName.isExistingArchive(options.store)
        if remote == nil && (repair || remotePassphrase.isPassphraseGiven) {
            throw ValidationError("--repair and the remote's passphrase go with --remote <store>")
        }
        if remote != nil && (isArchive || deep) {
            throw ValidationError("--remote compares stores, and all of their rows; it goes without --deep")
        }
        if remote?.isEmpty == true { throw ValidationError("the name of the remote is empty") }
        if let remote, RemoteArgument(remote).isPlace {
            throw ValidationError(
                "a \(RemoteArgument(remote).isFolder ? "folder" : "bucket") holds changes and no rows to compare with; name the file of a store"
            )
        }
        if archive.isGiven && !isArchive {
            throw ValidationError(
                "--identity and an archive passphrase go with a file whose name ends in \(ArchiveName.suffix)"
            )
        }
        if isArchive && (options.isPassphraseGiven || options.keyFile != nil) {
            throw ValidationError("an archive is opened by --archive-passphrase-file or --identity")
        }
    }

    private struct Document: Encodable {
        struct Problem: Encodable {
            let kind: String
            let message: String
            let page: Int?
            let table: String?
        }
        let store: String
        let sound: Bool
        let deep: Bool
        let pages: Int
        let badPages: Int
        let walFrames: Int
        let problemCount: Int
        let problems: [Problem]
        let unknown: [String]
        let advice: [String]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let isArchive = ArchiveName.isExistingArchive(options.store)
            try isArchive
                ? StoreFileCheck.requireArchive(options.store) : StoreFileCheck.requireStore(options.store)
            if let remote { return try compare(with: remote, context) }
            if isArchive { return try verifyArchive(context) }
            let secret = try context.storeSecret(options)
            Interruption.listen()
            // Where it can't be read either, it was not opened, which the report says.
            context.noteObstacle(toWriting: options.store, "checked as it is")
            return try show(check(secret, context), context)
        }
    }

    private func check(_ secret: Secret, _ context: CommandContext) throws -> StoreCheckReport {
        let progress = PageProgress(context)
        let isDeep = deep
        var content: ElapsedLine?
        defer { content?.finish() }
        let report = try StoreCheck.run(
            path: options.store, opening: secret, isDeep: isDeep,
            progress: { step in
                try progress.update(step)
                guard isDeep, content == nil, step.completedPageCount == step.totalPageCount else { return }
                // SQLite's own check follows, which does not say how far it is.
                progress.finish()
                content = ElapsedLine("content", terminal: context.terminal)
            },
            further: { try MetadataCheck.problems(of: $0, isDeep: isDeep) })
        progress.finish()
        return report
    }

    private func compare(with remote: String, _ context: CommandContext) throws -> ExitStatus {
        try RemoteComparison(
            options: options, remote: remote, passphrase: remotePassphrase, repairs: repair
        ).run(context)
    }

    private func show(_ report: StoreCheckReport, _ context: CommandContext) throws -> ExitStatus {
        let advice = Self.advice(for: report.problems, store: options.store)
        let document = Document(
            store: options.store, sound: report.isSound, deep: deep, pages: report.pageCount,
            badPages: report.badPageCount, walFrames: report.walFrameCount,
            problemCount: report.problemCount,
            problems: report.problems.map {
                .init(kind: $0.kind.rawValue, message: $0.message, page: $0.page, table: $0.table)
            }, unknown: report.unknownNames, advice: advice)
        try context.print(document, text: text(report, context))
        if !report.unknownNames.isEmpty {
            context.note(
                "indexes that need what only the app has were not compared with their tables: \(report.unknownNames.joined(separator: ", "))"
            )
        }
        for line in advice { context.note("hint: \(line)") }
        return report.isSound ? .success : report.isDamaged ? .integrityFailed : .failure
    }

    private func text(_ report: StoreCheckReport, _ context: CommandContext) -> String {
        let frames =
            report.walFrameCount == 0
            ? "" : ", " + HumanFormat.count(report.walFrameCount, "frame") + " in the WAL"
        let summary = "\(options.store): \(HumanFormat.count(report.pageCount, "page"))\(frames)"
        guard !report.isSound else { return "\(summary), no damage found" }
        var table = Table([.text("KIND"), .text("TABLE"), .text("PROBLEM")], indent: 2)
        for line in ProblemLine.lines(report) {
            table.addRow([
                Table.Cell(line.kind.rawValue, .red), Table.Cell(line.table ?? "-"), Table.Cell(line.text),
            ])
        }
        let rest = report.problemCount - report.problems.count
        return "\(summary), \(HumanFormat.count(report.problemCount, "problem"))\n"
            + table.text(style: context.terminal.outputStyle)
            + (rest > 0 ? "\n  and \(HumanFormat.count(rest, "more problem"))" : "")
    }

    /// What to do about the kinds of problems that there are.
    private static func advice(for problems: [StoreProblem], store: String) -> [String] {
        let kinds = Set(problems.map(\.kind))
        let name = CommandWords.path(store)
        var advice: [String] = []
        if !kinds.isDisjoint(with: [.page, .size, .wal, .structure, .unreadable]) {
            advice.append(
                "keep a copy of \(name) as it is, then take another replica (syncctl init <new> --clone <replica>) or a backup (syncctl init <new> --from <backup>.csa)"
            )
            advice.append("look at the disk: what damaged one file may damage others")
        }
        if kinds.contains(.access) {
            advice.append(
                FileObstacle.find(store)?.hint
                    ?? "let this user read \(name) and the files beside it, and free some space")
        }
        if !kinds.isDisjoint(with: [.keyring, .keyringCopy]) { advice += KeyringAdvice(store: store).lines }
        if kinds.contains(.reference) {
            advice.append("rows without their parents come from a program that writes with foreign keys off")
        }
        if kinds.contains(.metadata) {
            advice.append(
                "changes may not have been tracked: clone another replica, or export the rows (syncctl export) and import them into a new store"
            )
        }
        if kinds.contains(.schema) {
            advice.append(
                "drop what reaches into the metadata with a program that made it, or the sqlcipher shell; where nobody made it, clone another replica and retire this one (syncctl replica retire)"
            )
        }
        return advice
    }

    // MARK: - Archives

    private struct ArchiveDocument: Encodable {
        let archive: String
        let sound: Bool
        let created: String
        let databaseBytes: Int
    }

    /// Damage is an error here, which names the place.
    private func verifyArchive(_ context: CommandContext) throws -> ExitStatus {
        let secret = try context.archiveSecret(archive, for: options.store)
        Interruption.listen()
        let progress = PageProgress(context)
        let information: StoreArchive.Information
        do {
            information = try StoreArchive.verify(options.store, opening: secret, progress: progress.update)
        } catch let error as StoreError {
            throw Failure.explainingArchive(options.store, error)
        }
        progress.finish()
        let created = information.createdMilliseconds
        try context.print(
            ArchiveDocument(
                archive: options.store, sound: true, created: HumanFormat.timestamp(created),
                databaseBytes: information.databaseByteCount),
            text:
                "\(options.store): made \(HumanFormat.timestamp(created, style: .second)), \(HumanFormat.bytes(information.databaseByteCount)), no damage found"
        )
        return .success
    }
}
