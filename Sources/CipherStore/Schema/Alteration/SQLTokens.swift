/// A piece of SQL text.
package struct SQLToken {
    package enum Kind: Sendable {
        /// A keyword or a name without quotes.
        case word
        /// A name in double quotes, backticks or brackets.
        case quotedName
        /// Text in single quotes, which SQLite takes for a name where one is needed.
        case string
        /// A number, a parameter, an operator or a bracket.
        case other
    }

    package let kind: Kind

    /// The bytes of the token in the text.
    package let range: Range<Int>

    /// The text of the token; for a name or a string, without its quotes.
    package let text: String

    /// Returns whether the token is a keyword, given in lower case.
    package func isKeyword(_ keyword: String) -> Bool { kind == .word && text.foldedIdentifier == keyword }

    /// Returns whether the token is punctuation.
    package func isSymbol(_ symbol: Character) -> Bool { kind == .other && text == String(symbol) }

    /// Returns whether the token can stand for a name.
    package func isName(_ name: String) -> Bool {
        (kind == .word || kind == .quotedName) && text.isSameIdentifier(as: name)
    }
}

/// SQL text that was split into tokens, and can be edited.
///
/// It is for statements that SQLite accepted, which are in its schema.
package struct SQLTokens {
    package let bytes: [UInt8]
    package let tokens: [SQLToken]
    private var edits: [(range: Range<Int>, text: String)] = []

    package init(_ sql: String) {
        bytes = Array(sql.utf8)
        var tokens: [SQLToken] = []
        var reader = Reader(bytes: bytes)
        while let token = reader.next() { tokens.append(token) }
        self.tokens = tokens
    }

    /// Whether there is a change.
    package var isEdited: Bool { !edits.isEmpty }

    /// Replaces a token.
    package mutating func replace(_ index: Int, with text: String) {
        edits.append((tokens[index].range, text))
    }

    /// Replaces bytes of the text. Ranges must not overlap.
    package mutating func replace(bytes range: Range<Int>, with text: String) {
        edits.append((range, text))
    }

    /// The text with all changes.
    package var sql: String {
        var output: [UInt8] = []
        var position = 0
        for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            output += bytes[position..<edit.range.lowerBound]
            output += Array(edit.text.utf8)
            position = edit.range.upperBound
        }
        output += bytes[position...]
        return String(decoding: output, as: UTF8.self)
    }

    /// The index after the bracket that closes the one at an index.
    package func endOfParentheses(_ start: Int) -> Int {
        var depth = 0
        for index in start..<tokens.count {
            if tokens[index].isSymbol("(") { depth += 1 }
            if tokens[index].isSymbol(")") {
                depth -= 1
                if depth == 0 { return index + 1 }
            }
        }
        return tokens.count
    }

    /// The token before an index, if there is one.
    package func token(before index: Int) -> SQLToken? { index > 0 ? tokens[index - 1] : nil }

    /// The token after an index, if there is one.
    package func token(after index: Int) -> SQLToken? { index + 1 < tokens.count ? tokens[index + 1] : nil }
}

extension SQLTokens {
    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        mutating func next() -> SQLToken? {
            skipBlanks()
            guard position < bytes.count else { return nil }
            let start = position
            switch bytes[position] {
            case UInt8(ascii: "'"): return quoted(.string, until: UInt8(ascii: "'"), start)
            case UInt8(ascii: "\""): return quoted(.quotedName, until: UInt8(ascii: "\""), start)
            case UInt8(ascii: "`"): return quoted(.quotedName, until: UInt8(ascii: "`"), start)
            case UInt8(ascii: "["): return quoted(.quotedName, until: UInt8(ascii: "]"), start)
            case let byte where Self.isWord(byte):
                while position < bytes.count, Self.isWord(bytes[position]) { position += 1 }
                let isNumber = byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
                return token(isNumber ? .other : .word, start)
            default:
                position += 1
                return token(.other, start)
            }
        }

        private func token(_ kind: SQLToken.Kind, _ start: Int) -> SQLToken {
            SQLToken(
                kind: kind, range: start..<position,
                text: String(decoding: bytes[start..<position], as: UTF8.self))
        }

        private mutating func quoted(_ kind: SQLToken.Kind, until quote: UInt8, _ start: Int) -> SQLToken {
            position += 1
            var content: [UInt8] = []
            while position < bytes.count {
                if bytes[position] == quote {
                    let isDoubled = position + 1 < bytes.count && bytes[position + 1] == quote
                    // A bracket can't be doubled.
                    guard isDoubled && quote != UInt8(ascii: "]") else { break }
                    position += 1
                }
                content.append(bytes[position])
                position += 1
            }
            position = min(position + 1, bytes.count)
            return SQLToken(
                kind: kind, range: start..<position, text: String(decoding: content, as: UTF8.self))
        }

        private mutating func skipBlanks() {
            while position < bytes.count {
                let byte = bytes[position]
                if byte == 32 || (byte >= 9 && byte <= 13) {
                    position += 1
                } else if starts("-", "-") {
                    while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
                } else if starts("/", "*") {
                    position += 2
                    while position < bytes.count, !starts("*", "/") { position += 1 }
                    position = min(position + 2, bytes.count)
                } else {
                    return
                }
            }
        }

        private func starts(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool {
            position + 1 < bytes.count && bytes[position] == UInt8(ascii: first)
                && bytes[position + 1] == UInt8(ascii: second)
        }

        private static func isWord(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
                true
            default: false
            }
        }
    }
}
