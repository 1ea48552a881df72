import CipherStore

/// Asks a person for a passphrase on the terminal, even if stdin and stdout are redirected.
///
/// What is typed is not shown, and the prompt is erased once it is answered. Without a terminal it
/// fails at once and names the flags to use instead.
struct PassphrasePrompt: Sendable {
    /// The terminal. `/dev/tty` is the one that controls the process.
    var device = CommandSurroundings.current == nil ? "/dev/tty" : "/dev/null"
    /// Whether the terminal can erase a line; false where `TERM` is `dumb`.
    var erasesPrompt = true

    /// Asks for a passphrase; for a new one twice, which must be the same.
    func ask(_ request: PassphraseRequest) throws -> Passphrase {
        let input = try open(request)
        defer { input.end() }
        let answer = try input.readLine(after: "Enter \(PrintableText.escaped(request.name)): ")
        return try confirmed(answer, request, input)
    }

    /// Asks for a passphrase that may be left away: nil if the answer is empty.
    ///
    /// - Parameter note: What an empty answer means: `empty to generate one`.
    func ask(_ request: PassphraseRequest, note: String) throws -> Passphrase? {
        let input = try open(request)
        defer { input.end() }
        let prompt = "Enter \(PrintableText.escaped(request.name)) (\(note)): "
        let answer = try input.readLine(after: prompt)
        return answer.count == 0 ? nil : try confirmed(answer, request, input)
    }

    private func confirmed(
        _ answer: borrowing SecretBuffer, _ request: PassphraseRequest, _ input: HiddenInput
    ) throws -> Passphrase {
        let passphrase = try answer.passphrase(from: "the \(request.kind.name)")
        guard request.isNew else { return passphrase }
        let repetition = try input.readLine(after: "Repeat passphrase: ")
        // An empty or overlong repetition is no match either, and deserves no error of its own.
        guard let second = try? repetition.passphrase(from: ""), passphrase.matches(second) else {
            throw Failure("the two passphrases are not the same")
        }
        return passphrase
    }

    private func open(_ request: PassphraseRequest) throws -> HiddenInput {
        guard let input = HiddenInput(device: device, erasesPrompt: erasesPrompt) else {
            let kind = request.kind
            throw Failure.usage(
                "cannot ask for the \(kind.name): there is no terminal",
                hints: ["use \(kind.fileFlag), \(kind.commandFlag) or \(kind.descriptorFlag)"])
        }
        return input
    }
}
