import ArgumentParser
import CipherStore
import Foundation
import SyncEngine
import SyncHTTP

/// The options of the three commands that exchange changes with a remote.
struct RemoteOptions: ParsableArguments {
    @Option(
        name: [.customShort("r"), .customLong("remote")],
        help: ArgumentHelp(
            "The file of the other store, dir:<folder> for a shared folder, or the name of a server (default: default).",
            valueName: "store"),
        completion: .file())
    var given: String?

    /// What is synchronized with: the server that `init --join` or `remote add` remembered, unless
    /// something else is named.
    var remote: String { given ?? RemoteBook.defaultName }

    @OptionGroup var scope: ScopeOptions

    @OptionGroup(title: "Passphrase of the remote (default: the store's; a folder needs one of its own)")
    var passphrase: RemotePassphraseOptions

    func validate() throws {
        if remote == "dir:" { throw ValidationError("--remote dir: names no folder") }
        if FolderRemote.path(of: remote) != nil && scope.scope != nil {
            throw ValidationError(
                "a folder holds all tables: --tables and --all-tables go with another store")
        }
    }
}

/// Sends changes to a remote.
struct PushCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Send this store's changes to another store.",
        usage: "syncctl push <store> [--remote <store>] [<options>]",
        discussion: """
            EXAMPLE:
              syncctl push a.db --remote b.db --remote-passphrase-file pw2
            """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        try Exchange(direction: .push, options: options, remote: remote, global: global).run()
    }
}

/// Brings changes from a remote.
struct PullCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull",
        abstract: "Bring another store's changes here.",
        usage: "syncctl pull <store> [--remote <store>] [<options>]",
        discussion: """
            EXAMPLE:
              syncctl pull a.db --remote b.db --remote-passphrase-file pw2
            """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var global: GlobalOptions

    func run() throws {
        try Exchange(direction: .pull, options: options, remote: remote, global: global).run()
    }
}

/// Exchanges changes with a remote.
struct SyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Exchange changes with another store, both ways.",
        usage: "syncctl sync <store> [--remote <store>] [<options>]",
        discussion: """
            Each direction is applied as a whole or not at all. Exits with 3 when rows could not \
            be written yet; they are kept and tried again.

            A folder that files go through, on a stick or kept equal on several machines by a program \
            such as Syncthing, connects any number of replicas. Its files are encrypted under a \
            passphrase of the folder. --snapshot adds a copy of the whole store, tables that are not \
            tracked too, from which new replicas begin with: syncctl init <store> --join dir:<folder>

            With --tables, some tables only are exchanged with this remote, now and from then on; nothing \
            is deleted in the others. --all-tables brings what was left out.

            Without --remote it is the server that the store was enrolled with: syncctl init --join, or \
            syncctl remote add.

            EXAMPLES:
              syncctl sync a.db
              syncctl sync a.db --remote b.db --remote-passphrase-file pw2
              syncctl sync a.db --remote b.db --remote-passphrase-file pw2 --tables note,tag
              syncctl sync a.db --remote dir:/media/stick/notes --remote-passphrase-file pw3
            """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var remote: RemoteOptions

    @Flag(help: "Put a snapshot into the folder, from which new replicas can begin.")
    var snapshot = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if snapshot && FolderRemote.path(of: remote.remote) == nil {
            throw ValidationError("--snapshot goes with a folder: --remote dir:<folder>")
        }
    }

    func run() throws {
        try Exchange(
            direction: .both, options: options, remote: remote, global: global, addsSnapshot: snapshot
        ).run()
    }
}

/// What the three commands do.
private struct Exchange {
    let direction: SyncDirection
    let options: StoreOptions
    let remote: RemoteOptions
    let global: GlobalOptions
    var addsSnapshot = false

    private struct DivergenceDocument: Encodable {
        let rows: Int
        let tables: [String]
        let repaired: Bool
        let reason: String?

        init(_ divergence: Divergence) {
            rows = divergence.rowCount
            tables = divergence.tables.map(\.name)
            repaired = divergence.isRepaired
            reason = divergence.failure?.message
        }
    }

    private struct Document: Encodable {
        let store: String
        let remote: String
        let pulled: Int64
        let pushed: Int64
        let conflicts: Int64
        let parked: Int64
        let divergence: DivergenceDocument?
        let bytesPulled: Int64
        let bytesPushed: Int64
        let tables: [String]?
        let seconds: Double
    }

    func run() throws {
        if let folder = FolderRemote.path(of: remote.remote) {
            return try FolderExchange(
                direction: direction, options: options, remote: remote, folder: folder,
                addsSnapshot: addsSnapshot
            ).run(global)
        }
        try CommandContext.run(global) { context in
            try StoreFileCheck.requireExisting(options.store)
            guard !isServer else { return try runWithServer(context) }
            try StoreFileCheck.requireReplica(remote.remote, of: options.store)
            let own = try context.storeSecret(options)
            var other = own
            if let passphrase = try context.passphrase(remote.passphrase, for: remote.remote) {
                other = KeySlotSecret(passphrase)
            }
            Interruption.listen()
            let synchronizer = try Synchronizer(existing: context.open(options.store, own))
            let transport = StoreTransport(path: remote.remote, configuration: context.configuration(other))
            return try run(direction, synchronizer, transport, context)
        }
    }

    /// Whether the remote is a server: nothing is named, or none else.
    private var isServer: Bool { remote.given.map(ServerArgument.isServer) ?? true }

    private func runWithServer(_ context: CommandContext) throws -> ExitStatus {
        guard !remote.passphrase.isGiven else {
            throw Failure.usage(
                "a server needs no passphrase: the store has a device key",
                hints: ["name another store with --remote <file>"])
        }
        let secret = try context.storeSecret(options)
        Interruption.listen()
        let synchronizer = try Synchronizer(existing: context.open(options.store, secret))
        let book = try RemoteBook(synchronizer)
        let known = try ServerArgument.remote(remote.remote, in: book, isGiven: remote.given != nil)
        let transport = try book.transport(known.name, options: InviteArgument.options())
        guard known.isReadOnly && direction == .both else {
            return try run(direction, synchronizer, transport, context)
        }
        context.note("\(known.name) takes no changes from this device: pulling only")
        return try run(.pull, synchronizer, transport, context)
    }

    private func run(
        _ direction: SyncDirection, _ synchronizer: Synchronizer, _ transport: some Transport,
        _ context: CommandContext
    ) throws -> ExitStatus {
        try choose(synchronizer, transport.name, context)
        let start = ContinuousClock.now
        let report = try exchange(direction, synchronizer, transport, context)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let document = Document(
            store: options.store, remote: remote.remote, pulled: report.pulled?.rowCount ?? 0,
            pushed: report.pushed?.rowCount ?? 0, conflicts: report.conflictCount,
            parked: report.parkedCount, divergence: report.divergence.map(DivergenceDocument.init),
            bytesPulled: report.pulled?.byteCount ?? 0, bytesPushed: report.pushed?.byteCount ?? 0,
            tables: try synchronizer.scope(ofRemote: transport.name).tableNames,
            seconds: (seconds * 1000).rounded() / 1000)
        try context.print(document, text: text(direction, report))
        return try remarks(report, context)
    }

    /// Keeps what was chosen with the remote.
    private func choose(_ synchronizer: Synchronizer, _ remote: String, _ context: CommandContext) throws {
        guard let scope = self.remote.scope.scope else { return }
        let missing = try synchronizer.setScope(scope, ofRemote: remote)
        guard !missing.isEmpty else { return }
        context.note(
            "rows that refer to rows of \(missing.joined(separator: ", ")) stay hidden until these come: choose these tables too"
        )
    }

    private func exchange(
        _ direction: SyncDirection, _ synchronizer: Synchronizer, _ transport: some Transport,
        _ context: CommandContext
    ) throws -> SyncReport {
        let progress = ExchangeProgress(context)
        defer { progress.finish() }
        return try synchronizer.run(direction, transport, progress: progress.update)
    }

    private func text(_ direction: SyncDirection, _ report: SyncReport) -> String {
        ExchangeText(direction: direction, pulled: report.pulled, pushed: report.pushed)
            .parts.joined(separator: ", ")
    }

    private func remarks(_ report: SyncReport, _ context: CommandContext) throws -> ExitStatus {
        for replica in report.renewedReplicas {
            context.note(
                "replica \(replica.shortDescription) is new: its file is a copy of another one, or was restored from an older one"
            )
        }
        if let reason = report.unrecordedReason {
            context.note("the changes were exchanged, but the contact could not be noted: \(reason)")
        }
        for (transfer, path) in [(report.pulled, options.store), (report.pushed, remote.remote)] {
            _ = context.parkedRemark(transfer?.parkedCount ?? 0, path)
        }
        let status = context.divergenceRemark(report.divergence, options.store, remote.remote)
        guard status == .success else { return status }
        return report.parkedCount > 0 || report.unrecordedReason != nil ? .attention : .success
    }
}
