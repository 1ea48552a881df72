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
        default:
            self.init(error.message)
        }
    }
}
