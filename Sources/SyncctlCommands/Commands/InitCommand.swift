import ArgumentParser
import CipherStore
import Foundation
import SyncEngine

/// Makes a new store.
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a new store, or a replica of one.",
        usage:
            "syncctl init <store> [--clone <store> | --from <file> | --join -|<link>|dir:<folder>|s3://<bucket>/<prefix> | --invitation-file <file>] [<options>]",
        discussion: """
            EXAMPLES:
              syncctl init notes.db --passphrase-file secret
              syncctl init b.db --passphrase-file pw2 \\
                --clone a.db --clone-passphrase-file pw
              syncctl init notes.db --from plain.sqlite
              syncctl init notes.db --from backup.csa --archive-passphrase-file pw4
              syncctl init notes.db --join dir:/media/stick/notes \\
                --remote-passphrase-file pw3
              syncctl init notes.db --join s3://my-bucket/notes \\
                --s3-endpoint https://s3.example.com --remote-passphrase-file pw3
              syncctl init notes.db --join -        # asks for an invitation's link
              syncctl init notes.db --invitation-file link

            The link of an invitation to a served store (syncctl invite), or to one that is shared through a relay \
            (syncctl share), lets in whoever uses it first, and other users of the machine can read arguments: \
            --join 'cipherstore://…' and --join 'cipherstore-relay://…' work, and remove the link from there as soon as they can.

            A replica made with --clone or --join, and a store made of an archive (a file whose name ends in \
            .csa), have a passphrase of their own, and synchronize with the store that they were made \
            of.
            """)

    @OptionGroup var options: StoreOptions

    @Option(help: ArgumentHelp("Make a replica of this store.", valueName: "store"), completion: .file())
    var clone: String?

    @OptionGroup(title: "Passphrase of the store that is cloned (default: the new store's)")
    var clonePassphrase: ClonePassphraseOptions

    @Option(
        help: ArgumentHelp(
            "Make the store of an archive, or encrypt this plain SQLite file into it.", valueName: "file"),
        completion: .file())
    var from: String?

    @OptionGroup var archive: ArchiveSecretOptions

    @Option(
        help: ArgumentHelp(
            "Make a replica of a served or shared store, by the link of an invitation (- reads it from standard input, or asks for it), or of the snapshot in a shared folder or a bucket; and bring what came after.",
            valueName: "link|dir:<folder>|s3://<bucket>"))
    var join: String?

    @OptionGroup var invitation: InvitationFileOption

    @OptionGroup var membership: MembershipFileOption

    @OptionGroup(title: "Bucket") var bucket: BucketOptions

    @OptionGroup(title: "Passphrase of the folder or bucket")
    var remotePassphrase: RemotePassphraseOptions

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if [clone, from, join, invitation.file].compactMap({ $0 }).count > 1 {
            throw ValidationError("--clone, --from, --join and --invitation-file exclude each other")
        }
        try bucket.validate(with: join.map { RemoteArgument($0) })
        if let join, joinedPlace == nil, !InvitationArgument.isMeant(join) {
            throw ValidationError(
                "--join takes a folder, dir:<folder>, a bucket, s3://…, or an invitation, 'cipherstore://…' or 'cipherstore-relay://…'"
            )
        }
        if isInvited && remotePassphrase.isPassphraseGiven {
            throw ValidationError(
                "a server or a relay needs no passphrase: the invitation lets this device in")
        }
        if membership.file != nil && joinedPlace == nil {
            throw ValidationError("--membership-file goes with --join and a folder or a bucket")
        }
        if options.keyFile != nil {
            throw ValidationError(
                "a new store has a passphrase; a key file is added to it with: syncctl key add --new-key-file"
            )
        }
        if remotePassphrase.isPassphraseGiven && join == nil {
            throw ValidationError("a remote passphrase goes with --join")
        }
        if archive.isGiven && from.map(ArchiveName.isExistingArchive) != true {
            throw ValidationError(
                "--identity and an archive passphrase go with --from and a file whose name ends in \(ArchiveName.suffix)"
            )
        }
    }

    /// The folder or bucket that it begins from; nil when it doesn't.
    private var joinedPlace: SharedPlace? {
        join.flatMap { SharedPlace(bucket.applied(to: RemoteArgument($0))) }
    }

    /// Whether it becomes a replica of a served store.
    private var isInvited: Bool { invitation.file != nil || join.map(InvitationArgument.isMeant) == true }

    private struct Document: Encodable {
        let store: String
        let replica: String
        let database: String
        let cipher: String
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let path = options.store
            try StoreFileCheck.requireNew(path)
            if let clone { try StoreFileCheck.requireOriginal(clone) }
            if let from {
                if ArchiveName.isExistingArchive(from) {
                    try StoreFileCheck.requireArchive(from)
                    try context.requirePassphraseArchive(archive, from)
                } else {
                    try StoreFileCheck.requirePlaintext(from)
                }
            }
            try joinedPlace?.require(creates: nil)
            let invite = isInvited ? try readInvitation(context) : nil
            let passphrase = try context.storePassphrase(options, for: path, isNew: true)
            try create(path, passphrase, invite, context)
            let status = try firstStatus(path, Secret(passphrase), context)
            let cipher = EngineFeatures.current.cipherVersion ?? ""
            let what = origin(invite)
            try context.print(
                Document(
                    store: path, replica: status.replica.description, database: status.store.description,
                    cipher: cipher),
                text: "created \(path)  (\(what), AES-256, replica \(status.replica.shortDescription))")
            context.note("its passphrase is the only key; losing it means losing the data")
            return .success
        }
    }

    /// Whether it gets the rows of another replica, and an identity of its own.
    private var isReplica: Bool { clone != nil || join != nil || isInvited }

    /// Opens the store that was made, and asks it who it is.
    ///
    /// A replica is whole by now, its invitation may be used up, and other programs may have opened it: it stays, whatever
    /// fails here. Another store is removed, for the same command makes it again.
    func firstStatus(_ path: String, _ secret: Secret, _ context: CommandContext) throws -> SyncStatus {
        guard isReplica else {
            return try removingOnFailure(path) { () throws -> SyncStatus in
                let queue = try context.open(path, secret)
                if let from { try Synchronizer.checkSchema(of: queue, from: from) }
                return try Synchronizer(queue).status()
            }
        }
        do {
            return try Synchronizer(context.open(path, secret)).status()
        } catch {
            var failure = Failure(explaining: error, store: path)
            failure.hints.append(
                "the store is made, and stays; look at it with: syncctl status \(CommandWords.path(path))")
            throw failure
        }
    }

    private func readInvitation(_ context: CommandContext) throws -> any Invitation {
        // Nobody is asked for what this program can't use.
        let network = try NetworkSupport.required()
        return try network.invitation(InvitationArgument.link(join, file: invitation.file, context))
    }

    /// What the store was made of, for people.
    private func origin(_ invite: (any Invitation)?) -> String {
        if let clone { return "replica of \(clone)" }
        if let invite { return "joined \(invite.url)" }
        if let join { return "joined \(join)" }
        if let from { return "made of \(from)" }
        return "new store"
    }

    private func create(
        _ path: String, _ passphrase: borrowing Passphrase, _ invite: (any Invitation)?,
        _ context: CommandContext
    ) throws {
        if let clone {
            let source = try context.secondSecret(
                clonePassphrase, for: clone, own: Secret(passphrase), isOwnAsked: context.asks(options)
            )
            Interruption.listen()
            let original = try Synchronizer(existing: context.openForReading(clone, source, makesFiles: true))
            let progress = context.progress("copying", unit: .items("pages"))
            try original.clone(to: path, passphrase: passphrase) {
                try progress.update(Int64($0.completedPageCount), Int64($0.totalPageCount))
            }
            progress.finish()
        } else if let invite {
            try invite.join(at: path, passphrase: passphrase, context)
        } else if let joinedPlace {
            try joinPlace(joinedPlace, path, passphrase, context)
        } else if let from, ArchiveName.isExistingArchive(from) {
            let secret = try context.archiveSecret(archive, for: from)
            Interruption.listen()
            let progress = PageProgress(context)
            do {
                try Synchronizer.restore(
                    archive: from, to: path, opening: secret, passphrase: passphrase,
                    progress: progress.update)
            } catch let error as StoreError {
                throw Failure.explainingArchive(from, error)
            }
            progress.finish()
        } else if let from {
            Interruption.listen()
            let progress = context.progress("checking", unit: .items("pages"))
            do {
                try PlaintextImport.makeStore(from: from, at: path, passphrase: passphrase) {
                    try progress.update(Int64($0.completedPageCount), Int64($0.totalPageCount))
                }
            } catch let error as StoreError
                where error.code == .damaged && error.message.contains("malformed database schema")
            {
                throw try unreadableSchema(from, error)
            }
            progress.finish()
        } else {
            try createEmpty(path, passphrase, context)
        }
    }

    /// The file may be sound, and its schema newer than this library.
    private func unreadableSchema(_ path: String, _ error: StoreError) throws -> Failure {
        let library = try LibraryDescription.current()
        return .versionMismatch(
            "\(path): SQLite \(library.sqlite) can't read its schema: \(error.message)",
            hints: [
                "a newer SQLite knows STRICT tables, generated columns and the like: use a syncctl that runs on SQLCipher 4, or make the table without them",
                "if a newer SQLite can't read it either, it is damaged",
            ])
    }

    private func createEmpty(_ path: String, _ passphrase: borrowing Passphrase, _ context: CommandContext)
        throws
    {
        // Made here, and only here, the file is ours to remove. Somebody else may have made one since
        // we looked.
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST { throw StoreError(.exists, "there is a file already", path: path) }
            throw Failure.system("\(path): cannot create", code: errno)
        }
        close(descriptor)
        var configuration = context.configuration(Secret(passphrase))
        configuration.requiresExistingFile = false
        try removingOnFailure(path) {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            _ = try Synchronizer(queue)
            try queue.close()
        }
    }

    /// Removes the store that this command made when it can't be finished, so that no part of one is
    /// taken for the whole.
    private func removingOnFailure<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            // The connection is closed by now: nobody refers to it any more.
            for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
            throw error
        }
    }
}
