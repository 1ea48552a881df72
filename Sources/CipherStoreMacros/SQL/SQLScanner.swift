import SwiftSyntax

/// Walks through the SQL text of a string literal as SQLite's tokenizer would, and notes what can't be right.
struct SQLScanner {
    /// What is wrong, and where.
    enum Finding {
        /// A bracket that nothing opens, or that nothing closes.
        case bracket(Place, Character)
        /// A quote without its end.
        case quote(Place, Character)
        /// A comment without its end.
        case comment(Place)
        /// A value between quotes or in a comment, where SQLite sees no placeholder.
        case hidden(ExpressionSegmentSyntax, Enclosing)
        /// A placeholder in the text itself.
        case placeholder(Place, String)
    }

    /// Where a finding begins: a byte of a segment of the literal.
    struct Place {
        let segment: StringSegmentSyntax
        let offset: Int

        var position: AbsolutePosition {
            segment.content.positionAfterSkippingLeadingTrivia.advanced(by: offset)
        }
    }

    /// What an interpolation stands in.
    enum Enclosing: Equatable {
        case quote(Character)
        case comment
    }

    private enum State {
        case text
        case quote(Character, Place)
        case lineComment
        case blockComment(Place)
    }

    private(set) var findings: [Finding] = []
    private var state = State.text
    private var open: [(Character, Place)] = []
    private let pounds: Int

    /// Scans `literal`.
    init(_ literal: StringLiteralExprSyntax) {
        pounds = literal.openingPounds?.text.count ?? 0
        for segment in literal.segments {
            switch segment {
            case .stringSegment(let text): scan(text)
            case .expressionSegment(let expression): meet(expression)
            }
        }
        finish()
    }

    private mutating func meet(_ expression: ExpressionSegmentSyntax) {
        if expression.expressions.first?.label?.text == "raw" { return }
        switch state {
        case .text: break
        case .quote(let sign, _): findings.append(.hidden(expression, .quote(sign)))
        case .lineComment, .blockComment: findings.append(.hidden(expression, .comment))
        }
    }

    private mutating func finish() {
        switch state {
        case .text, .lineComment: break
        case .quote(let sign, let place): findings.append(.quote(place, sign))
        case .blockComment(let place): findings.append(.comment(place))
        }
        for (sign, place) in open { findings.append(.bracket(place, sign)) }
    }

    private mutating func scan(_ segment: StringSegmentSyntax) {
        var characters = Escapes.characters(of: segment, pounds: pounds)[...]
        var before: Character?
        while let (character, offset) = characters.popFirst() {
            let next = characters.first?.0
            let place = Place(segment: segment, offset: offset)
            switch state {
            case .quote(let sign, _):
                if character == sign {
                    // A quote twice is the character itself, but for brackets.
                    if next == sign, sign != "]" { characters.removeFirst() } else { state = .text }
                }
            case .lineComment:
                if character.isNewline { state = .text }
            case .blockComment:
                if character == "*", next == "/" {
                    characters.removeFirst()
                    state = .text
                }
            case .text:
                if text(character, next, place, after: before, &characters) { before = nil }
            }
            before = character
        }
    }

    /// One character outside of quotes and comments. Whether it took more than itself.
    private mutating func text(
        _ character: Character, _ next: Character?, _ place: Place, after before: Character?,
        _ rest: inout ArraySlice<(Character, Int)>
    ) -> Bool {
        switch character {
        case "'", "\"", "`": state = .quote(character, place)
        case "[": state = .quote("]", place)
        case "-" where next == "-":
            rest.removeFirst()
            state = .lineComment
        case "/" where next == "*":
            rest.removeFirst()
            state = .blockComment(place)
        case "(": open.append(("(", place))
        case ")":
            if open.popLast() == nil { findings.append(.bracket(place, ")")) }
        case "?":
            findings.append(.placeholder(place, "?" + Self.word(&rest)))
        case ":", "@", "$":
            guard before.map({ !Self.isName($0) && $0 != character }) ?? true, next.map(Self.isName) ?? false
            else {
                return false
            }
            findings.append(.placeholder(place, String(character) + Self.word(&rest)))
        default: return false
        }
        return true
    }

    private static func word(_ rest: inout ArraySlice<(Character, Int)>) -> String {
        let word = rest.prefix { isName($0.0) }
        rest.removeFirst(word.count)
        return String(word.map(\.0))
    }

    private static func isName(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }
}

/// The characters that the source of a string stands for.
enum Escapes {
    /// Each character of `segment` with the byte of the source where it begins.
    static func characters(of segment: StringSegmentSyntax, pounds: Int) -> [(Character, Int)] {
        let source = segment.content.text
        let sign = "\\" + String(repeating: "#", count: pounds)
        var found: [(Character, Int)] = []
        var index = source.startIndex
        while index < source.endIndex {
            let offset = source.utf8.distance(from: source.startIndex, to: index)
            guard source[index...].hasPrefix(sign) else {
                found.append((source[index], offset))
                index = source.index(after: index)
                continue
            }
            index = source.index(index, offsetBy: sign.count)
            guard index < source.endIndex else { break }
            found.append((meaning(of: source[index]), offset))
            if source[index] == "u", let end = source[index...].firstIndex(of: "}") { index = end }
            index = source.index(after: index)
        }
        return found
    }

    private static func meaning(of escaped: Character) -> Character {
        switch escaped {
        case "n": "\n"
        case "r": "\r"
        case "t": "\t"
        case "u": "\u{FFFD}"
        default: escaped
        }
    }
}
