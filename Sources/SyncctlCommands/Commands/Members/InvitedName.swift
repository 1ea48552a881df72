import SyncEngine
import SyncMembers

/// What a member is called who is invited. A name has one invitation that can be used: people withdraw it by the name.
package enum InvitedName {
    private static let usual = "guest"
    /// How many of those are named who have not come in time.
    private static let nameCountMax = 5

    /// The name for an invitation. One that can't be used any more does not keep its name from others.
    ///
    /// - parameters:
    ///   - label: The name that was asked for; nil for one that is free.
    ///   - membership: The members, of which this store is an admin's.
    ///   - store: The path of the store.
    ///   - context: Where is said who has not come in time.
    /// - throws: ``Failure`` when somebody was invited under the name and may come still, or when this store's member is no
    ///   admin.
    package static func choose(
        _ label: String?, in membership: Membership, of store: String, _ context: CommandContext
    ) throws -> MemberName {
        let asked = try label.map { text in try MemberName(text) }
        try membership.requireAdmin(of: store)
        try tell(of: membership.expiredInvitations(), store, context)
        guard let asked else { return try free(in: membership) }
        guard try membership.openInvitations(of: asked).isEmpty else {
            throw Failure.refused(
                "\(asked) is invited already, and nobody has used that yet as far as this store knows",
                hints: [
                    "withdraw it with: syncctl member remove \(CommandWords.path(store)) \(CommandWords.quoted(asked.text))",
                    "or give the new member another name: --label <name>",
                ])
        }
        if try (membership.members() ?? []).contains(where: {
            $0.member.name == asked && $0.standing == .active
        }) {
            context.note(
                "somebody is called \(asked) already; this one is another member, and is told apart by the identifier"
            )
        }
        return asked
    }

    /// Says who has not come in time. Only a person can know whether they have used their links, so nobody is removed here.
    private static func tell(of expired: [KnownMember], _ store: String, _ context: CommandContext) {
        guard !expired.isEmpty else { return }
        let names = expired.prefix(nameCountMax).map { "\($0.member.name) (\($0.member.id))" }
        let more = expired.count > nameCountMax ? ", …" : ""
        context.note(
            "as far as this store knows, nobody has used these invitations in time: \(names.joined(separator: ", "))\(more); synchronize, and withdraw those that have not been used: syncctl member remove \(CommandWords.path(store)) <identifier>"
        )
    }

    private static func free(in membership: Membership) throws -> MemberName {
        let taken = try membership.invitedNames()
        var (name, number) = (try MemberName(usual), 1)
        while taken.contains(name) {
            number += 1
            name = try MemberName("\(usual) \(number)")
        }
        return name
    }
}
