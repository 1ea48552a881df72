/// Hides keys in texts that may be logged.
///
/// SQLite hands out the text of `PRAGMA key = '…'` and `ATTACH … KEY '…'` as it
/// is, in trace events, errors and its log.
enum KeyRedaction {
    /// What stands in the place of a key.
    static let placeholder = "'<hidden>'"

    /// Returns the SQL without its keys, or nil when there is none to hide.
    ///
    /// Hidden are the value of each pragma whose name ends in `key`, what
    /// follows the KEY of an ATTACH statement, and the file name of an ATTACH
    /// statement when it is a URI with a key in it.
    static func redacted(_ sql: String) -> String? {
        guard mayHoldKey(sql) else { return nil }
        var scanner = StatementScanner(sql)
        let redacted = scanner.redact()
        guard sql.hasPrefix("-- ") else { return redacted }
        // It is a comment, or how SQLite shows a statement that another statement runs.
        scanner = StatementScanner(String((redacted ?? sql).dropFirst(3)))
        return scanner.redact().map { "-- " + $0 } ?? redacted
    }

    /// Refuses to explain a statement that holds a key: the rows would show it.
    static func refuseExplanation(ofKeyIn sql: String) throws {
        guard SQLText.firstWord(sql) == "explain", let redacted = redacted(sql) else { return }
        throw DatabaseError(
            resultCode: .SQLITE_AUTH, message: "a statement that takes a key can't be explained",
            sql: redacted)
    }

    /// Returns whether a text, which needs not be valid SQL, has the words of a
    /// statement that takes a key.
    static func mayHoldKey(_ text: String) -> Bool {
        var isStatement = false
        var word: [UInt8] = []
        var text = text
        return text.withUTF8 { bytes in
            for byte in bytes {
                if StatementScanner.isWord(byte) {
                    word.append(byte | 0x20)
                    continue
                }
                if isStatement && word.endsInKey { return true }
                isStatement = isStatement || word.startsKeyStatement
                word.removeAll(keepingCapacity: true)
            }
            return isStatement && word.endsInKey
        }
    }

    /// Returns whether a message quotes a literal of some SQL, and not the SQL
    /// around it from which one could tell that it is no key. SQLite before
    /// 3.26 has such messages: `near "'abc'": syntax error`.
    static func quotesLiteral(_ message: String) -> Bool {
        guard !message.contains(" in \"") else { return false }
        return ["\"'", "\"\"", "\"x'", "\"X'"].contains { message.contains($0) }
    }

    /// Returns whether a message quotes a file name that is a URI with a key in
    /// it: one that was an argument of the statement.
    static func quotesKeyOfURI(_ message: String) -> Bool {
        let message = message.foldedIdentifier
        return message.contains("file:") && message.contains("key=")
    }

    /// Returns the message of an error of SQL that was redacted, or nil when it
    /// may quote the SQL.
    static func message(_ message: String?) -> String? {
        guard let message, !message.contains("\""), !message.contains(":") else { return nil }
        return message
    }
}

extension [UInt8] {
    fileprivate var endsInKey: Bool { suffix(3).elementsEqual("key".utf8) }
    /// What precedes the word may be a byte order mark.
    fileprivate var startsKeyStatement: Bool {
        suffix(6).elementsEqual("pragma".utf8) || suffix(6).elementsEqual("attach".utf8)
    }
}

/// Splits SQL into tokens, as far as it takes to find keys.
private struct StatementScanner {
    private enum Kind { case word, quoted, unterminated, semicolon, other }

    private struct Token {
        let kind: Kind
        let range: Range<Int>
        /// The lowercased text, without quotes.
        let text: String
    }

    private let bytes: [UInt8]
    private var position = 0
    private var output: [UInt8] = []
    private var copied = 0

    init(_ sql: String) { bytes = Array(sql.utf8) }

    static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }

    mutating func redact() -> String? {
        var isStart = true
        while let token = next() {
            switch (token.kind, token.text) {
            case (.unterminated, _):
                // Nobody knows what such a text means.
                return KeyRedaction.placeholder
            case (.semicolon, _): isStart = true
            case (.word, "explain"), (.word, "query"), (.word, "plan"): break
            case (.word, "pragma") where isStart:
                isStart = false
                if !redactPragma() { return KeyRedaction.placeholder }
            case (.word, "attach") where isStart:
                isStart = false
                if !redactAttach() { return KeyRedaction.placeholder }
            default: isStart = false
            }
        }
        guard copied > 0 else { return nil }
        output += bytes[copied...]
        return String(decoding: output, as: UTF8.self)
    }

    /// Handles what follows PRAGMA. Returns false for a text without sense.
    private mutating func redactPragma() -> Bool {
        var name: Token?
        while let token = next() {
            switch token.kind {
            case .word where name == nil, .quoted where name == nil: name = token
            // The name before the dot is a schema's.
            case .other where token.text == ".": name = nil
            case .semicolon:
                rewind(to: token)
                return true
            // Also when the = is missing, which is an error that shows the SQL.
            default:
                if let name, name.text.hasSuffix("key") {
                    replace(from: name.range.upperBound, with: " = " + KeyRedaction.placeholder)
                    return true
                }
                return token.kind != .unterminated
            }
        }
        return true
    }

    /// Handles what follows ATTACH. Returns false for a text without sense.
    private mutating func redactAttach() -> Bool {
        while let token = next() {
            switch (token.kind, token.text) {
            case (.unterminated, _): return false
            case (.semicolon, _):
                rewind(to: token)
                return true
            case (.word, "key"):
                replace(from: token.range.upperBound, with: " " + KeyRedaction.placeholder)
                return true
            case (.quoted, let text) where text.contains("key="):
                copy(upTo: token.range.lowerBound, then: KeyRedaction.placeholder)
                copied = token.range.upperBound
            default: break
            }
        }
        return true
    }

    /// Replaces the rest of the statement.
    private mutating func replace(from start: Int, with text: String) {
        position = start
        var end = bytes.count
        while let token = next() {
            guard token.kind == .semicolon else { continue }
            end = token.range.lowerBound
            rewind(to: token)
            break
        }
        copy(upTo: start, then: text)
        copied = end
    }

    private mutating func copy(upTo end: Int, then text: String) {
        output += bytes[copied..<end]
        output += Array(text.utf8)
    }

    private mutating func rewind(to token: Token) { position = token.range.lowerBound }

    private mutating func next() -> Token? {
        skipBlanksAndComments()
        guard position < bytes.count else { return nil }
        let start = position
        let byte = bytes[position]
        if let quote = Self.closingQuote(of: byte) {
            let isTerminated = skipQuoted(quote)
            let content = bytes[(start + 1)..<max(start + 1, position - 1)]
            return token(isTerminated ? .quoted : .unterminated, start, content)
        }
        if Self.isWord(byte) {
            while position < bytes.count, Self.isWord(bytes[position]) { position += 1 }
            return token(.word, start, bytes[start..<position])
        }
        position += 1
        // A zero ends a statement too, and others may follow it.
        let isEnd = byte == UInt8(ascii: ";") || byte == 0
        return token(isEnd ? .semicolon : .other, start, bytes[start..<position])
    }

    private func token(_ kind: Kind, _ start: Int, _ content: ArraySlice<UInt8>) -> Token {
        Token(
            kind: kind, range: start..<position,
            text: String(decoding: content, as: UTF8.self).foldedIdentifier)
    }

    private static func closingQuote(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): byte
        case UInt8(ascii: "["): UInt8(ascii: "]")
        default: nil
        }
    }

    /// Moves past a quoted text, in which a doubled quote stands for itself.
    private mutating func skipQuoted(_ quote: UInt8) -> Bool {
        position += 1
        while position < bytes.count {
            position += 1
            guard bytes[position - 1] == quote else { continue }
            guard position < bytes.count, bytes[position] == quote, quote != UInt8(ascii: "]") else {
                return true
            }
            position += 1
        }
        return false
    }

    private mutating func skipBlanksAndComments() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x09...0x0D, 0x20: position += 1
            case 0xEF where starts(with: "\u{FEFF}"): position += 3
            case UInt8(ascii: "-") where starts(with: "--"):
                while position < bytes.count, bytes[position] != 0x0A { position += 1 }
            case UInt8(ascii: "/") where starts(with: "/*"):
                position += 2
                while position < bytes.count, !starts(with: "*/") { position += 1 }
                position = min(position + 2, bytes.count)
            default: return
            }
        }
    }

    private func starts(with text: String) -> Bool {
        bytes[position...].starts(with: text.utf8)
    }
}
