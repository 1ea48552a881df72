import SyncEngine
import SyncMembers

extension Membership {
    /// Throws when this store is of a member who is no admin: what it says of others would not count.
    ///
    /// - parameter store: The path of the store.
    func requireAdmin(of store: String) throws {
        guard let role = try self.role(), role != .admin else { return }
        throw Failure.refused(
            "only an admin may do that, and this store's role is \(role)",
            hints: ["see who is one: syncctl member list \(CommandWords.path(store))"])
    }
}
