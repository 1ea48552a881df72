// Comments up to the end of their line, in SQL that other SQL follows.

extension String {
    /// Whether the SQL ends in a comment that would take in what is appended, up to the end of the line.
    var endsInComment: Bool {
        guard hasHyphens else { return false }
        let tokens = SQLTokens(self)
        // Nothing but blanks and comments is behind the last token.
        var rest = tokens.bytes[(tokens.tokens.last?.range.upperBound ?? 0)...]
        while !rest.isEmpty {
            if rest.starts(with: "--".utf8) {
                guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return true }
                rest = rest[(end + 1)...]
            } else if rest.starts(with: "/*".utf8) {
                rest = rest.dropFirst(2)
                while !rest.isEmpty && !rest.starts(with: "*/".utf8) { rest = rest.dropFirst() }
                rest = rest.dropFirst(2)
            } else {
                rest = rest.dropFirst()
            }
        }
        return false
    }

    /// The SQL in a form that something can follow: on a line of its own, when the last one ends in a comment.
    var withCommentEnded: String { endsInComment ? self + "\n" : self }

    /// Whether a comment may begin in the SQL. Few texts have to be read with more care.
    var hasHyphens: Bool {
        var previous: UInt8 = 0
        for byte in utf8 {
            if byte == UInt8(ascii: "-") && previous == byte { return true }
            previous = byte
        }
        return false
    }
}

extension SQL {
    /// Whether the literal ends in a comment that would take in what is written after it.
    var endsInComment: Bool {
        let mayEnd = elements.contains { element in
            if case .sql(let text, _) = element { text.hasHyphens } else { false }
        }
        guard mayEnd else { return false }
        // Anything else ends its own comments, and stands for a token here.
        let texts = elements.map { element in
            if case .sql(let text, _) = element { text } else { "?" }
        }
        return texts.joined().endsInComment
    }
}
