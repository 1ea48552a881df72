import ArgumentParser
import CipherStore
import SyncEngine
import SyncWire

/// Writes changes into a file.
struct BundleCreateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Write changes into an encrypted file.",
        usage:
            "syncctl bundle create <store> --to <file> (--known-by <file> | --for <replica> | --since-nothing) [--recipient <recipient> | --plaintext] [<options>]",
        discussion: """
            What the receiver knows already decides what the bundle holds:
              --known-by       all that a request or bundle of the receiver lacks
              --for            all that came since that replica was last heard of
              --since-nothing  everything; any replica can apply it

            EXAMPLES:
              syncctl bundle create a.db --known-by b.request --to a.bundle
              syncctl bundle create a.db --for 5c1e --to a.bundle \\
                --bundle-passphrase-file pw
            """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var lock: BundleLockOptions

    @Option(
        help: ArgumentHelp("A request or another bundle that the receiver made.", valueName: "file"),
        completion: .file())
    var knownBy: String?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("The receiver, as syncctl status shows it.", valueName: "replica"))
    var receiver: String?

    @Flag(help: "Write everything.")
    var sinceNothing = false

    @Option(help: ArgumentHelp("Write these tables only.", valueName: "table,…"))
    var tables: TableList?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        let count = [knownBy != nil, receiver != nil, sinceNothing].filter { $0 }.count
        if count == 0 {
            throw ValidationError("say what the receiver knows: --known-by, --for or --since-nothing")
        }
        if count > 1 { throw ValidationError("--known-by, --for and --since-nothing exclude each other") }
    }

    private struct Document: Encodable {
        let store: String
        let to: String
        let rows: Int64
        let bytes: Int
        let encrypted: Bool
    }

    func run() throws {
        try CommandContext.run(global) { context in
            try StoreFileCheck.requireStore(options.store)
            try StoreFileCheck.requirePlace(of: lock.to)
            try StoreFileCheck.requireFree(lock.to)
            if let knownBy { try StoreFileCheck.requireBundle(knownBy) }
            let synchronizer = try Synchronizer(existing: context.openForReading(options, makesFiles: true))
            let protection = try context.protection(lock)
            let base = try base(synchronizer, context)
            Interruption.listen()
            let progress = context.progress("writing")
            defer { progress.finish() }
            let summary = try synchronizer.writeBundle(
                to: lock.to, since: base, scope: tables.map { .tables($0.names) } ?? .everything, protection,
                progress: progress.update)
            progress.finish()
            let rows = HumanFormat.count(Int(summary.rowCount), "row")
            try context.print(
                Document(
                    store: options.store, to: lock.to, rows: summary.rowCount,
                    bytes: Int(summary.byteCount), encrypted: !lock.plaintext),
                text:
                    "created \(lock.to)  (\(rows), \(HumanFormat.bytes(Int(summary.byteCount))), \(lock.plaintext ? "not encrypted" : "encrypted"))"
            )
            if summary.rowCount == 0 { context.note("the receiver has all of it already") }
            return .success
        }
    }

    private func base(_ synchronizer: Synchronizer, _ context: CommandContext) throws -> BundleBase {
        if sinceNothing { return .nothing }
        if let receiver { return .replica(try Self.replica(receiver, synchronizer.status(), options.store)) }
        guard let knownBy else { return .nothing }
        let access = try access(knownBy, context)
        let information = try explainingBundle(knownBy) { try BundleFile.inspect(knownBy, access) }
        let status = try synchronizer.status()
        guard information.store == status.store else {
            throw Failure.refused(
                "\(knownBy) belongs to another database",
                hints: [
                    "replicas of one database are made with: syncctl init <new> --clone \(CommandWords.path(options.store))"
                ])
        }
        guard information.sender != status.replica else {
            throw Failure(
                "\(knownBy) was made by this store itself",
                hints: ["the receiver makes one with: syncctl bundle request <its store> --to <file>"])
        }
        return .vector(information.target)
    }

    /// A request is opened with what locks the new bundle, or needs nothing.
    private func access(_ path: String, _ context: CommandContext) throws -> BundleFile.Access {
        guard try SealedFileReader.isSealed(path) else { return .plaintext }
        guard let passphrase = try context.passphrase(lock.passphrase, for: path, isNew: false) else {
            throw Failure.usage("no passphrase for \(path)", hints: ["use --bundle-passphrase-file"])
        }
        return .sealed(ArchiveSecret(passphrase))
    }

    /// Finds a replica by the first digits of its identifier.
    static func replica(_ text: String, _ status: SyncStatus, _ store: String) throws -> ReplicaID {
        let digits = text.lowercased()
        let found = status.peers.map(\.replica).filter { $0.description.hasPrefix(digits) }
        guard let first = found.first, !digits.isEmpty else {
            throw Failure(
                "\(store) never heard of a replica \(text)",
                hints: ["those that it heard of: syncctl status \(CommandWords.path(store))"])
        }
        guard found.count == 1 else {
            throw Failure.usage("several replicas begin with \(text)", hints: ["give more of its digits"])
        }
        return first
    }
}

/// Says in a file what a store knows.
struct BundleRequestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "request",
        abstract: "Write a small file that says what this store knows.",
        usage:
            "syncctl bundle request <store> --to <file> [--recipient <recipient> | --plaintext] [<options>]",
        discussion: """
            It holds no rows: the identifiers of replicas, and how many changes of each are known here.

            EXAMPLE:
              syncctl bundle request b.db --to b.request
            """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var lock: BundleLockOptions
    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let to: String
        let encrypted: Bool
    }

    func run() throws {
        try CommandContext.run(global) { context in
            try StoreFileCheck.requireStore(options.store)
            try StoreFileCheck.requirePlace(of: lock.to)
            try StoreFileCheck.requireFree(lock.to)
            let synchronizer = try Synchronizer(existing: context.openForReading(options, makesFiles: true))
            try synchronizer.writeRequest(to: lock.to, try context.protection(lock))
            try context.print(
                Document(store: options.store, to: lock.to, encrypted: !lock.plaintext),
                text: "created \(lock.to)  (a request, \(lock.plaintext ? "not encrypted" : "encrypted"))")
            return .success
        }
    }
}
