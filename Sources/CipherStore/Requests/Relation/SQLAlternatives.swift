/// The alternatives in the SQL of a condition: what the word OR joins, outside of quoted texts.
struct SQLAlternatives {
    /// A token, or what was put into the literal at its place.
    private struct Piece {
        /// The index of the element that it is from.
        let element: Int
        let token: SQLToken?
        /// In how many parentheses it is.
        let depth: Int
        /// Whether it belongs to a query that is in the condition.
        let isOfQuery: Bool

        func isKeyword(_ keyword: String) -> Bool { token?.isKeyword(keyword) ?? false }
    }

    private let sql: SQL
    private let pieces: [Piece]

    init(_ sql: SQL) {
        self.sql = sql
        pieces = Self.pieces(of: sql)
    }

    /// Whether there are some, in SQL that can stand in parentheses.
    var exist: Bool { pieces.contains { $0.isKeyword("or") } && !hasComment }

    /// Whether NULL may meet the condition, in SQL that can stand in parentheses.
    var mayMeetNull: Bool {
        let words = ["null", "isnull", "ifnull", "coalesce"]
        return pieces.contains { piece in words.contains(where: piece.isKeyword) } && !hasComment
    }

    private var hasComment: Bool {
        sql.elements.contains { element in
            if case .sql(let text, _) = element { text.contains("--") } else { false }
        }
    }

    /// Whether the condition, other than a query in it, looks for a pattern: nothing but an index can.
    var haveMatch: Bool { pieces.contains(where: isMatch) }

    /// The condition with its alternatives in a form that says nothing to the planner, and all that has MATCH as it is.
    var unplannedBesideMatch: SQL {
        // These would make it hard to see which AND joins conditions.
        let hard = ["or", "between", "case"]
        guard !pieces.contains(where: { piece in piece.depth == 0 && hard.contains(where: piece.isKeyword) })
        else { return sql }
        let conditions = pieces.split { $0.depth == 0 && $0.isKeyword("and") }
        let alternatives = conditions.filter { condition in
            condition.contains { $0.isKeyword("or") } && !condition.contains(where: isMatch)
        }
        var elements = sql.elements.map { [$0] }
        // From the end on, so that what comes before stays where it is.
        for condition in alternatives.reversed() {
            guard let first = condition.first, let last = condition.last else { continue }
            insert(")", last, isBefore: false, &elements)
            insert("+(", first, isBefore: true, &elements)
        }
        return SQL(elements: Array(elements.joined()))
    }

    private func isMatch(_ piece: Piece) -> Bool {
        guard !piece.isOfQuery else { return false }
        if case .expression(let expression) = sql.elements[piece.element] { return expression.hasMatch }
        return piece.isKeyword("match")
    }

    /// Inserts a text before or after a piece. Nothing was inserted before it yet.
    private func insert(
        _ text: String, _ piece: Piece, isBefore: Bool, _ elements: inout [[SQL.Element]]
    ) {
        let index = isBefore ? 0 : elements[piece.element].count
        guard let token = piece.token, case .sql(let sql, let arguments) = elements[piece.element][0] else {
            elements[piece.element].insert(.sql(text), at: index)
            return
        }
        let position = isBefore ? token.range.lowerBound : token.range.upperBound
        var tokens = SQLTokens(sql)
        tokens.replace(bytes: position..<position, with: text)
        elements[piece.element][0] = .sql(tokens.sql, arguments)
    }

    // MARK: Reading

    private static func pieces(of sql: SQL) -> [Piece] {
        var parts: [(element: Int, token: SQLToken?)] = []
        for (index, element) in sql.elements.enumerated() {
            if case .sql(let text, _) = element {
                for token in SQLTokens(text).tokens { parts.append((index, token)) }
            } else {
                parts.append((index, nil))
            }
        }
        var pieces: [Piece] = []
        // Whether each parenthesis that is open begins a query.
        var parentheses: [Bool] = []
        for (index, part) in parts.enumerated() {
            if part.token?.isSymbol(")") ?? false { _ = parentheses.popLast() }
            pieces.append(
                Piece(
                    element: part.element, token: part.token, depth: parentheses.count,
                    isOfQuery: parentheses.contains(true)))
            if part.token?.isSymbol("(") ?? false {
                let next = index + 1 < parts.count ? parts[index + 1].token : nil
                parentheses.append(["select", "with", "values"].contains { next?.isKeyword($0) ?? false })
            }
        }
        return pieces
    }
}
