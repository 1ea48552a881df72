/// The order of the rows that an aggregate function sees.
struct OrderingTerms: Sendable {
    /// The terms with commas between them.
    let fragment: QueryFragment
    /// The expressions of the terms.
    let terms: [QueryFragment]
    /// A letter for each term: `a` and `d` for the directions; in upper case, NULL is the greatest value.
    let form: String
    /// Whether the library can compare as SQLite does.
    let canBeEmulated: Bool

    /// Makes an order of a term, of which `asc()` and `desc()` are known.
    init<Term: QueryExpression>(_ expression: Term) {
        let whole = expression.queryFragment
        let width = (Term.QueryValue.self as? any QueryRepresentable.Type)?.columnWidth ?? 1
        var columns = width > 1 ? whole.columnTerms : [whole]
        var form = columns.map { _ in "a" }.joined()
        if expression is OrderingTerm {
            let parts = whole.terms.map { $0.orderedColumn ?? (expression: $0, form: "a") }
            columns = parts.map { $0.expression }
            form = parts.map { $0.form }.joined()
        }
        fragment = whole
        terms = columns
        self.form = form
        canBeEmulated = !columns.contains { $0.mentionsCollation }
    }
}

extension QueryFragment {
    /// Whether a collation is named, which functions don't get to know.
    fileprivate var mentionsCollation: Bool {
        let word = Array(" COLLATE ".utf8)
        guard code.count >= word.count else { return false }
        return (0...(code.count - word.count)).contains { code[$0..<($0 + word.count)].elementsEqual(word) }
    }
}

extension QueryFragment {
    /// The expression of a term of an order, and the letter for how it is ordered.
    fileprivate var orderedColumn: (expression: QueryFragment, form: String)? {
        var native = self
        // The expression may begin with a choice, too.
        if native.code.starts(with: [Code.choice, EngineChoice.nullsOrdering.rawValue]) {
            // The first of the two forms is the one of new engines.
            let code = native.code
            let count = Int(code[...].load(UInt32.self, 2))
            let values = Int(code[...].load(UInt32.self, 10))
            native.code = Array(code.dropFirst(Code.length(Code.choice)).prefix(count))
            native.bindings = Array(native.bindings.prefix(values))
        }
        let suffixes: [(StaticString, String)] = [
            (" ASC", "a"), (" DESC", "d"), (" ASC NULLS FIRST", "a"), (" ASC NULLS LAST", "A"),
            (" DESC NULLS FIRST", "D"), (" DESC NULLS LAST", "d"),
        ]
        for (suffix, form) in suffixes {
            let bytes = UnsafeBufferPointer(start: suffix.utf8Start, count: suffix.utf8CodeUnitCount)
            guard native.code.suffix(bytes.count).elementsEqual(bytes) else { continue }
            native.code.removeLast(bytes.count)
            return (native, form)
        }
        return nil
    }
}
