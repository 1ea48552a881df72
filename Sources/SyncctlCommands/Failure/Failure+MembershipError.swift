import SyncMembers

extension Failure {
    /// The words for what can't be said or done about members.
    ///
    /// - parameter name: The store of the command, as hints name it.
    init(_ error: MembershipError, store name: String) {
        switch error.code {
        case .notAllowed:
            self.init(
                error.message,
                hints: ["see who may do what: syncctl member list \(name)"], status: .remoteRefused)
        case .recoveryKeyInvalid:
            self.init(error.message, hints: ["look at it again; upper and lower case don't matter"])
        case .newerProgramNeeded:
            self.init(error.message, hints: ["use a newer syncctl"], status: .versionMismatch)
        case .tooLarge:
            self.init(
                error.message,
                hints: [
                    "where nothing more can be said, an admin begins anew, and invites the others: syncctl member found \(name) --replace"
                ])
        default:
            self.init(error.message)
        }
    }
}
