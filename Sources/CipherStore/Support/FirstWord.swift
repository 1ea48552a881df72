/// Reads the start of SQL text.
enum SQLText {
    /// The first word of a statement in lower case, after blanks and comments.
    static func firstWord(_ sql: String) -> String? {
        var text = sql.utf8[...]
        while let byte = text.first {
            if byte == UInt8(ascii: "-"), text.dropFirst().first == UInt8(ascii: "-") {
                text = text.drop { $0 != UInt8(ascii: "\n") }
            } else if byte == UInt8(ascii: "/"), text.dropFirst().first == UInt8(ascii: "*") {
                text = text.dropFirst(2)
                while !text.isEmpty, !(text.starts(with: "*/".utf8)) { text = text.dropFirst() }
                text = text.dropFirst(2)
            } else if byte == 32 || (byte >= 9 && byte <= 13) || byte == UInt8(ascii: ";") {
                text = text.dropFirst()
            } else {
                break
            }
        }
        let word = text.prefix { ($0 | 32) >= 97 && ($0 | 32) <= 122 }
        return word.isEmpty ? nil : String(decoding: word.map { $0 | 32 }, as: UTF8.self)
    }
}
