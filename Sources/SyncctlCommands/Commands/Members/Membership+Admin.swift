import SyncEngine
import SyncMembers

extension Membership {
    /// Throws when this store is no admin's: what it says of others would not count.
    ///
    /// - parameter store: The path of the store.
    /// - throws: A ``Failure`` that says what the store is instead. Nothing for a database without members.
    package func requireAdmin(of store: String) throws {
        let path = CommandWords.path(store)
        if let role = try self.role() {
            guard role != .admin else { return }
            throw Failure.refused(
                "only an admin may do that, and this store's role is \(role)",
                hints: ["see who is one: syncctl member list \(path)"])
        }
        guard let members = try members() else { return }
        let own = members.first(where: \.isOwn)
        throw Failure.refused(
            own.map {
                $0.standing == .removed
                    ? "this store's member, \($0.member.name), was removed"
                    : "this store's device was removed from \($0.member.name)"
            } ?? "only an admin may do that, and this store is no device of a member",
            hints: [
                "ask an admin for an invitation; see who is one: syncctl member list \(path)",
                "or become one by the recovery key: syncctl member recover \(path) --recovery-key-file <file>",
            ])
    }
}
