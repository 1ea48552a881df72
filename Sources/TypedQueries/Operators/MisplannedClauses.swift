// Lists and conditions that SQLite 3.15 reads wrongly by indexes.

extension QueryFragment {
    /// A statement as the list of `IN`, which old engines don't look up in an index of its table.
    var asList: QueryFragment {
        guard !EngineChoice.indexedMembership.isSupported, isWholeTable else { return self }
        var list = QueryFragment()
        list.append(onlyWithout: .indexedMembership) { $0.append(literal: "SELECT * FROM (") }
        list.append(self)
        // The condition stays there when the two become one, where an index would be looked up otherwise.
        list.append(onlyWithout: .indexedMembership) { $0.append(literal: ") WHERE 1") }
        return list
    }

    /// A statement of several columns as the list of `IN`, which no engine looks up in an index of its table: where that has the columns in
    /// another order, also SQLite 3.46 takes one for a number that is text.
    var asListOfRows: QueryFragment {
        guard isWholeTable else { return self }
        var list: QueryFragment = "SELECT * FROM ("
        list.append(self)
        list.append(literal: ") WHERE 1")
        return list
    }

    /// Whether it is a SELECT of all rows of tables, as they are.
    private var isWholeTable: Bool {
        let words = outerWords
        let others = ["WHERE", "GROUP", "LIMIT", "DISTINCT", "JOIN", "UNION", "INTERSECT", "EXCEPT"]
        return ["SELECT", "WITH"].contains(words.first) && words.contains("FROM")
            && !words.contains { others.contains(String($0)) }
    }

    /// A condition on rows of a left join, whose alternatives old engines don't plan by.
    ///
    /// - parameter isOfAll: Whether it is asked of rows that are absent, too, so that NULL meets it by their absence.
    func withoutPlannedAlternatives(isOfAll: Bool) -> QueryFragment {
        guard !EngineChoice.plannedAlternatives.isSupported else { return self }
        let conditions = conjuncts
        guard conditions.count == 1 else {
            var result = QueryFragment()
            for condition in conditions {
                if !result.isEmpty { result.append(literal: " AND ") }
                result.append(condition.withoutPlannedAlternatives(isOfAll: isOfAll))
            }
            return result
        }
        if outerWords.contains("OR") || isOfAll && isNullTest {
            var result = QueryFragment()
            result.append(outOfPlansOf: .plannedAlternatives) { $0.append(self) }
            return result
        }
        guard let inner = insideOfParentheses else { return self }
        var result = QueryFragment("(")
        result.append(inner.withoutPlannedAlternatives(isOfAll: isOfAll))
        result.append(literal: ")")
        return result
    }

    private var isNullTest: Bool {
        [" IS (NULL)", " IS NULL"].contains { code.suffix($0.utf8.count).elementsEqual($0.utf8) }
    }

    /// What stands between the parentheses, where there is nothing outside of them.
    var insideOfParentheses: QueryFragment? {
        guard code.first == UInt8(ascii: "("), code.last == UInt8(ascii: ")"), isOperand else { return nil }
        var inner = self
        inner.code = Array(code.dropFirst().dropLast())
        return inner
    }
}

extension FragmentList {
    /// The conditions, of which each must be met, without alternatives and tests for NULL that old engines plan by.
    var withoutPlannedAlternatives: FragmentList {
        guard !isEmpty, !EngineChoice.plannedAlternatives.isSupported else { return self }
        return mapped { $0.withoutPlannedAlternatives(isOfAll: true) }
    }

    /// Writes the conditions of a deletion, which are asked of all rows before the first one is gone.
    ///
    /// Old engines delete a row as soon as they find it, except with a query that depends on the row.
    func write<Root: Table>(asConditionsOfDeletionFrom type: Root.Type, to fragment: inout QueryFragment) {
        let choice = EngineChoice.queriesOfDeletions
        guard !choice.isSupported, pieces.contains(where: \.hasStatement),
            let column = type.allColumnNames.first
        else { return writeConjunction(to: &fragment) }
        fragment.append(onlyWithout: choice) { $0.append(literal: "(") }
        writeConjunction(to: &fragment)
        fragment.append(onlyWithout: choice) {
            $0.append(literal: ") AND EXISTS (SELECT ")
            $0.append(tableOf: type)
            $0.append(literal: ".")
            $0.append(identifier: column)
            $0.append(literal: ")")
        }
    }
}
