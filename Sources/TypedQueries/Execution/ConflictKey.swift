import CipherStore

/// What a row has in common with one that is in its way, on engines whose upserts are emulated.
struct ConflictKey {
    let unique: UniqueKey
    let tableName: String
    /// The condition of the conflict's target, for that of a partial index.
    var targetCondition = QueryFragment()

    /// The condition that a row has the key of the one in `"excluded"`, compared as the index compares.
    var condition: QueryFragment {
        var condition = QueryFragment()
        for term in unique.terms {
            if !condition.isEmpty { condition.append(literal: " AND ") }
            condition.append(sql: term.sql)
            condition.append(literal: " = ")
            appendValue(of: term.sql, to: &condition)
            guard let collation = term.collation else { continue }
            condition.append(literal: " COLLATE ")
            condition.append(identifier: collation)
        }
        if !targetCondition.isEmpty {
            condition.append(
                " AND (\(targetCondition)) AND EXISTS (SELECT 1 FROM \"excluded\" WHERE \(targetCondition))")
        } else if let partial = unique.condition {
            // Only rows of the index are in each other's way.
            condition.append(literal: " AND ")
            condition.append(sql: partial)
            condition.append(literal: " AND ")
            appendValue(of: partial, to: &condition)
        }
        return condition
    }

    /// Adds the value that an expression on the table has for the row in `"excluded"`.
    private func appendValue(of expression: String, to fragment: inout QueryFragment) {
        fragment.append(literal: "(SELECT ")
        fragment.append(sql: expression)
        // Columns may be qualified by the name of the table.
        fragment.append(literal: " FROM \"excluded\" AS ")
        fragment.append(identifier: tableName)
        fragment.append(literal: ")")
    }
}

/// The columns of `ON CONFLICT (…)`.
struct ConflictTarget {
    private struct Term {
        let name: String
        let collation: String?
    }

    private var terms: [Term] = []

    /// Reads a target; nil when it has an expression that is no column.
    init?(_ target: QueryFragment) {
        for column in target.columnTerms {
            let text = String(decoding: FragmentRenderer(column).text, as: UTF8.self)
            let words = SQLTokens(text).tokens.filter { !$0.isSymbol("(") && !$0.isSymbol(")") }
            switch words.count {
            case 1: terms.append(Term(name: words[0].text, collation: nil))
            case 3 where words[1].isKeyword("collate"):
                terms.append(Term(name: words[0].text, collation: words[2].text))
            default: return nil
            }
        }
    }

    /// Whether a key has just these columns. A target that names no collation is met by each.
    func isMet(by key: UniqueKey) -> Bool {
        key.terms.count == terms.count
            && key.terms.allSatisfy { term in
                guard let column = term.column else { return false }
                return terms.contains {
                    $0.name.isSameIdentifier(as: column) && isSame($0.collation, term.collation)
                }
            }
    }

    private func isSame(_ named: String?, _ collation: String?) -> Bool {
        guard let named else { return true }
        return collation.map { $0.isSameIdentifier(as: named) } ?? false
    }
}
