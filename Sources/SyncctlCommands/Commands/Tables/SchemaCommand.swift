import ArgumentParser
import CipherStore

/// Shows the definitions of tables.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Show how the tables of a store are defined.",
        usage: "syncctl schema <store> [<table> ...] [--remote <store>] [<options>]",
        discussion: """
            Definitions are not synchronized: each replica needs the tables. What is printed makes them \
            elsewhere; the tables and triggers of synchronization are left out.

            With --remote, it shows how the tables are made that another replica exchanges, and whether this \
            store has them. "syncctl sync --create-tables" makes those that it has not.

            EXAMPLES:
              syncctl schema notes.db
              syncctl schema notes.db note --json
              syncctl schema notes.db --remote stick/notes.db
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The tables (default: all).")
    var tables: [String] = []

    @Option(
        name: [.customShort("r"), .customLong("remote")],
        help: ArgumentHelp(
            "Show the tables of another replica: a store, ssh://host/path, or the name of a server.",
            valueName: "store"),
        completion: .file())
    var remote: String?

    @Option(
        help: ArgumentHelp(
            "What ssh runs there, before the path (default: syncctl serve --stdio).", valueName: "command"))
    var remoteCommand: String?

    @OptionGroup(title: "Passphrase of the remote (default: the store's)")
    var remotePassphrase: RemotePassphraseOptions

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let tables: [StoreSchema]
    }

    func validate() throws {
        if remote == nil && (remoteCommand != nil || remotePassphrase.isPassphraseGiven) {
            throw ValidationError("the remote's passphrase and --remote-command go with --remote <store>")
        }
        if remoteCommand != nil && !RemoteArgument(remote).isSSH {
            throw ValidationError("--remote-command goes with --remote ssh://host/path")
        }
        if remote?.isEmpty == true { throw ValidationError("the name of the remote is empty") }
        if let remote, RemoteArgument(remote).isPlace {
            let noun = RemoteArgument(remote).isFolder ? "folder" : "bucket"
            throw ValidationError("a \(noun) does not tell how tables are made; name another replica")
        }
    }

    func run() throws {
        try CommandContext.run(global) { context in
            if let remote {
                try StoreFileCheck.requireStore(options.store)
                let pair = try RemotePair.open(
                    options, remote, remotePassphrase, command: remoteCommand, context)
                return try PeerSchema(store: options.store, remote: remote, names: tables).show(pair, context)
            }
            let schema = try context.openForReading(options).read { try StoreSchema.load($0, tables: tables) }
            try context.print(
                Document(store: options.store, tables: schema),
                text: schema.map(\.text).joined(separator: "\n"))
            if schema.isEmpty { context.note("no tables") }
            return .success
        }
    }
}
