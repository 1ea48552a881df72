import ArgumentParser
import CipherStore
import Foundation
import SyncEngine
import SyncHTTP
import SyncctlCommands

/// The servers that a store knows.
struct RemoteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remote",
        abstract: "List, add and remove the servers that a store knows.",
        discussion: """
            EXAMPLES:
              syncctl remote list notes.db
              syncctl remote add notes.db 'cipherstore://…'
              syncctl remote remove notes.db default
            """,
        subcommands: [RemoteListCommand.self, RemoteAddCommand.self, RemoteRemoveCommand.self])
}

/// Lists the servers that a store knows.
struct RemoteListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the servers that this store knows.",
        usage: "syncctl remote list <store> [<options>]")

    @OptionGroup var options: StoreOptions
    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let remotes: [RemoteDocument]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let remotes = try RemoteBook(Synchronizer(existing: context.open(options))).remotes()
            var table = Table([.text("NAME"), .text("ADDRESS"), .text("STATE")])
            for remote in remotes {
                table.addRow([
                    .init(remote.name), .init(remote.address.url),
                    .init(remote.isReadOnly ? "read-only" : "both ways"),
                ])
            }
            try context.print(
                Document(store: options.store, remotes: remotes.map { RemoteDocument($0) }),
                text: remotes.isEmpty ? "" : table.text(style: context.terminal.outputStyle))
            if remotes.isEmpty {
                context.note("no remotes yet; add one with: syncctl remote add <store> '<link>'")
            }
            return .success
        }
    }
}

/// Enrols a store with a server.
struct RemoteAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Enrol this store with a server, by an invitation.",
        usage: "syncctl remote add <store> <link> [<options>]",
        discussion: """
            The store has to be a replica of the served one; a new replica is made with: syncctl init --join. \
            The link is read from standard input when it is "-".
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The link that syncctl invite printed, or - to read it from standard input.")
    var link: String

    @Option(help: "The name of the remote; sync, push and pull mean \"default\".")
    var name = RemoteBook.defaultName

    @OptionGroup var global: GlobalOptions

    func run() throws {
        try CommandContext.run(global) { context in
            let link = try InviteArgument.link(link)
            let synchronizer = try Synchronizer(existing: context.open(options))
            Interruption.listen()
            let remote = try synchronizer.enrol(link, as: name, options: InviteArgument.options())
            try context.print(
                RemoteDocument(remote), text: "\(remote.name) is \(remote.address.url) now")
            return .success
        }
    }
}

/// Forgets a server.
struct RemoteRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Forget a server.",
        usage: "syncctl remote remove <store> <name> [<options>]",
        discussion: "The server knows the device until it is revoked there.")

    @OptionGroup var options: StoreOptions

    @Argument(help: "The name of the remote.")
    var name: String

    @OptionGroup var global: GlobalOptions

    func run() throws {
        try CommandContext.run(global) { context in
            let book = try RemoteBook(Synchronizer(existing: context.open(options)))
            let remote = try book.remote(name)
            try book.remove(name)
            try context.print(RemoteDocument(remote), text: "removed \(name)")
            return .success
        }
    }
}

/// What the commands print about a server.
struct RemoteDocument: Encodable {
    let name: String
    let url: String
    let readOnly: Bool

    init(_ remote: Remote) {
        name = remote.name
        url = remote.address.url
        readOnly = remote.isReadOnly
    }
}

/// Invitations on the command line.
enum InviteArgument {
    /// Reads a link from an argument, or from standard input.
    static func link(_ argument: String) throws -> InviteLink {
        var text = argument
        if text == "-" {
            text = readLine(strippingNewline: true) ?? ""
        }
        guard let link = InviteLink(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Failure.usage(
                "that is no invitation, or it is not complete",
                hints: ["copy all of the link that syncctl invite printed, in quotes: 'cipherstore://…'"])
        }
        return link
    }

    /// How requests of commands are made: Ctrl-C ends them.
    static func options() -> HTTPTransport.Options {
        var options = HTTPTransport.Options()
        options.onRequest = { try Interruption.check() }
        return options
    }
}
