/// A manual page, in the language of man(7).
struct ManualPage {
    /// The file: `syncctl-sync.1`.
    let name: String
    let text: String

    /// The pages of a command and of those below it.
    static func pages(of command: ToolDescription.Command, version: String) -> [ManualPage] {
        guard command.shouldDisplay ?? true, command.commandName != "help" else { return [] }
        return [ManualPage(command, version: version)]
            + (command.subcommands ?? []).flatMap { pages(of: $0, version: version) }
    }

    private init(_ command: ToolDescription.Command, version: String) {
        let words = (command.superCommands ?? []) + [command.commandName]
        let title = words.joined(separator: "-")
        name = "\(title).1"
        let arguments = (command.arguments ?? []).filter(\.shouldDisplay)
        let subcommands = (command.subcommands ?? []).filter {
            $0.shouldDisplay ?? true && $0.commandName != "help"
        }
        let parts = [
            ".TH \(Self.quoted(title.uppercased())) 1 \"\" \(Self.quoted("\(words[0]) \(version)")) \"\"",
            Self.section(
                "NAME", "\(Self.escaped(title)) \\- \(Self.escaped(Self.sentence(command.abstract)))"),
            Self.section("SYNOPSIS", Self.synopsis(words, arguments, hasSubcommands: !subcommands.isEmpty)),
            Self.section("DESCRIPTION", Self.discussion(command.discussion)),
            Self.section("COMMANDS", Self.list(subcommands.map { ($0.commandName, $0.abstract ?? "") })),
        ]
        let titles = arguments.map { Self.title(of: $0) }
        let unique = titles.enumerated().filter { titles.firstIndex(of: $1) == $0 }.map(\.element)
        let options = unique.map { title in
            let part = arguments.filter { Self.title(of: $0) == title }
            return Self.section(title, Self.list(part.map { (Self.label(of: $0), Self.help(of: $0)) }))
        }
        let others =
            words.count > 1
            ? Self.section("SEE ALSO", "\(Self.escaped(words.dropLast().joined(separator: "-")))(1)") : ""
        text = (parts + options + [others]).filter { !$0.isEmpty }.joined(separator: "\n") + "\n"
    }

    // MARK: - Parts

    private static func section(_ title: String, _ body: String) -> String {
        body.isEmpty ? "" : ".SH \(quoted(title.uppercased()))\n\(body)"
    }

    private static func synopsis(
        _ words: [String], _ arguments: [ToolDescription.Argument], hasSubcommands: Bool
    ) -> String {
        let values = arguments.filter { $0.kind == "positional" }.map { argument in
            let value = "\\fI\(escaped(argument.valueName ?? ""))\\fR\(argument.isRepeating ? " ..." : "")"
            return argument.isOptional ? "[\(value)]" : value
        }
        let command = "\\fB\(escaped(words.joined(separator: " ")))\\fR"
        let rest = hasSubcommands ? ["\\fIcommand\\fR"] : []
        return ([command] + rest + values + ["[\\fIoptions\\fR]"]).joined(separator: " ")
    }

    /// Paragraphs are filled. Lines that are indented, such as examples, stay as they are.
    private static func discussion(_ text: String?) -> String {
        var lines: [String] = []
        var isLiteral = false
        for line in (text ?? "").split(separator: "\n", omittingEmptySubsequences: false) {
            let wantsLiteral = line.hasPrefix("  ") && !line.allSatisfy(\.isWhitespace)
            if wantsLiteral != isLiteral, !(isLiteral && line.allSatisfy(\.isWhitespace)) {
                lines.append(wantsLiteral ? ".nf" : ".fi")
                isLiteral = wantsLiteral
            }
            lines.append(line.allSatisfy(\.isWhitespace) ? ".PP" : escaped(String(line)))
        }
        if isLiteral { lines.append(".fi") }
        return lines.joined(separator: "\n")
    }

    private static func list(_ items: [(label: String, text: String)]) -> String {
        items.map { ".TP\n\\fB\(escaped($0.label))\\fR\n\(escaped($0.text))" }.joined(separator: "\n")
    }

    private static func title(of argument: ToolDescription.Argument) -> String {
        argument.sectionTitle ?? (argument.kind == "positional" ? "Arguments" : "Options")
    }

    private static func label(of argument: ToolDescription.Argument) -> String {
        let value = argument.valueName.map { "<\($0)>" } ?? ""
        guard argument.kind != "positional" else { return value }
        let names = (argument.names ?? []).map(\.text).joined(separator: ", ")
        return argument.kind == "flag" || value.isEmpty ? names : "\(names) \(value)"
    }

    private static func help(of argument: ToolDescription.Argument) -> String {
        let text = argument.abstract ?? ""
        guard let value = argument.defaultValue, !value.isEmpty, !text.contains("(default:") else {
            return text
        }
        return "\(text) (default: \(value))"
    }

    // MARK: - Text

    /// An abstract without the period at its end, as man pages have it.
    private static func sentence(_ text: String?) -> String {
        guard let text else { return "" }
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    private static func quoted(_ text: String) -> String {
        "\"" + escaped(text).replacing("\"", with: "\\(dq") + "\""
    }

    /// The text as roff shows it: a backslash, a hyphen and a line that begins like a request mean something else.
    private static func escaped(_ text: String) -> String {
        let result = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return result.hasPrefix(".") || result.hasPrefix("'") ? "\\&" + result : result
    }
}
