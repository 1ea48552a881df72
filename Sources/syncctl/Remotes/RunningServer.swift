import SyncHTTP
import SyncctlCommands

/// Whether the server of a store runs, as far as that can be told from here.
enum RunningServer {
    /// Whether it answers at an address, with the certificate that is expected there.
    static func answers(at address: ServerAddress) -> Bool {
        PortProbe.answers(host: address.host, port: address.port) && address.hasExpectedCertificate
    }

    /// Says that a link leads to a server that does not answer.
    ///
    /// - returns: Whether it answers.
    static func check(_ address: ServerAddress, of store: String, _ context: CommandContext) -> Bool {
        guard !answers(at: address) else { return true }
        context.note(
            "nobody answers at \(address.url) from here; is the server running? start it with: syncctl serve \(CommandWords.path(store))"
        )
        return false
    }
}
