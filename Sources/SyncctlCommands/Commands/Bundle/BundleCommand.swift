import ArgumentParser
import CipherStore
import SyncEngine
import SyncWire

/// Changes as files.
struct BundleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bundle",
        abstract: "Carry changes in files: on a stick, by mail.",
        discussion: """
            A bundle is one encrypted file of changes. It is applied as a whole or not at all, and \
            applying it twice changes nothing. It fits a store that has the changes that it builds on: \
            the receiver's request says which these are.

            EXAMPLES:
              On the machine that wants changes:
                syncctl bundle request b.db --to b.request
              On the other one:
                syncctl bundle create a.db --known-by b.request --to a.bundle
              And back on the first:
                syncctl bundle apply b.db a.bundle
            """,
        subcommands: [
            BundleCreateCommand.self, BundleRequestCommand.self, BundleApplyCommand.self,
            BundleShowCommand.self,
        ])
}

/// What opens bundle files.
struct BundleSecretOptions: ParsableArguments {
    @OptionGroup(title: "Passphrase of the bundle")
    var passphrase: BundlePassphraseOptions

    @Option(
        help: ArgumentHelp("Open a bundle that was made for a recipient.", valueName: "file"),
        completion: .file())
    var identity: String?

    @Flag(help: "Read a bundle that is not encrypted. Nothing tells who made it.")
    var plaintext = false

    func validate() throws {
        if [identity != nil, passphrase.isPassphraseGiven, plaintext].filter({ $0 }).count > 1 {
            throw ValidationError("--identity, --plaintext and a bundle passphrase exclude each other")
        }
    }
}

/// How bundle files are locked.
struct BundleLockOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The new file.", valueName: "file"), completion: .file())
    var to: String

    @OptionGroup(title: "Passphrase of the bundle")
    var passphrase: BundlePassphraseOptions

    @Option(
        help: ArgumentHelp(
            "Encrypt for this recipient (see: syncctl help key identity).", valueName: "recipient"))
    var recipient: String?

    @Flag(help: "Do not encrypt: whoever reads the file reads the rows.")
    var plaintext = false

    @OptionGroup var cost: FileCostOptions

    func validate() throws {
        if cost.cost != nil && (recipient != nil || plaintext) {
            throw ValidationError("--cost goes with a passphrase of the bundle")
        }
        if [recipient != nil, passphrase.isPassphraseGiven, plaintext].filter({ $0 }).count > 1 {
            throw ValidationError("--recipient, --plaintext and a bundle passphrase exclude each other")
        }
        if let recipient, ArchiveRecipient(recipient) == nil {
            throw ValidationError("--recipient is no recipient, or has a typing error")
        }
    }
}

extension CommandContext {
    /// Reads what opens a bundle file.
    func access(_ options: BundleSecretOptions, for path: String) throws -> BundleFile.Access {
        try StoreFileCheck.requireBundle(path)
        if options.plaintext { return .plaintext }
        if let identity = options.identity {
            return .sealed(ArchiveSecret(try ArchiveIdentity(file: identity)))
        }
        guard let passphrase = try passphrase(options.passphrase, for: path) else {
            throw Failure.usage("no passphrase for \(path)", hints: ["use --bundle-passphrase-file"])
        }
        return .sealed(ArchiveSecret(passphrase))
    }

    /// Reads what locks a new bundle file.
    func protection(_ options: BundleLockOptions) throws -> BundleFile.Protection {
        if options.plaintext { return .plaintext }
        if let recipient = options.recipient.flatMap({ ArchiveRecipient($0) }) {
            return .sealed(ArchiveLock(recipient: recipient))
        }
        guard let passphrase = try passphrase(options.passphrase, for: options.to, isNew: true) else {
            throw Failure.usage("no passphrase for \(options.to)", hints: ["use --bundle-passphrase-file"])
        }
        return .sealed(ArchiveLock(passphrase: passphrase, cost: try options.cost.scrypt))
    }
}

/// Says what opens bundle files where something else was tried.
func explainingBundle<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch let error as StoreError where error.path == path {
        switch error.code {
        case .wrongPassphrase:
            throw Failure.noKeyOpens(
                error.description,
                hints: ["a bundle has a passphrase of its own, given by --bundle-passphrase-file"])
        case .encryptionMismatch:
            throw Failure.noKeyOpens(
                error.description,
                hints: [
                    "--bundle-passphrase-file opens one with a passphrase, --identity one for a recipient, --plaintext reads one that is not encrypted"
                ])
        default: throw error
        }
    } catch let error as WireError where error.isOfNewerVersion {
        throw Failure.versionMismatch(
            "\(path): the bundle has \(error.message)", hints: ["use a newer syncctl"])
    } catch let error as WireError {
        throw Failure.damaged(
            "\(path): the bundle is damaged: \(error)", hints: ["use another copy of the file"])
    }
}

/// A bundle file in a JSON document.
struct BundleDocument: Encodable {
    struct Table: Encodable {
        let name: String
        let rows: Int64
        let deleted: Int64
    }
    struct Range: Encodable {
        let replica: String
        let after: Int64
        let upTo: Int64
    }

    let bundle: String
    let encrypted: Bool
    let request: Bool
    let database: String
    let sender: String
    let created: String?
    let bytes: Int
    let rows: Int64
    let tables: [Table]
    let changes: [Range]

    init(_ path: String, _ bundle: BundleFile.Information) {
        self.bundle = path
        encrypted = bundle.createdMilliseconds != nil
        request = bundle.isRequest
        database = bundle.store.description
        sender = bundle.sender.description
        created = bundle.createdMilliseconds.map { HumanFormat.timestamp($0) }
        bytes = bundle.byteCount
        rows = bundle.rowCount
        tables = bundle.tables.map { .init(name: $0.name, rows: $0.rowCount, deleted: $0.deletedCount) }
        changes = bundle.target.sequences.sorted { $0.key < $1.key }.map { replica, sequence in
            .init(replica: replica.description, after: bundle.base[replica], upTo: sequence)
        }
    }
}
