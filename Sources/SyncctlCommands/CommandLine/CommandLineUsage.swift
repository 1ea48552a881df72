import ArgumentParser
import Foundation

/// What is wrong with a command line, in the words and the form of all other failures.
struct CommandLineUsage {
    let root: any ParsableCommand.Type
    let arguments: [String]
    /// Whether there is a file; tests give their own.
    var isFile: (String) -> Bool = { FileManager.default.fileExists(atPath: $0) }

    /// The short names of options, which may stand behind one dash together.
    private static let shortNames = Set("hqry")

    /// The words that may be options: what follows a `--` is none.
    private var words: ArraySlice<String> { arguments.prefix { $0 != "--" } }

    private static func name(_ command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? ""
    }

    private static func isName(_ word: String, of command: any ParsableCommand.Type) -> Bool {
        name(command) == word || command.configuration.aliases.contains(word)
    }

    /// Whether somebody asked for help, or for something else that is printed instead of running a command. The parser
    /// takes each name that begins with a dash and has an h for that.
    var asksForHelp: Bool {
        guard let first = arguments.first, first != "help" else { return true }
        let names = ["--help", "--help-hidden", "--version", "--experimental-dump-help"]
        return words.contains {
            names.contains($0) || $0.hasPrefix("--generate-completion-script") || isShortOptions($0)
        }
    }

    private func isShortOptions(_ word: String) -> Bool {
        word.hasPrefix("-") && word.contains("h") && word.dropFirst().allSatisfy(Self.shortNames.contains)
    }

    /// The first words, as far as they name commands.
    private var commands: (names: [String], last: any ParsableCommand.Type, rest: ArraySlice<String>) {
        var rest = arguments[...]
        if rest.first == "help" { rest.removeFirst() }
        var names: [String] = []
        var last = root
        while let word = rest.first,
            let next = last.configuration.subcommands.first(where: { Self.isName(word, of: $0) })
        {
            names.append(word)
            last = next
            rest.removeFirst()
        }
        return (names, last, rest)
    }

    /// The command that the first words name, with its arguments; nil when it is not known to be right.
    ///
    /// The groups of commands have no options, so they are left out: the parser looks at all options of a command
    /// several times for each level above it, which was 40 % of what parsing took in a debug build. What is wrong is
    /// parsed from the root, whose messages have the whole name of the command.
    func namedCommand() -> (any ParsableCommand)? {
        let (names, last, rest) = commands
        guard !names.isEmpty, arguments.first != "help", last.configuration.subcommands.isEmpty else {
            return nil
        }
        guard let command = try? last.parseAsRoot(Array(rest)), type(of: command) == last else { return nil }
        return command
    }

    /// The command whose help says more.
    private var help: String {
        (["see: \(Self.name(root)) help"] + commands.names).joined(separator: " ")
    }

    /// Why the first words name no command; nil when they do.
    func unknownCommand() -> Failure? {
        let (names, last, rest) = commands
        let subcommands = last.configuration.subcommands.map(Self.name)
        let isHelp = arguments.first == "help"
        let takesStore = !isHelp && last.configuration.defaultSubcommand != nil
        guard !subcommands.isEmpty, !takesStore || isMistypedCommand(rest) else { return nil }
        let group = ([Self.name(root)] + names).joined(separator: " ")
        guard let word = rest.first else {
            guard !isHelp, !names.isEmpty else { return nil }
            return .usage(
                "\(group) is several commands: \(subcommands.joined(separator: ", "))", hints: [help])
        }
        if word.hasPrefix("-") || (isHelp && names.isEmpty && word == "help") { return nil }
        let nearest = NameSuggestion.nearest(word, among: subcommands)
        return .usage(
            "there is no command \(group) \(PrintableText.escaped(word))",
            hints: (nearest.map { ["did you mean: \(group) \($0)"] } ?? []) + [help])
    }

    /// Whether words begin with one that is no command of a group that takes a store, too: it looks like no file, none has
    /// this name, and another name follows.
    private func isMistypedCommand(_ words: ArraySlice<String>) -> Bool {
        guard let word = words.first, let next = words.dropFirst().first else { return false }
        return !word.isEmpty && !word.contains { "-./".contains($0) } && !next.hasPrefix("-")
            && !isFile(word)
    }

    /// The failure for an error of the parser.
    ///
    /// - parameters:
    ///   - message: What it says.
    ///   - explanation: The same with how the command is used.
    func failure(_ message: String, explanation: String) -> Failure {
        let line = explanation.split(separator: "\n").first { $0.hasPrefix("Usage: ") }
        let usage = line.map { ["usage: \($0.dropFirst("Usage: ".count))"] } ?? []
        // As all other messages. One that begins with a name or an acronym stays.
        let isWord = message.dropFirst().first?.isLowercase ?? false
        let text = isWord ? message.prefix(1).lowercased() + message.dropFirst() : message
        return .usage(text, hints: numberHints(message) + dashHints(message) + usage + [help])
    }

    /// The failure for a name that the parser took for the short names of options.
    var misreadName: Failure {
        .usage("a name that begins with a dash is taken for options", hints: dashHints(nil) + [help])
    }

    /// Whether a word is a number below 0, or such a time.
    private static func isNegative(_ word: String) -> Bool { word.wholeMatch(of: /-[0-9.]+[a-z]?/) != nil }

    /// What is said where such a word stands in place of a value: the parser takes it for an option.
    private func numberHints(_ message: String) -> [String] {
        // Missing value for '--row <key>'
        guard let option = message.prefixMatch(of: /Missing value for '(-[^ ']+)/)?.output.1,
            let word = zip(words, words.dropFirst()).first(where: { $0 == option && Self.isNegative($1) })?.1
        else { return [] }
        return [
            "\(word) is taken for an option: numbers and times are not negative, and anything else is written as \(option)=\(word)"
        ]
    }

    /// How a name is written that begins with a dash.
    ///
    /// - parameter message: What the parser says, which names an option that it does not know.
    private func dashHints(_ message: String?) -> [String] {
        let names = words.filter { word in
            guard word.hasPrefix("-"), word.count > 1 else { return false }
            // A number is one, and two dashes begin an option that is mistyped, unless there is a file of that name.
            if word.hasPrefix("--"), let message, !message.contains(word) { return false }
            return word.hasPrefix("--") || Self.isNegative(word)
                ? isFile(word)
                : !word.dropFirst().allSatisfy(Self.shortNames.contains)
        }
        guard let name = names.first else { return [] }
        return [
            "a file whose name begins with a dash: \(CommandWords.path(name)); any other name: after --, as the last argument"
        ]
    }
}
