/// Finds the ends of statements in text that comes in lines: semicolons outside of quotes and comments.
struct StatementSplitter {
    private var text: [UInt8] = []
    /// The byte from which on nothing was looked at yet, and what it stands in.
    private var position = 0
    private var context = Context.code

    private enum Context: Equatable {
        case code, lineComment, blockComment
        /// Within quotes that end with this byte.
        case quotes(UInt8)
    }

    /// Whether a statement has begun and not ended.
    var hasBegun: Bool {
        context != .code || text.contains { $0 > 0x20 }
    }

    /// Adds a line, and takes the statements out that are complete now.
    mutating func add(_ line: String) -> [String] {
        text.append(contentsOf: line.utf8)
        text.append(UInt8(ascii: "\n"))
        var statements: [String] = []
        while position < text.count {
            let byte = text[position]
            let next = position + 1 < text.count ? text[position + 1] : 0
            position += 1
            switch context {
            case .code:
                if byte == UInt8(ascii: ";") {
                    statements.append(String(decoding: text[..<position], as: UTF8.self))
                    text.removeSubrange(..<position)
                    position = 0
                } else {
                    begin(byte, next)
                }
            case .lineComment: if byte == UInt8(ascii: "\n") { context = .code }
            case .blockComment:
                if byte == UInt8(ascii: "*"), next == UInt8(ascii: "/") {
                    position += 1
                    context = .code
                }
            // A doubled quote ends the quotes and begins them again.
            case .quotes(let end): if byte == end { context = .code }
            }
        }
        return statements.filter { $0.contains { $0 != ";" && !$0.isWhitespace } }
    }

    /// Forgets what has begun.
    mutating func clear() { self = StatementSplitter() }

    private mutating func begin(_ byte: UInt8, _ next: UInt8) {
        switch byte {
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): context = .quotes(byte)
        case UInt8(ascii: "["): context = .quotes(UInt8(ascii: "]"))
        case UInt8(ascii: "-") where next == UInt8(ascii: "-"): context = .lineComment
        case UInt8(ascii: "/") where next == UInt8(ascii: "*"):
            position += 1
            context = .blockComment
        default: break
        }
    }
}
