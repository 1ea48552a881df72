import ArgumentParser

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Invitations on the command line.
package enum InvitationArgument {
    /// Whether an argument is meant as an invitation, which "-" reads from standard input.
    package static func isMeant(_ text: String) -> Bool {
        text == "-" || schemes.contains(where: text.hasPrefix)
    }

    /// What the links of servers and of relays begin with.
    static let schemes = ["cipherstore:", "cipherstore-relay:"]

    /// The link of an invitation: from a file, from standard input or its terminal, or from an argument, which other
    /// users can read.
    ///
    /// - Parameters:
    ///   - argument: The link, or "-".
    ///   - file: The file that holds it; it goes before the argument.
    /// - Throws: A ``Failure`` when it can't be read.
    package static func link(_ argument: String?, file: String?, _ context: CommandContext) throws -> String {
        if let file {
            let name = "invitation file \(file)"
            return try PassphraseFile.content(of: file, name: name).text(from: name)
        }
        if let argument, argument != "-" {
            context.note(
                """
                other users of this machine could read the invitation among the arguments, until it was removed from \
                there just now; use - or \(InvitationFileOption.flag) next time
                """)
            return argument
        }
        guard isatty(STDIN_FILENO) == 1 else {
            var line = try SecretBuffer()
            try line.fillLine(from: STDIN_FILENO, origin: "standard input")
            return try line.text(from: "standard input")
        }
        return try ask(PassphrasePrompt().device)
    }

    /// Asks for the link on a terminal, which does not show it.
    static func ask(_ device: String) throws -> String {
        guard let input = HiddenInput(device: device, erasesPrompt: true) else {
            throw Failure.usage(
                "cannot ask for the invitation: there is no terminal",
                hints: ["use \(InvitationFileOption.flag)"])
        }
        defer { input.end() }
        let answer = try input.readLine(after: "Enter the link of the invitation: ")
        return try answer.text(from: "the invitation")
    }
}

/// The option that names the file of an invitation.
package struct InvitationFileOption: ParsableArguments {
    package static let flag = "--invitation-file"

    @Option(
        name: .customLong("invitation-file"),
        help: .init("Read the link of the invitation from a file.", valueName: "file"), completion: .file())
    package var file: String?

    package init() {}
}
