/// Splits a command line into words without a shell, by one small rule.
///
/// - Spaces, tabs and newlines separate words.
/// - Between single quotes every character stands for itself.
/// - Between double quotes every character stands for itself, except that `\"` is a quote and
///   `\\` a backslash.
/// - Outside of quotes a backslash makes the next character stand for itself.
/// - Quoted and unquoted parts that touch are one word; `''` is an empty word.
///
/// Nothing else has a meaning: no variables, no `~`, no `*`, no pipes. Who needs those runs
/// `sh -c '…'`.
package enum CommandWords {
    /// The words of a command line; at least one.
    static func split(_ line: String) throws -> [String] {
        var words: [String] = []
        var word: String?
        var rest = line.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case " ", "\t", "\n", "\r":
                if let complete = word { words.append(complete) }
                word = nil
            case "'", "\"":
                word = try (word ?? "") + quotedPart(&rest, quote: scalar)
            case "\\":
                guard let next = rest.popFirst() else {
                    throw Failure.usage("the passphrase command ends in a backslash")
                }
                word = (word ?? "") + String(Character(next))
            default:
                word = (word ?? "") + String(Character(scalar))
            }
        }
        if let complete = word { words.append(complete) }
        guard let program = words.first, !program.isEmpty else {
            throw Failure.usage("the passphrase command is empty")
        }
        guard !line.utf8.contains(0) else {
            throw Failure.usage("the passphrase command contains a zero byte")
        }
        return words
    }

    /// The text in a form that a shell, and `split`, read as one word.
    package static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || "/._-+,:@%".utf8.contains(byte)
        }
        return isPlain && !text.isEmpty ? text : inSingleQuotes(text)
    }

    /// The text between single quotes, which a shell, and `split`, read as one word.
    package static func inSingleQuotes(_ text: String) -> String {
        // Bytes, because a quote that a combining mark follows is no character of its own.
        let bytes = text.utf8.flatMap { $0 == UInt8(ascii: "'") ? Array("'\\''".utf8) : [$0] }
        return "'" + String(decoding: bytes, as: UTF8.self) + "'"
    }

    /// A path in a form that a shell reads as one word, and a command as a file: one that begins with a dash would be
    /// taken for an option.
    package static func path(_ path: String) -> String {
        quoted(unmistakable(path))
    }

    /// A path that a command reads as a file: one that begins with a dash would be taken for an option.
    package static func unmistakable(_ path: String) -> String {
        beginsWithDash(path) ? "./" + path : path
    }

    /// A name in a form that a shell reads as one word, and a command as its last argument and not as an option.
    package static func operand(_ name: String) -> String {
        (beginsWithDash(name) ? "-- " : "") + quoted(name)
    }

    /// Looks at the first byte, as commands do: a dash that a combining mark follows is no character of its own.
    private static func beginsWithDash(_ text: String) -> Bool { text.utf8.first == UInt8(ascii: "-") }

    /// The text up to the closing quote, which is removed from `rest` with it.
    private static func quotedPart(
        _ rest: inout Substring.UnicodeScalarView, quote: Unicode.Scalar
    ) throws -> String {
        var result = ""
        while let scalar = rest.popFirst() {
            if scalar == quote { return result }
            if scalar == "\\", quote == "\"", let next = rest.first, next == "\"" || next == "\\" {
                result.unicodeScalars.append(next)
                rest.removeFirst()
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        throw Failure.usage("the passphrase command has no closing \(quote)")
    }
}
