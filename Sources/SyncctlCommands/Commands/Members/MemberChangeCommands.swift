import ArgumentParser
import CipherStore
import SyncEngine
import SyncMembers

/// Removes a member.
struct MemberRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "End what a member reads and writes from now on.",
        usage: "syncctl member remove <store> <member> [<options>]",
        discussion: """
            What it has read stays read, and what it has written stays, as far as this store knows it. It does not \
            come back: who is invited again is another member. An invitation that nobody has used is withdrawn \
            in the same way.

            The last admin is removed, or lowered, with --last-admin only: nobody could be let in or removed then, until \
            the recovery key makes a new one.

            It still has what the place asks for, such as the tokens of a relay's channel: it can remove files there, \
            which the others write again, or fill it up. Against that, move to a new channel.
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The member: its name, or the first digits of its identifier.")
    var member: String

    @Flag(name: .customLong("last-admin"), help: "Remove the member though no admin is left then.")
    var goesWithoutAdmin = false

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let choice = MemberChoice(words: member, role: nil, goesWithoutAdmin: goesWithoutAdmin)
        try choice.run(options, global) { membership, known in
            try membership.remove(known.member.id)
            return "removed \(known.member.name)"
        }
    }
}

/// Changes the role of a member.
struct MemberRoleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "role", abstract: "Change what a member may do.",
        usage: "syncctl member role <store> <member> <reader|writer|admin> [<options>]")

    @OptionGroup var options: StoreOptions

    @Argument(help: "The member: its name, or the first digits of its identifier.")
    var member: String

    @Argument(help: "reader, writer or admin.")
    var role: RoleArgument

    @Flag(name: .customLong("last-admin"), help: "Change the role though no admin is left then.")
    var goesWithoutAdmin = false

    @OptionGroup var global: GlobalOptions

    func run() throws {
        let choice = MemberChoice(words: member, role: role.role, goesWithoutAdmin: goesWithoutAdmin)
        try choice.run(options, global) { membership, known in
            try membership.setRole(role.role, of: known.member.id)
            return "\(known.member.name) is \(role.role) now"
        }
    }
}

/// A role on the command line.
package enum RoleArgument: String, ExpressibleByArgument, CaseIterable {
    case reader, writer, admin

    /// The role.
    package var role: MemberRole {
        switch self {
        case .reader: .reader
        case .writer: .writer
        case .admin: .admin
        }
    }
}

/// The member that a command is about, and what it leaves that one.
private struct MemberChoice {
    /// Its name, or the first digits of its identifier.
    let words: String
    /// The role that it has then; nil for none.
    let role: MemberRole?
    /// Whether it may be the last admin.
    let goesWithoutAdmin: Bool

    private struct Document: Encodable {
        let store: String
        let member: String
        let name: String
        let role: String?
    }

    /// Does something to a member, and says what was done.
    func run(
        _ options: StoreOptions, _ global: GlobalOptions,
        _ body: (Membership, KnownMember) throws -> String
    ) throws {
        try CommandContext.run(global) { context in
            let synchronizer = try Synchronizer(existing: context.open(options))
            let membership = synchronizer.membership
            let known = try find(in: membership, of: options.store)
            try membership.requireAdmin(of: options.store)
            if let role, known.member.role == role {
                throw Failure("\(PrintableText.escaped(known.member.name.text)) is \(role) already")
            }
            try requireAdmin(besides: known, in: membership, of: options.store)
            let text = try body(membership, known)
            let after = try membership.members()?.first { $0.member.id == known.member.id }?.member
            try context.print(
                Document(
                    store: options.store, member: known.member.id.description, name: known.member.name.text,
                    role: after?.role?.description), text: PrintableText.escaped(text))
            context.note(
                "the others learn it with the next synchronization: \(try synchronizer.synchronizationCommand(store: options.store))"
            )
            return .success
        }
    }

    /// Checks that somebody is left who lets others in, and removes them.
    private func requireAdmin(
        besides known: KnownMember, in membership: Membership, of store: String
    ) throws {
        guard !goesWithoutAdmin, known.member.role == .admin, role != .admin else { return }
        let others = try (membership.members() ?? []).filter {
            $0.member.id != known.member.id && $0.member.role == .admin && $0.standing == .active
                && !$0.activeDevices.isEmpty
        }
        guard others.isEmpty else { return }
        throw Failure.refused(
            "\(known.member.name) is the last admin, so nobody could be let in or removed any more",
            hints: [
                "make somebody else one: syncctl member role \(CommandWords.path(store)) <member> admin",
                "go on with --last-admin; only the recovery key makes an admin then",
            ])
    }

    private func find(in membership: Membership, of store: String) throws -> KnownMember {
        let hint = "see: syncctl member list \(CommandWords.path(store))"
        guard let members = try membership.members() else {
            throw SyncError(.notMember, "the database has no members")
        }
        guard !words.isEmpty else { throw Failure.usage("no member is named", hints: [hint]) }
        let present = members.filter { $0.standing != .removed }
        let named = present.filter { $0.member.name.text == words }
        let found =
            named.isEmpty
            ? present.filter { $0.member.id.description.hasPrefix(words.lowercased()) } : named
        guard let member = found.first else {
            if members.contains(where: { $0.member.name.text == words }) {
                throw Failure("\(words) was removed already", hints: [hint])
            }
            throw Failure("no member is called \(words), or has an identifier that begins so", hints: [hint])
        }
        guard named.count <= 1 else {
            let beginnings = MemberNames.beginnings(of: named.map { $0.member.id.description })
            throw Failure.usage(
                "\(named.count) members are called \(words)",
                hints: ["name it by its identifier: \(beginnings.joined(separator: " or "))", hint])
        }
        guard found.count == 1 else {
            throw Failure.usage(
                "\(found.count) members have identifiers that begin with \(words)",
                hints: ["give more digits of the identifier", hint])
        }
        return member
    }
}
