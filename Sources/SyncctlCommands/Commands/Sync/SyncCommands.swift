import ArgumentParser
import CipherStore
import Foundation
import SyncEngine

/// The options of the three commands that exchange changes with a remote.
///
/// It has the options of ``RemotePassphraseOptions`` itself, as ``StoreOptions`` has those of the store's.
package struct RemoteOptions: ParsableArguments, PassphraseOptions {
    static let kind = PassphraseKind.remote
    static let fallback: PassphraseSource? = nil

    @Option(
        name: [.customShort("r"), .customLong("remote")],
        help: ArgumentHelp(
            "The file of the other store, dir:<folder> for a shared folder, s3://<bucket>/<prefix> for a bucket, ssh://host/path for a store that ssh reaches, or the name of a server or a relay that the store knows (default: the server default, or the only remote that is remembered).",
            valueName: "store"),
        completion: .file())
    package var given: String?

    package init() {}

    @Option(
        name: .customLong("remote-passphrase-file"),
        help: .init(
            "Read the remote's passphrase from a file (default: the store's passphrase; a folder or a bucket needs one of its own).",
            valueName: "file"), completion: .file())
    var passphraseFile: String?

    @Option(
        name: .customLong("remote-passphrase-command"),
        help: .init("Run a command that prints the remote's passphrase.", valueName: "command"))
    var passphraseCommand: String?

    @Option(
        name: .customLong("remote-passphrase-fd"),
        help: .init("Read the remote's passphrase from a file descriptor.", valueName: "number"))
    var passphraseDescriptor: Int32?

    @Option(
        help: ArgumentHelp(
            "What ssh runs there, before the path (default: syncctl serve --stdio).", valueName: "command"))
    var remoteCommand: String?

    @Flag(help: "Make the shared folder if it is not there.")
    var create = false

    @OptionGroup(title: "Bucket") var bucket: BucketOptions

    @OptionGroup package var compression: CompressionOption

    @OptionGroup var scope: ScopeOptions

    @OptionGroup var cost: FileCostOptions

    package func validate() throws {
        if given?.isEmpty == true { throw ValidationError("the name of the remote is empty") }
        let named = RemoteArgument(given)
        if remoteCommand != nil && given != nil && !named.isSSH {
            throw ValidationError("--remote-command goes with --remote ssh://host/path")
        }
        // A folder without a name is told of below, and what the store remembers when it is open.
        if given != nil { try bucket.validate(with: named) }
        if compression.given != nil && !named.isNetwork && named != .folder("") {
            throw ValidationError("--compression goes with a server or ssh://host/path")
        }
        if cost.cost != nil && given != nil && SharedPlace(named) == nil {
            throw ValidationError(Self.costRule)
        }
        if create && named.folder == nil {
            throw ValidationError("--create goes with a folder: --remote dir:<folder>")
        }
        if named == .folder("") { throw ValidationError("--remote dir: names no folder") }
        if named.isPlace && scope.isGiven {
            throw ValidationError(
                "a \(named.isFolder ? "folder" : "bucket") holds all tables and rows: what is chosen goes with another store"
            )
        }
    }
}

extension RemoteOptions {
    private static let costRule = "--cost goes with a folder or a bucket: --remote dir:<folder>"

    /// A remote that the store remembers, reached as the command line says.
    ///
    /// - throws: A ``Failure`` when something was said that does not go with it.
    func applied(to chosen: ChosenRemote) throws -> ChosenRemote {
        let place = SharedPlace(chosen.argument)
        if cost.cost != nil && (place == nil || place?.noun == "relay") {
            throw Failure.usage(Self.costRule)
        }
        guard bucket.isGiven else { return chosen }
        guard case .bucket = chosen.argument else { throw Failure.usage(BucketOptions.rule) }
        return chosen.reached(as: bucket.applied(to: chosen.argument))
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
    @OptionGroup var repetition: RunOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws { try repetition.validate(with: remote) }

    func run() throws {
        try Exchange(
            direction: .push, options: options, remote: remote, global: global, repetition: repetition
        ).run()
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
    @OptionGroup var repetition: RunOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws { try repetition.validate(with: remote) }

    func run() throws {
        try Exchange(
            direction: .pull, options: options, remote: remote, global: global, repetition: repetition
        ).run()
    }
}

/// Exchanges changes with a remote.
struct SyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Exchange changes with another store, both ways.",
        usage: "syncctl sync <store> [--remote <store>] [<options>]",
        discussion: """
            Each bundle of changes is applied as a whole or not at all. One is all that a store or server \
            sends; a large push to a server, and what is in a folder, a bucket or a relay, are several. \
            Exits with 3 when rows could not be written yet; they are kept and tried again.

            A folder that files go through, on a stick or kept equal on several machines by a program \
            such as Syncthing, connects any number of replicas. Its files are encrypted under a \
            passphrase of the folder. --create begins one. --snapshot adds a copy of the whole store, tables that are not \
            tracked too, from which new replicas begin with: syncctl init <store> --join dir:<folder>

            A bucket of an S3-compatible storage does the same without any server of one's own. Its credentials come \
            from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from a profile of ~/.aws/credentials, which may \
            name a command; they are no arguments, and are not remembered. How it is reached is: endpoint, region, \
            profile. The bucket has to exist.

            The names and sizes of files can be seen by whoever keeps them. --padding padme adds up to 256 bytes, \
            or 6 %, so that the sizes say little; that is for this store, from then on.

            A relay does the same for stores that were shared through it: syncctl share. The store has its key, so \
            that it needs no passphrase, and its name is relay unless another one was given.

            With --tables, some tables only are exchanged with this remote, now and from then on; nothing \
            is deleted in the others. --all-tables brings what was left out. With --rows, this store holds \
            the rows of a table that have some values in a column; the others are taken out here and \
            deleted nowhere. Where the remote knows too little of such a table, the table waits, and the \
            exit code is 3, too.

            Without --remote it is the server that the store was enrolled with (syncctl init --join, or \
            syncctl remote add), or else the one relay, store, folder or ssh address that it was synchronized with \
            before; --all takes all of them. Passphrases are not remembered.

            Definitions of tables are not synchronized. --create-tables makes those that are missing here as \
            the remote has them. --dry-run counts the rows that would go and come. --every goes on until \
            Ctrl-C, one exchange after the other.

            EXAMPLES:
              syncctl sync a.db
              syncctl sync a.db --all --every 5m
              syncctl sync a.db --remote b.db --dry-run
              syncctl sync a.db --remote b.db --create-tables
              syncctl sync a.db --remote b.db --remote-passphrase-file pw2
              syncctl sync a.db --remote b.db --tables note,tag
              syncctl sync a.db --remote dir:/media/stick/notes \\
                --remote-passphrase-file pw3 --create
              syncctl sync a.db --remote s3://my-bucket/notes \\
                --s3-endpoint https://s3.example.com --remote-passphrase-file pw3
              syncctl sync a.db --remote relay
              syncctl sync a.db --remote ssh://host/srv/hub.db \\
                --remote-command 'syncctl serve --stdio --passphrase-file /etc/hub.pw'
            """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var remote: RemoteOptions
    @OptionGroup var repetition: RunOptions

    @Flag(help: "Make the tables that are missing here as the remote has them, and track them.")
    var createTables = false

    @OptionGroup var place: PlaceOptions

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        try place.validate(with: remote.given)
        try repetition.validate(with: remote)
        if createTables && repetition.dryRun {
            throw ValidationError("--dry-run exchanges nothing, so it excludes --create-tables")
        }
        if place.snapshot && repetition.all {
            throw ValidationError("--all excludes --snapshot: name one with --remote")
        }
        if place.padding != nil && repetition.dryRun {
            throw ValidationError("--dry-run changes nothing, so it excludes --padding")
        }
    }

    func run() throws {
        try Exchange(
            direction: .both, options: options, remote: remote, global: global, placeOptions: place,
            makesTables: createTables, repetition: repetition
        ).run()
    }
}
