import SyncHTTP
import SyncctlCommands

extension Failure {
    /// The words for an error of a server, and the exit code.
    ///
    /// - parameter store: The store that the command works on, for hints that name it.
    init(_ error: RemoteError, store: String? = nil) {
        let name = store.map(CommandWords.path) ?? "<store>"
        let invitation = "ask for an invitation there: syncctl invite <store> --label <name>"
        switch error.code {
        case .unreachable, .busy, .tooSlow:
            self.init(
                error.message, hints: ["try again later; what was not finished goes on then"],
                status: .remoteUnreachable)
        case .wrongCertificate:
            self.init(
                error.message, hints: ["if the server was set up anew, \(invitation)"], status: .remoteRefused
            )
        case .invalidInvite, .unknownDevice, .revokedDevice:
            self.init(error.message, hints: [invitation], status: .remoteRefused)
        case .readOnlyDevice:
            self.init(
                error.message, hints: ["bring its changes with: syncctl pull \(name)"], status: .remoteRefused
            )
        case .otherReplica:
            // What another invitation doesn't change, the server says how to change.
            let hint = "enrol this store anew with: syncctl remote add \(name) - --replace"
            self.init(
                error.message, hints: error.message.contains("syncctl") ? [] : [hint], status: .remoteRefused)
        case .noSuchStore, .invalidSignature, .sessionEnded: self.init(error.message, status: .remoteRefused)
        case .unsupportedVersion:
            self.init(
                error.message, hints: ["install the same version on both sides"], status: .versionMismatch)
        case .noSuchRemote:
            self.init(
                error.message,
                hints: [
                    "name another store, a folder or a bucket with --remote",
                    "take the link of a server or a relay with: syncctl remote add \(name) -",
                ])
        case .invalidAddress: self = .usage(error.message)
        default: self.init(error.message)
        }
    }
}
