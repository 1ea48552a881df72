import SyncRelay
import SyncctlCommands

extension Failure {
    /// The words for a relay that can't be used, and the exit code.
    ///
    /// - parameter store: The store that the command works on, for hints that name it.
    init(_ error: RelayError, store: String? = nil) {
        let name = store.map(CommandWords.path) ?? "<store>"
        var hints = error.hint.map { [$0] } ?? []
        let status: ExitStatus
        switch error.code {
        case .unreachable:
            status = .remoteUnreachable
            hints.append("try again later; what was not finished goes on then")
        case .wrongCertificate:
            status = .remoteRefused
            // No fingerprint helps there.
            if error.hint == RelayError.trustAuthority { break }
            hints.append(
                "if the relay was set up anew, take the fingerprint that it printed: syncctl share \(name) --relay <url> --fingerprint <hex>"
            )
            hints.append("other stores learn it by a new link: syncctl remote add <store> - --replace")
        case .unauthorized, .conflict, .noSuchInvitation, .forgedInvitation:
            status = .remoteRefused
        case .invalidLink, .invalidAddress: status = .usage
        case .noSuchRelay:
            status = .failure
            hints.append("see: syncctl remote list \(name)")
        case .full:
            status = .failure
            hints.append(Self.relayRoomHint)
        case .failed: status = .failure
        }
        self.init(error.message, hints: hints, status: status, passes: error.mayPass)
    }
}
