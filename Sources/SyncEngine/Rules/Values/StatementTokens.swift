import CipherStore

/// The parts of an SQL statement that mean something, so that two texts of one statement can be told from two
/// statements: without comments and white space, words in lower case, names without quotes.
enum StatementTokens {
    /// A part of a statement.
    enum Token: Equatable {
        /// A keyword, a name or a number, in lower case; a name in quotes is the same as without.
        case word(String)
        /// The content of a text.
        case text(String)
        /// An operator or a bracket.
        case symbol(Character)
    }

    /// Splits a statement. A text or a comment that has no end ends with the statement.
    static func tokens(of sql: String) -> [Token] {
        var tokens: [Token] = []
        var rest = Substring(sql)
        while let first = rest.first {
            if first.isWhitespace {
                rest.removeFirst()
            } else if rest.hasPrefix("--") {
                rest = rest.drop { !$0.isNewline }
            } else if rest.hasPrefix("/*") {
                rest = rest.range(of: "*/", after: 2).map { rest[$0...] } ?? ""
            } else if first == "'" {
                tokens.append(.text(takeQuoted(&rest, until: "'")))
            } else if first == "\"" || first == "`" {
                tokens.append(.word(takeQuoted(&rest, until: first).identifierKey))
            } else if first == "[" {
                tokens.append(.word(takeQuoted(&rest, until: "]", isDoubled: false).identifierKey))
            } else if isWordPart(first) {
                let word = rest.prefix(while: isWordPart)
                rest = rest.dropFirst(word.count)
                tokens.append(.word(String(word).identifierKey))
            } else {
                tokens.append(.symbol(rest.removeFirst()))
            }
        }
        return tokens
    }

    private static func isWordPart(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_" || character == "$"
            || character == "." || !character.isASCII
    }

    /// Takes a text in quotes; a quote within it is doubled.
    private static func takeQuoted(
        _ rest: inout Substring, until end: Character, isDoubled: Bool = true
    ) -> String {
        var content = ""
        rest.removeFirst()
        while let character = rest.popFirst() {
            guard character == end else {
                content.append(character)
                continue
            }
            guard isDoubled, rest.first == end else { break }
            content.append(rest.removeFirst())
        }
        return content
    }
}

extension Substring {
    /// Where a text ends that begins at a number of characters from here on.
    fileprivate func range(of text: String, after count: Int) -> Index? {
        var position = dropFirst(count)
        while !position.isEmpty {
            if position.hasPrefix(text) { return position.index(position.startIndex, offsetBy: text.count) }
            position.removeFirst()
        }
        return nil
    }
}
