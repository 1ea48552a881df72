import ArgumentParser
import CipherStore
import Foundation
import SyncEngine
import SyncHTTP
import SyncRelay
import SyncctlCommands

/// The servers and relays that a store knows, and the other remotes that it remembers.
struct RemoteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remote",
        abstract: "List, add and remove the remotes that a store knows.",
        discussion: """
            A server is added by an invitation, and a relay by syncctl share or by the link that it prints. A store, a folder or an ssh address is remembered when it was \
            synchronized with; where it is, and no passphrase.

            EXAMPLES:
              syncctl remote list notes.db
              syncctl remote add notes.db -              # asks for an invitation's link
              syncctl remote remove notes.db default
            """,
        subcommands: [RemoteListCommand.self, RemoteAddCommand.self, RemoteRemoveCommand.self])
}

/// Lists the remotes that a store knows.
struct RemoteListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the remotes that this store knows.",
        usage: "syncctl remote list <store> [<options>]")

    @OptionGroup var options: StoreOptions
    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let remotes: [RemoteDocument]
        let relays: [RelayDocument]
        let remembered: [RememberedDocument]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let synchronizer = try Synchronizer(existing: context.openForReading(options))
            let remotes = try RemoteBook(synchronizer).remotes()
            let relays = try RelayBook(synchronizer).relays().map(RelayDocument.init)
            let remembered = try synchronizer.rememberedRemotes().map(RememberedDocument.init)
            var table = Table([.text("NAME"), .text("ADDRESS"), .text("STATE")])
            for remote in remotes {
                table.addRow([
                    .init(remote.name), .init(remote.address.url),
                    .init(remote.isReadOnly ? "read-only" : "both ways"),
                ])
            }
            for relay in relays {
                table.addRow([.init(relay.name), .init(relay.url), .init("relay")])
            }
            for remote in remembered {
                table.addRow([.init(remote.name), .init(remote.location), .init(remote.kind)])
            }
            let isEmpty = remotes.isEmpty && relays.isEmpty && remembered.isEmpty
            try context.print(
                Document(
                    store: options.store, remotes: remotes.map { RemoteDocument($0) }, relays: relays,
                    remembered: remembered),
                text: isEmpty ? "" : table.text(style: context.terminal.outputStyle))
            if isEmpty {
                context.note(
                    "no remotes yet; add one with: syncctl remote add \(CommandWords.path(options.store)) -"
                )
            }
            return .success
        }
    }
}

/// What the commands print about a remote that is no server.
struct RememberedDocument: Encodable {
    let name: String
    let location: String
    let kind: String

    init(_ remote: RememberedRemote) {
        name = remote.name
        location = remote.location
        kind =
            switch RemoteArgument(remote.location) {
            case .folder: "folder"
            case .bucket: "bucket"
            case .ssh: "ssh"
            case .file, .server, .relay: "store"
            }
    }
}

/// What the commands print about a relay.
struct RelayDocument: Encodable {
    let name: String
    let url: String
    let channel: String

    init(_ relay: KnownRelay) {
        (name, url, channel) = (relay.name, relay.address.url, relay.channel.id.description)
    }
}

/// Enrols a store with a server.
struct RemoteAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Enrol this store with a server or at a relay, by an invitation.",
        usage:
            "syncctl remote add <store> -|<link>|--invitation-file <file> [--name <name>] [--replace] [<options>]",
        discussion: """
            The store has to be a replica of the served one; a new replica is made with: syncctl init --join. \
            The link is read from standard input, or asked for on the terminal, when it is "-". Other users of the \
            machine can read arguments: a link that is one is removed from there as soon as possible. A store has one place in the list of a \
            server's devices: with --replace, the invitation's label and scope take the place of those there.

            The link of syncctl share lets a store that is there already into the channel of a relay, and makes it a device of \
            the member whom it is for, unless it is a member's already. With --replace, it takes the place of the relay of \
            that name: so does a store learn the certificate of a relay that was set up anew. A member's store is not let in by \
            a link of other members of its database, who were founded apart from those that it knows: with \
            --replace-members, it goes over to them, and nothing that was said of members here counts any more. Be sure by \
            whom the link is.
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The link that syncctl invite or share printed, or - to read it from standard input.")
    var link: String?

    @OptionGroup var invitation: InvitationFileOption

    @Option(help: "The name of the remote (default: default for a server, relay for a relay).")
    var name: String?

    @Flag(help: "Take the place of an enrolment with this name or this server, or of the relay of this name.")
    var replace = false

    @Flag(
        name: .customLong("replace-members"),
        help: "Go over from the members that the store knows to those whom the link is by.")
    var replacesMembers = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard (link == nil) != (invitation.file == nil) else {
            throw ValidationError(
                "name the link of an invitation, - to read it from standard input, or --invitation-file <file>"
            )
        }
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let text = try InvitationArgument.link(link, file: invitation.file, context)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            if text.hasPrefix(RelayLink.scheme) {
                try addRelay(text, context)
            } else {
                try addServer(InviteArgument.link(text), context)
            }
            return .success
        }
    }

    private func addServer(_ link: InviteLink, _ context: CommandContext) throws {
        guard !replacesMembers else {
            throw Failure.usage(
                "--replace-members goes with the link of syncctl share, and this one is a server's")
        }
        let name = name ?? RemoteBook.defaultName
        let synchronizer = try Synchronizer(existing: context.open(options))
        if !replace { try refuseReplacement(in: RemoteBook(synchronizer), link, name) }
        Interruption.listen()
        let remote = try synchronizer.enrol(link, as: name, options: InviteArgument.options())
        try context.print(
            RemoteDocument(remote),
            text: PrintableText.escaped("\(remote.name) is \(remote.address.url) now"))
    }

    private func addRelay(_ text: String, _ context: CommandContext) throws {
        let enrolment = try RelayEnrolment(
            text, name: name ?? RelayBook.defaultName, replaces: replace, replacesMembers: replacesMembers)
        let synchronizer = try Synchronizer(existing: context.open(options))
        let relay = try enrolment.enrol(synchronizer, store: options.store, context)
        try context.print(
            RelayDocument(relay), text: PrintableText.escaped("\(relay.name) is \(relay.address.url) now"))
    }

    /// An enrolment that is there is not given up unasked: the server would know the device by another label.
    private func refuseReplacement(in book: RemoteBook, _ link: InviteLink, _ name: String) throws {
        let present = try book.remotes().first { $0.name == name || $0.address == link.address }
        guard let present else { return }
        let store = CommandWords.path(options.store)
        throw Failure(
            "\(present.name) is \(present.address.url) already; the invitation was not used",
            hints: [
                "replace the enrolment with: --replace",
                "another server gets another name: --name <name>; see: syncctl remote list \(store)",
            ])
    }
}

/// Forgets a remote.
struct RemoteRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Forget a remote.",
        usage: "syncctl remote remove <store> <name> [<options>]",
        discussion: """
            The server knows the device until it is revoked there. With a relay, the store forgets the key of the \
            channel: only another replica or a new link brings it back. A store or folder is forgotten by its name \
            or its place, also one that "syncctl status" shows as failed. What was chosen for it stays chosen.
            """, aliases: ["forget"])

    @OptionGroup var options: StoreOptions

    @Argument(help: "The name of the remote.")
    var name: String

    @OptionGroup var global: GlobalOptions

    func run() throws {
        try CommandContext.run(global) { context in
            let synchronizer = try Synchronizer(existing: context.open(options))
            let book = try RemoteBook(synchronizer)
            let isNoted = try synchronizer.forget(remote: name)
            let relays = RelayBook(synchronizer)
            if try synchronizer.relayNames().contains(name), try !synchronizer.serverNames().contains(name) {
                try relays.remove(name)
                try context.print(
                    ForgottenDocument(name: name),
                    text: PrintableText.escaped("forgot \(name), and the key of its channel"))
                return .success
            }
            guard let remote = try book.remotes().first(where: { $0.name == name }) else {
                if !isNoted { try requireKnown(book) }
                try context.print(
                    ForgottenDocument(name: name), text: PrintableText.escaped("forgot \(name)"))
                return .success
            }
            try book.remove(name)
            try context.print(RemoteDocument(remote), text: PrintableText.escaped("removed \(name)"))
            return .success
        }
    }

    /// Throws for a name that the store knows nobody by.
    private func requireKnown(_ book: RemoteBook) throws {
        do {
            _ = try book.remote(name)
        } catch let error as RemoteError where error.code == .noSuchRemote {
            throw Failure(
                error.message,
                hints: ["those that it knows: syncctl remote list \(CommandWords.path(options.store))"])
        }
    }
}

/// What `remove` prints about a file or folder.
private struct ForgottenDocument: Encodable {
    let name: String
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
    /// Reads a link.
    static func link(_ text: String) throws -> InviteLink {
        guard let link = InviteLink(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Failure.usage(
                "that is no invitation, or it is not complete",
                hints: [
                    "copy all of the link that syncctl share printed, \(RelayLink.scheme)…, or syncctl invite, cipherstore://…"
                ])
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
