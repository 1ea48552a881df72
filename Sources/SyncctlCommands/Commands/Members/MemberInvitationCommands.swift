import ArgumentParser
import CipherStore
import Foundation
import SyncEngine
import SyncMembers

/// Adds a member of a database that meets in a folder or a bucket.
struct MemberInviteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "invite", abstract: "Add a member, and print what makes one store its device.",
        usage: "syncctl member invite <store> [--label <name>] [--role <role>] [<options>]",
        discussion: """
            For folders and buckets, and for replicas of a channel from before it had members; syncctl share does it for \
            new stores that meet at a relay. Whoever uses what is printed first is the member, so send it a way that \
            others do not see, to one store only, and delete it afterwards: removals that it can sign count for good. It \
            counts once this store has synchronized. One that nobody has used is withdrawn with \
            syncctl member remove; until then nobody else is invited under the name.

            EXAMPLES:
              syncctl member invite notes.db --label ben > ben.invitation
              syncctl sync notes.db --remote dir:/media/stick/notes
              syncctl init notes.db --join dir:/media/stick/notes \\
                --membership-file ben.invitation
            """)

    @OptionGroup var options: StoreOptions

    @Option(help: "What the new member is called (default: guest, guest 2, …).")
    var label: String?

    @Option(help: "What the new member may do: reader, writer or admin.")
    var role = RoleArgument.writer

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let name: String
        let role: String
        let invitation: String
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let synchronizer = try Synchronizer(existing: context.open(options))
            let membership = synchronizer.membership
            let store = CommandWords.path(options.store)
            guard try membership.state() != nil else {
                throw Failure.refused(
                    "the database has no members",
                    hints: ["it gets members with: syncctl member found \(store)"])
            }
            let name = try InvitedName.choose(label, in: membership, of: options.store, context)
            let invitation = try membership.invite(name, as: role.role)
            // What lets somebody in is what was asked for.
            let text = MemberInvitationText.text(of: invitation)
            try context.print(
                Document(
                    store: options.store, name: name.text, role: role.role.description, invitation: text),
                text: text)
            context.note("it counts after: \(try synchronizer.synchronizationCommand(store: options.store))")
            return .success
        }
    }
}

/// Makes a replica a device of a member.
struct MemberAcceptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept", abstract: "Make a replica that is there already a member's.",
        usage: "syncctl member accept <store> --membership-file <file> [--remote <remote>] [<options>]",
        discussion: """
            For replicas from before their database had members. What they have written comes along with their next \
            synchronization. With --replace, a member's store goes over to the members who were founded anew: syncctl member \
            found --replace. Be sure by whom the invitation is.
            """)

    @OptionGroup var options: StoreOptions

    @Flag(help: "Go over from the members that the store knows to those of the invitation.")
    var replace = false

    @OptionGroup var membership: MembershipFileOption
    @OptionGroup(title: "Remote") var remote: RemoteOptions
    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        let store: String
        let role: String?
    }

    func run() throws {
        try CommandContext.run(global) { context in
            try StoreFileCheck.requireStore(options.store)
            guard let invitation = try membership.invitation() else {
                throw Failure.usage("no invitation is named", hints: ["use --membership-file"])
            }
            let store = ExchangedStore(options, context)
            let chosen =
                try remote.given.map { try ChosenRemote(given: $0, remote.bucket, store) }
                ?? store.synchronizer().knownRemotes(
                    all: false, store: options.store, remote, takesAll: false
                ).first
            guard let chosen, let place = SharedPlace(chosen.argument) else {
                throw Failure.usage(
                    "members meet in a folder, in a bucket or at a relay",
                    hints: ["name it with: --remote dir:<folder>"])
            }
            try place.require(creates: nil)
            let opened = try place.open(
                store: options.store, remote, cost: remote.cost.scrypt, context,
                synchronizer: store.synchronizer)
            let membership = try store.synchronizer().membership
            if replace {
                try membership.acceptAnew(invitation, through: opened.transport)
            } else {
                guard try !membership.isApart(from: invitation) else {
                    throw Failure.refused(
                        "this store is a member's device already, and the invitation is by members who were founded apart from those",
                        hints: ["go over to them, if you know who they are, with: --replace"])
                }
                try membership.accept(invitation, through: opened.transport)
            }
            let role = try membership.role()
            try context.print(
                Document(store: options.store, role: role?.description),
                text: PrintableText.escaped(
                    "\(options.store) is a member's now, who is \(role?.description ?? "nobody")"))
            context.note(
                "send what it has with: syncctl sync \(CommandWords.path(options.store)) --remote \(place.words)"
            )
            return .success
        }
    }
}

/// The option that names the file of an invitation to be a member.
struct MembershipFileOption: ParsableArguments {
    @Option(
        name: .customLong("membership-file"),
        help: ArgumentHelp("Read what syncctl member invite printed from a file.", valueName: "file"),
        completion: .file())
    var file: String?

    /// The invitation; nil when none is named.
    func invitation() throws -> MembershipInvitation? {
        guard let file else { return nil }
        let name = "invitation file \(file)"
        return try MemberInvitationText.invitation(of: PassphraseFile.text(of: file, name: name), name)
    }
}

/// An invitation to be a member, as text: a word and the digits of its bytes.
enum MemberInvitationText {
    private static let scheme = "cipherstore-member:"

    static func text(of invitation: MembershipInvitation) -> String {
        let digits = invitation.rawRepresentation.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return scheme + digits.joined()
    }

    /// Reads one.
    ///
    /// - throws: A ``Failure`` for what is none, which does not repeat it.
    static func invitation(of text: String, _ origin: String) throws -> MembershipInvitation {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let wrong = Failure.usage(
            "\(origin) holds no invitation of a member, or not all of it",
            hints: ["copy all that syncctl member invite printed: \(scheme)…"])
        guard text.hasPrefix(scheme) else { throw wrong }
        let digits = Array(text.utf8.dropFirst(scheme.utf8.count))
        // Those of older programs do not name the database.
        let counts = [MembershipInvitation.byteCount, MembershipInvitation.byteCountWithoutStore]
        guard counts.contains(where: { digits.count == 2 * $0 }) else { throw wrong }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            let pair = String(decoding: digits[index...(index + 1)], as: UTF8.self)
            guard pair.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
                let byte = UInt8(pair, radix: 16)
            else { throw wrong }
            bytes.append(byte)
        }
        guard let invitation = try? MembershipInvitation(rawRepresentation: bytes) else { throw wrong }
        return invitation
    }
}
