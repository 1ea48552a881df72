import CipherStore

/// Texts as SQL that means the same to each program that reads it, whatever the encoding of its database is.
///
/// SQLite's shell drops a carriage return before a line feed when it reads lines, and a zero byte ends the text of a statement.
/// So neither is written as it is: a mark stands for it, and a function puts it back. Bytes that are cast to text would be taken
/// in the encoding of the database that reads them, which is not known.
enum SQLText {
    /// What is not written as it is, and the letter of its mark.
    private static let codes: [(code: UInt8, letter: String)] = [(13, "r"), (0, "0")]

    /// A text as an SQL expression.
    static func literal(_ text: String) -> String {
        let present = codes.filter { text.utf8.contains($0.code) }
        guard !present.isEmpty else { return text.quotedSQLText }
        var bytes = Array(text.utf8)
        var marks: [(mark: String, code: UInt8)] = []
        for (code, letter) in present {
            let mark = unusedMark(letter, in: bytes)
            bytes = replaced(code, by: Array(mark.utf8), in: bytes)
            marks.append((mark, code))
        }
        let literal = String(decoding: bytes, as: UTF8.self).quotedSQLText
        return marks.reduce(literal) { sql, entry in
            "replace(\(sql),\(entry.mark.quotedSQLText),char(\(entry.code)))"
        }
    }

    /// A definition in which defaults are expressions that keep their line ends.
    ///
    /// - returns: The definition, and whether the shell keeps all that is in quotes. Names have no other form, and what a text
    ///   is for is known of defaults only.
    static func definition(_ definition: String) -> (sql: String, isKept: Bool) {
        guard definition.utf8.contains(13) else { return (definition, true) }
        var sql = SQLTokens(definition)
        var isKept = true
        for index in sql.tokens.indices {
            let token = sql.tokens[index]
            guard token.kind == .string || token.kind == .quotedName,
                endsLine(within: sql.bytes[token.range])
            else { continue }
            if token.kind == .string, sql.token(before: index)?.isKeyword("default") == true {
                sql.replace(index, with: "(\(literal(token.text)))")
            } else {
                isKept = false
            }
        }
        return (sql.isEdited ? sql.sql : definition, isKept)
    }

    /// Whether there is a carriage return before a line feed.
    private static func endsLine(within bytes: ArraySlice<UInt8>) -> Bool {
        zip(bytes, bytes.dropFirst()).contains { $0 == 13 && $1 == 10 }
    }

    /// A text that is not in others. It begins and ends with different characters, so that no part of it and of what stands
    /// beside it can be taken for it.
    private static func unusedMark(_ letter: String, in bytes: [UInt8]) -> String {
        var mark = "\\" + letter
        var number = 0
        while contains(bytes, Array(mark.utf8)) {
            mark = "(\\\(letter)\(number))"
            number += 1
        }
        return mark
    }

    private static func contains(_ bytes: [UInt8], _ mark: [UInt8]) -> Bool {
        guard let first = mark.first else { return true }
        return bytes.indices.contains { bytes[$0] == first && bytes[$0...].starts(with: mark) }
    }

    private static func replaced(_ code: UInt8, by mark: [UInt8], in bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + mark.count)
        for byte in bytes {
            if byte == code { result += mark } else { result.append(byte) }
        }
        return result
    }
}
