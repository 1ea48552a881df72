// Names in snake case, by the rules of Foundation's JSON coders, so that one
// record type gets the same names in JSON and in a table.

extension String {
    /// `"recordID"` as `"record_id"`, `"myURLProperty"` as `"my_url_property"`.
    var convertedToSnakeCase: String {
        var result = ""
        var previous: Character?
        let characters = Array(self)
        for (index, character) in characters.enumerated() {
            if let previous, character.isUppercase, previous != "_" {
                let next = index + 1 < characters.count ? characters[index + 1] : nil
                let endsAbbreviation = previous.isUppercase && next?.isLowercase == true
                if !previous.isUppercase || endsAbbreviation { result.append("_") }
            }
            result += character.lowercased()
            previous = character
        }
        return result
    }

    /// `"record_id"` as `"recordId"`. Underscores at the ends stay.
    var convertedFromSnakeCase: String {
        guard let first = firstIndex(where: { $0 != "_" }), let last = lastIndex(where: { $0 != "_" }) else {
            return self
        }
        let words = self[first...last].split(separator: "_")
        guard words.count > 1 else { return self }
        let camelCase = words[0].lowercased() + words.dropFirst().map(\.capitalizedWord).joined()
        return self[..<first] + camelCase + self[index(after: last)...]
    }
}

extension Substring {
    /// The word with its first letter alone in upper case.
    fileprivate var capitalizedWord: String { prefix(1).uppercased() + dropFirst().lowercased() }
}
