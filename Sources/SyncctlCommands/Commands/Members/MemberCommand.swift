import ArgumentParser
import CipherStore
import SyncEngine
import SyncMembers

/// The members of a database.
struct MemberCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "member",
        abstract: "List, remove and change the members of a database.",
        discussion: """
            A database that stores exchange through a relay, a folder or a bucket can have members. Each reads, writes or \
            administers, and a removal ends what somebody reads and writes from then on. Without members, whoever has \
            the link of a relay, or the passphrase of a folder, reads and writes all of it for good.

            syncctl share makes the first member of a new channel, and adds one with each link. What is said here \
            goes to the others with the next synchronization.

            EXAMPLES:
              syncctl member list notes.db
              syncctl member role notes.db ben reader
              syncctl member remove notes.db ben
              syncctl member found notes.db --as anna      # of a folder, or an old channel
            """,
        subcommands: [
            MemberListCommand.self, MemberInviteCommand.self, MemberAcceptCommand.self,
            MemberRemoveCommand.self, MemberRoleCommand.self, MemberFoundCommand.self,
            MemberRecoverCommand.self,
        ])
}

/// Lists the members that a store knows.
struct MemberListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the members that this store knows.",
        usage: "syncctl member list <store> [<options>]",
        discussion: """
            An invitation whose time is over is known as that to the store that made it, and is "invited" to others: only that store \
            knows the time.
            """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        struct Entry: Encodable {
            let member: String
            let name: String
            let role: String?
            let state: String
            /// Whether its invitation can't be used any more, in the store that made it.
            let expired: Bool?
            let local: Bool
            let devices: [String]
            let replicas: [String]
            let since: String
        }
        let store: String
        let members: [Entry]
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let synchronizer = try Synchronizer(existing: context.openForReading(options))
            let members = try synchronizer.membership.members()
            let expired = Set(try synchronizer.membership.expiredInvitations().map(\.member.id))
            let document = Document(
                store: options.store,
                members: (members ?? []).map {
                    .init(
                        member: $0.member.id.description, name: $0.member.name.text,
                        role: $0.member.role?.description, state: $0.standing.rawValue,
                        expired: expired.contains($0.member.id) ? true : nil, local: $0.isOwn,
                        devices: $0.activeDevices.map(\.description),
                        replicas: $0.replicas.map(\.description),
                        since: HumanFormat.timestamp($0.knownSinceMilliseconds))
                })
            try context.print(document, text: text(members ?? [], expired, context))
            if members == nil {
                let store = CommandWords.path(options.store)
                context.note(
                    "the database has no members: whoever has its files and their passphrase reads and writes all of it"
                )
                context.note("it gets members with: syncctl member found \(store)")
            }
            return .success
        }
    }

    /// - parameter expired: Whose invitations can't be used any more.
    private func text(
        _ members: [KnownMember], _ expired: Set<MemberID>, _ context: CommandContext
    ) -> String {
        guard !members.isEmpty else { return "no members" }
        var table = Table([
            .text("NAME"), .text("ROLE"), .text("STATE"), .text("DEVICES"), .text("SINCE"), .text("MEMBER"),
        ])
        for known in members {
            var state = known.isOwn && known.standing == .active ? "this store" : known.standing.rawValue
            if expired.contains(known.member.id) { state = "invited, expired" }
            table.addRow([
                .init(known.member.name.text), .init(known.member.role?.description ?? "-"), .init(state),
                .init("\(known.activeDevices.count)"),
                .init(HumanFormat.timestamp(known.knownSinceMilliseconds, style: .minute)),
                .init(known.member.id.shortDescription),
            ])
        }
        return table.text(style: context.terminal.outputStyle)
    }
}
