/// Prints a failure to stderr, for a person or as one JSON document.
struct FailureReporter: Sendable {
    let terminal: Terminal
    /// Whether the command was given `--json`.
    let isJSON: Bool

    /// Prints the failure. Its exit status is left to the caller.
    ///
    /// A progress line on the screen is kept: it shows how far the command came.
    func report(_ failure: Failure) {
        terminal.endLiveLine()
        if isJSON {
            terminal.writeError(Self.document(failure))
        } else {
            terminal.writeError(Self.lines(failure, style: terminal.errorStyle).joined(separator: "\n"))
        }
    }

    /// The failure as `syncctl: error: …` and `syncctl: hint: …` lines.
    static func lines(_ failure: Failure, style: Style) -> [String] {
        let error = line(style.red("error:"), failure.message)
        return error + failure.hints.flatMap { line(style.yellow("hint:"), $0) }
    }

    /// The failure as a JSON document on one line, its fields in documented order.
    ///
    /// Several hints become one text with a line each, for `hint` is a single text; without a
    /// hint the field is absent.
    static func document(_ failure: Failure) -> String {
        var fields = [
            "\"message_type\":\"exit_error\"",
            "\"code\":\(failure.status.rawValue)",
            "\"message\":\(JSONText.quoted(failure.message))",
        ]
        if !failure.hints.isEmpty {
            fields.append("\"hint\":\(JSONText.quoted(failure.hints.joined(separator: "\n")))")
        }
        return "{\(fields.joined(separator: ","))}"
    }

    /// One message, which may have several lines; those after the first are indented.
    private static func line(_ kind: String, _ text: String) -> [String] {
        let parts = text.split(omittingEmptySubsequences: true, whereSeparator: \.isNewline)
        guard let first = parts.first else { return ["syncctl: \(kind)"] }
        return ["syncctl: \(kind) \(PrintableText.escaped(String(first)))"]
            + parts.dropFirst().map { "  \(PrintableText.escaped(String($0)))" }
    }
}
