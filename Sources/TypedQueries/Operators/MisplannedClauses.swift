// Lists that SQLite 3.15 reads wrongly by indexes.

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

    /// Whether it is a SELECT of all rows of tables, as they are.
    private var isWholeTable: Bool {
        let words = outerWords
        let others = ["WHERE", "GROUP", "LIMIT", "DISTINCT", "JOIN", "UNION", "INTERSECT", "EXCEPT"]
        return words.first == "SELECT" && words.contains("FROM")
            && !words.contains { others.contains(String($0)) }
    }
}
