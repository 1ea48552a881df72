import ArgumentParser
import CipherStore
import SyncEngine

/// What the commands print that make a replica.
struct NewReplicaDocument: Encodable {
    let store: String
    let replica: String
    let database: String
    let cipher: String

    init(_ path: String, _ status: SyncStatus) {
        store = path
        replica = status.replica.description
        database = status.store.description
        cipher = EngineFeatures.current.cipherVersion ?? ""
    }
}

/// Makes a replica of a store.
struct CloneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clone",
        abstract: "Make another replica of a store, with a passphrase of its own.",
        usage: "syncctl clone <store> <new> [<options>]",
        discussion: """
            The same as: syncctl init <new> --clone <store>. A plain copy of the file, as made by cp, \
            becomes a replica of its own too, at its next synchronization, under the same passphrase.

            EXAMPLE:
              syncctl clone notes.db stick/notes.db --to-passphrase-file pw2
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The file to make.", completion: .file())
    var new: String

    @OptionGroup(title: "Passphrase of the new replica")
    var passphrase: TargetPassphraseOptions

    @OptionGroup var global: GlobalOptions

    func run() throws {
        try CommandContext.run(global) { context in
            try StoreFileCheck.requireStore(options.store)
            try StoreFileCheck.requireNew(new)
            let secret = try context.storeSecret(options)
            guard let passphrase = try context.passphrase(passphrase, for: new, isNew: true) else {
                throw Failure.usage("no passphrase for \(new)", hints: ["use --to-passphrase-file"])
            }
            Interruption.listen()
            let original = try Synchronizer(
                existing: context.openForReading(options.store, secret, makesFiles: true))
            let progress = context.progress("copying", unit: .items("pages"))
            try original.clone(to: new, passphrase: passphrase) {
                try progress.update(Int64($0.completedPageCount), Int64($0.totalPageCount))
            }
            progress.finish()
            let status = try Synchronizer(existing: context.open(new, Secret(passphrase))).status()
            try context.print(
                NewReplicaDocument(new, status),
                text:
                    "created \(new)  (replica of \(options.store), AES-256, replica \(status.replica.shortDescription))"
            )
            return .success
        }
    }
}

/// Makes a store of an archive.
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a store of an archive.",
        usage: "syncctl restore <archive> <store> [<options>]",
        discussion: """
            The same as: syncctl init <store> --from <archive>. The store is a replica of its own: what \
            was written since the archive was made comes back from the others when it meets them.

            EXAMPLE:
              syncctl restore backup.csa notes.db --archive-passphrase-file pw4
            """)

    @Argument(help: ArgumentHelp("The archive.", valueName: "archive"), completion: .file())
    var backup: String

    @OptionGroup var options: StoreOptions

    @OptionGroup var archive: ArchiveSecretOptions

    @OptionGroup var global: GlobalOptions

    func run() throws {
        try CommandContext.run(global) { context in
            let path = options.store
            try StoreFileCheck.requireArchive(backup)
            try StoreFileCheck.requireNew(path)
            try context.requirePassphraseArchive(archive, backup)
            let passphrase = try context.storePassphrase(options, for: path, isNew: true)
            let secret = try context.archiveSecret(archive, for: backup)
            Interruption.listen()
            let progress = PageProgress(context)
            do {
                try Synchronizer.restore(
                    archive: backup, to: path, opening: secret, passphrase: passphrase,
                    progress: progress.update)
            } catch let error as StoreError {
                throw Failure.explainingArchive(backup, error)
            }
            progress.finish()
            let queue = try context.open(path, Secret(passphrase))
            let status = try Synchronizer(queue).status()
            try context.print(
                NewReplicaDocument(path, status),
                text:
                    "created \(path)  (made of \(backup), AES-256, replica \(status.replica.shortDescription))"
            )
            return .success
        }
    }
}
