import SyncEngine
import SyncMembers
import SyncctlCommands

/// The members of a database whose store is shared through a channel.
struct ChannelMembers {
    private let membership: Membership
    private let label: String?
    private let chosenRole: MemberRole?
    private let ownName: String?
    /// What to say to whoever shares a store of a database without members.
    private let noMembers =
        "the database has no members: whoever uses the link reads and writes all of it for good"

    init(_ synchronizer: Synchronizer, label: String?, role: MemberRole?, ownName: String?) {
        membership = synchronizer.membership
        (self.label, chosenRole, self.ownName) = (label, role, ownName)
    }

    /// Somebody who was added.
    struct Added {
        /// What the new member is called.
        let name: String
        /// What goes into the link.
        let invitation: MembershipInvitation
    }

    /// What it may do.
    var role: MemberRole { chosenRole ?? .writer }

    /// Refuses what was said of members of a database that has none and gets none, before anything is changed.
    ///
    /// - parameter store: The path of the store.
    /// - throws: A ``Failure``.
    func requireSome(store: String) throws {
        guard chosenRole != nil || ownName != nil, try membership.state() == nil else { return }
        let founding = "syncctl member found \(CommandWords.path(store))"
        guard chosenRole == nil else {
            throw Failure.usage(
                "the database has no members, so nobody has a role",
                hints: ["give it members with: \(founding)"])
        }
        throw Failure.usage(
            "the database has no members, and this store is not the first of a new channel, so nobody takes the name of --as",
            hints: ["give it members with: \(founding) --as <name>"])
    }

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
    /// - parameters:
    ///   - path: The path of the store.
    ///   - context: Where is said what else was done.
    ///   - remark: Takes what whoever shares the store has to know.
    ///   - update: Brings here what other members have said meanwhile.
    /// - returns: Who was added; nil in a database without members.
    func invite(
        store path: String, _ context: CommandContext, remark: (String) -> Void, update: () throws -> Void
    ) throws -> Added? {
        let store = CommandWords.path(path)
        guard try membership.state() != nil else {
            remark("\(noMembers); it gets members with: syncctl member found \(store)")
            return nil
        }
        try update()
        let name = try InvitedName.choose(label, in: membership, of: path, context)
        return Added(name: name.text, invitation: try membership.invite(name, as: role))
    }

    /// Makes the link for somebody who was added. Without a link nobody waits for that one.
    ///
    /// - parameters:
    ///   - added: Who was added; nil in a database without members.
    ///   - body: Makes the link, and says until when it can be used, in milliseconds of Unix time.
    func linking<Link>(
        _ added: Added?, _ body: (MembershipInvitation?) throws -> (link: Link, end: Int64)
    ) throws -> (link: Link, end: Int64) {
        do {
            let made = try body(added?.invitation)
            if let added { try membership.note(endOf: added.invitation, made.end) }
            return made
        } catch {
            if let added { try? membership.withdraw(added.invitation) }
            throw error
        }
    }
}
