import SyncRelay
import SyncctlCommands

/// What a relay wants of those who make channels.
enum RelayAdmission {
    /// Reads a token from a file: 64 hexadecimal digits.
    ///
    /// - throws: A ``Failure`` for what is none.
    static func token(in file: String) throws -> RelayToken {
        let name = "admission file \(file)"
        let text = try PassphraseFile.text(of: file, name: name)
        guard let token = RelayToken(text.lowercased()) else {
            throw Failure(
                "\(name): it holds no token of 64 hexadecimal digits",
                hints: ["one is made with: openssl rand -hex 32 > \(CommandWords.path(file))"])
        }
        return token
    }
}
