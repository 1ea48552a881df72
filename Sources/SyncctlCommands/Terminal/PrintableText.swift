/// Makes foreign text safe to print and tells how many columns it takes.
///
/// Table names, device names and messages of a remote are data: printed as they are, an escape
/// sequence in one of them would reach the terminal.
package enum PrintableText {
    /// The text with control characters and text direction marks shown as `\u{1b}`, so that they
    /// can neither act nor break a line.
    package static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where isUnsafe(scalar): result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// The same between quotation marks, with all else as it is.
    static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }

    /// The same for text of several lines: line feeds and tabs stay.
    package static func escapedLines(_ text: String) -> String {
        let isHarmless: (Unicode.Scalar) -> Bool = { $0 == "\n" || $0 == "\t" || !isUnsafe($0) }
        guard !text.unicodeScalars.allSatisfy(isHarmless) else { return text }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.split(separator: "\t", omittingEmptySubsequences: false).map { escaped(String($0)) }
                .joined(separator: "\t")
        }.joined(separator: "\n")
    }

    /// The number of columns the text takes: one for each character, two for the wide characters
    /// of East Asia and for emoji. Good enough for alignment; a terminal may differ on rare ones.
    static func width(of text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + width(of: $1) }
    }

    /// The text filled with spaces up to a width; longer text stays whole.
    static func padded(_ text: String, to columns: Int, right: Bool = false) -> String {
        let fill = String(repeating: " ", count: max(0, columns - width(of: text)))
        return right ? fill + text : text + fill
    }

    /// The text cut so that it takes no more than the given columns.
    static func truncated(_ text: String, to columns: Int) -> String {
        guard width(of: text) > columns else { return text }
        var result = ""
        var used = 0
        for character in text {
            used += width(of: character)
            if used > columns { break }
            result.append(character)
        }
        return result
    }

    private static func width(of character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        return isWide(scalar) ? 2 : 1
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1FAFF, 0x20000...0x3FFFD:
            true
        default:
            false
        }
    }

    /// C0 and C1 controls, line and paragraph separators, the marks that reorder text, and the byte order mark, which
    /// nobody sees.
    static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1F, 0x7F...0x9F, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }
}
