import SyncEngine
import SyncMembers
import SyncctlCommands

/// The members of a database whose store is shared through a channel.
struct ChannelMembers {
    private let membership: Membership
    private let label: String?
    private let chosenRole: MemberRole?
    private let ownName: String?

    init(_ synchronizer: Synchronizer, label: String?, role: MemberRole?, ownName: String?) {
        membership = synchronizer.membership
        (self.label, chosenRole, self.ownName) = (label, role, ownName)
    }

    /// What the new member is called.
    var name: String { label ?? "guest" }
    /// What it may do.
    var role: MemberRole { chosenRole ?? .writer }

    /// Founds the membership with a new channel, unless the database has members already.
    ///
    /// - parameter store: The path of the store.
    /// - returns: The recovery key, which was shown before it counted.
    func found(store: String, _ context: CommandContext) throws -> String? {
        guard try membership.state() == nil else { return nil }
        let name = try MemberNames.own(ownName)
        let shown = try ShownRecoveryKey(onErrorOf: context)
        try shown.use(in: store) { try membership.found(name, recoveryKey: $0) }
        context.note("\(name) is the first member of the database, and its admin")
        return shown.text
    }

    /// Adds a member, in a database that has some.
    ///
    /// - parameter update: Brings here what other members have said meanwhile.
    /// - returns: What goes into the link; nil in a database without members.
    func invite(
        store: String, _ context: CommandContext, update: () throws -> Void
    ) throws -> MembershipInvitation? {
        guard try membership.state() != nil else {
            guard chosenRole == nil else {
                throw Failure.usage(
                    "the database has no members, so nobody has a role",
                    hints: ["give it members with: syncctl member found \(store)"])
            }
            context.note(
                "the database has no members: whoever uses the link reads and writes all of it for good; it gets members with: syncctl member found \(store)"
            )
            return nil
        }
        try update()
        guard try membership.role() == .admin else {
            throw Failure(
                "only an admin adds members, and this store is a device of none",
                hints: ["see who is one: syncctl member list \(store)"], status: .remoteRefused)
        }
        return try membership.invite(MemberName(name), as: role)
    }
}
