import SyncRelay
import SyncctlCommands

/// What a relay wants of those who make channels.
enum RelayAdmission {
    /// What to do where the file of ``token(in:hint:)`` is another one, for whoever asks the relay.
    static let askHint =
        "take the file with the token that the relay was started with; whoever runs the relay has it"
    /// The same for whoever runs the relay. It names no file: the wrong one may hold the only copy of another secret.
    static let makeHint =
        "name the file of a token, or make one in a new file: openssl rand -hex 32 > <new-file>"

    /// Reads a token from a file: 64 hexadecimal digits.
    ///
    /// - parameter hint: What to do where the file holds none.
    /// - throws: A ``Failure`` for what is none.
    static func token(in file: String, hint: String) throws -> RelayToken {
        let name = "admission file \(file)"
        let text = try PassphraseFile.text(of: file, name: name)
        guard let token = RelayToken(text.lowercased()) else {
            throw Failure("\(name): it holds no token of 64 hexadecimal digits", hints: [hint])
        }
        return token
    }
}
