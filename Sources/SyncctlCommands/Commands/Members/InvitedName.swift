import SyncEngine
import SyncMembers

/// What a member is called who is invited. A name has one invitation that can be used: people withdraw it by the name.
package enum InvitedName {
    private static let usual = "guest"

    /// The name for an invitation. Of invitations that have expired it is said how to withdraw them: nobody but a person can
    /// know that they were not used.
    ///
    /// - parameters:
    ///   - label: The name that was asked for; nil for one that is free.
    ///   - membership: The members, of which this store is an admin's. For others nothing is said or refused here.
    ///   - store: The path of the store.
    ///   - context: Where is said what has expired.
    /// - throws: ``Failure`` when somebody was invited under the name and may come still.
    package static func choose(
        _ label: String?, in membership: Membership, of store: String, _ context: CommandContext
    ) throws -> MemberName {
        let asked = try label.map { text in try MemberName(text) }
        guard try membership.role() == .admin else { return try asked ?? MemberName(usual) }
        for name in Set(try membership.expiredInvitations().map(\.member.name.text)).sorted() {
            context.note(
                """
                the invitation of \(name) has expired, and nobody has used it as far as this store knows; if that is so, \
                withdraw it: syncctl member remove \(CommandWords.path(store)) \(CommandWords.quoted(name))
                """)
        }
        guard let asked else { return try free(in: membership) }
        guard try membership.openInvitations(of: asked).isEmpty else {
            throw Failure.refused(
                "\(asked) is invited already, and nobody has used that yet as far as this store knows",
                hints: [
                    "withdraw it with: syncctl member remove \(CommandWords.path(store)) \(CommandWords.quoted(asked.text))",
                    "or give the new member another name: --label <name>",
                ])
        }
        return asked
    }

    private static func free(in membership: Membership) throws -> MemberName {
        var (name, number) = (try MemberName(usual), 1)
        while try !membership.openInvitations(of: name).isEmpty {
            number += 1
            name = try MemberName("\(usual) \(number)")
        }
        return name
    }
}
