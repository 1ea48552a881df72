extension String {
    /// The name that a table of many of these has, by the usual rules of English.
    ///
    /// Names that follow no rule can be given with `inTable:`.
    var pluralTableName: String {
        let irregular = [
            "person": "people", "child": "children", "man": "men", "mouse": "mice", "foot": "feet",
            "tooth": "teeth", "goose": "geese", "datum": "data", "medium": "media", "index": "indices",
            "matrix": "matrices", "vertex": "vertices", "criterion": "criteria", "analysis": "analyses",
        ]
        let lower = lowercased()
        for (singular, plural) in irregular where lower.hasSuffix(singular) {
            // The capital of a word in the middle of a name stays.
            return String(dropLast(singular.count)) + suffix(singular.count).prefix(1) + plural.dropFirst()
        }
        let ending = lower.suffix(2)
        let beforeLast = lower.dropLast().last
        if ["s", "x", "z"].contains(lower.suffix(1)) || ["ch", "sh"].contains(ending) { return self + "es" }
        if lower.hasSuffix("y"), let beforeLast, !"aeiou".contains(beforeLast) {
            return String(dropLast()) + "ies"
        }
        return self + "s"
    }
}
