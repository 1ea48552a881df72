// What of a fragment stands outside of its parentheses and quotes.

extension QueryFragment {
    /// The words outside of parentheses and quotes, in capitals, without those in the forms of a choice.
    var outerWords: [Substring] {
        outline.uppercased().split { !($0.isLetter || $0.isNumber || $0 == "_") }
    }

    /// Whether it is a SELECT whose last clause is FROM, in the form of this process' engine.
    var endsInTables: Bool {
        let words = withFormsOfEngine.outerWords
        guard let from = words.lastIndex(of: "FROM") else { return false }
        return !words[from...].contains { ["WHERE", "GROUP", "HAVING", "ORDER", "LIMIT"].contains($0) }
    }

    /// Whether it can stand beside any operator without parentheses around it: a name, a literal, a call.
    var isOperand: Bool {
        outline.allSatisfy { $0.isLetter || $0.isNumber || "_.?".contains($0) }
    }

    /// The fragment in a form that something can follow: on a line of its own, when the last one ends in a comment.
    @usableFromInline var withCommentEnded: QueryFragment {
        guard endsInComment else { return self }
        var fragment = self
        fragment.append(literal: "\n")
        return fragment
    }

    private var endsInComment: Bool {
        guard let last = code.lastIndex(of: UInt8(ascii: "-")), last > 0,
            // Few texts have to be read with more care.
            zip(code, code.dropFirst()).contains(where: { $0 == UInt8(ascii: "-") && $0 == $1 })
        else { return false }
        var nesting = Nesting()
        var index = 0
        while index < code.count {
            nesting.pass(code[index])
            index += itemLength(at: index)
        }
        return nesting.isInLineComment
    }

    /// Adds an expression, between parentheses unless it needs none.
    mutating func append(operand expression: QueryFragment) {
        guard !expression.isOperand else { return append(expression) }
        append(literal: "(")
        append(expression)
        append(literal: ")")
    }

    /// The text outside of parentheses and quotes. A name, a reference or a pair of parentheses is a point.
    private var outline: String {
        var text: [UInt8] = []
        var nesting = Nesting()
        var index = 0
        while index < code.count {
            let (byte, length) = (code[index], itemLength(at: index))
            let wasOutside = nesting.isOutside
            nesting.pass(byte)
            if length > 1 || byte <= Code.elements {
                if wasOutside { text.append(UInt8(ascii: byte == Code.choice ? " " : ".")) }
            } else if wasOutside && nesting.isOutside {
                text.append(byte)
            } else if wasOutside {
                text.append(UInt8(ascii: "."))
            }
            index += length
        }
        return String(decoding: text, as: UTF8.self)
    }
}
