import CipherStore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Where a passphrase comes from. Never from the command line itself, which every user can read.
enum PassphraseSource: Equatable, Sendable {
    /// A file that only its owner can read, or a named pipe.
    case file(String)
    /// A command that prints the passphrase, run without a shell (see `CommandWords`).
    case command(String)
    /// An open file descriptor, read to its end.
    case descriptor(Int32)
    /// The environment variable of this name, removed once it has been read.
    case environment(String)
    /// The person at the terminal.
    case prompt
}

/// What is asked for: the words of the prompt and of the messages.
struct PassphraseRequest: Sendable {
    let kind: PassphraseKind
    /// What the passphrase opens, as the user wrote it: `notes.db`.
    let subject: String?
    /// Whether a prompt asks a second time.
    let isNew: Bool

    /// - Parameter isNew: Whether the passphrase is being chosen; by default as its kind says.
    ///   `init` asks for a new passphrase of kind `store`.
    init(_ kind: PassphraseKind, subject: String? = nil, isNew: Bool? = nil) {
        self.kind = kind
        self.subject = subject
        self.isNew = isNew ?? kind.isNew
    }

    /// `passphrase for notes.db`.
    var name: String {
        subject.map { "\(kind.name) for \($0)" } ?? kind.name
    }
}

/// Reads passphrases from their sources into locked memory.
///
/// One newline at the end is removed from a file, a descriptor and a command's output, for editors
/// and `echo` add it; LF and CRLF count. Nothing else is trimmed. An empty passphrase and one
/// longer than 1,024 bytes are refused.
struct PassphraseReader: Sendable {
    var prompt = PassphrasePrompt()
    var command = PassphraseCommand()

    func read(_ source: PassphraseSource, for request: PassphraseRequest) throws -> Passphrase {
        switch source {
        case .file(let path):
            return try PassphraseFile.read(path)
        case .command(let line):
            return try command.read(line)
        case .descriptor(let descriptor):
            return try Self.read(descriptor: descriptor, for: request.kind)
        case .environment(let name):
            return try PassphraseEnvironment.take(name).passphrase(from: name)
        case .prompt:
            return try prompt.ask(request)
        }
    }

    private static func read(descriptor: Int32, for kind: PassphraseKind) throws -> Passphrase {
        let origin = "file descriptor \(descriptor)"
        guard isatty(descriptor) == 0 else {
            throw Failure.usage(
                "\(origin) is a terminal",
                hints: ["leave \(kind.descriptorFlag) away to be asked for the passphrase"])
        }
        // A passphrase command that runs later must not inherit it. The descriptor stays open, for
        // it belongs to whoever started the process.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var buffer = try SecretBuffer()
        guard try buffer.fill(from: descriptor, origin: origin) == .ended else {
            throw SecretBuffer.tooLong(origin)
        }
        buffer.removeTrailingNewline()
        return try buffer.passphrase(from: origin)
    }
}
