/// The singular and plural of English words, by which tables and associations
/// are named.
///
/// The association `hasMany(Book.self)` is named `books` for all its rows, and
/// `book` for one of them. Words that are missing can be added when the app
/// starts:
///
/// ```swift
/// Inflections.default.irregularSuffix("cow", "kine")
/// Inflections.default.uncountableWords(["foobar"])
/// ```
///
/// Only the last word of a name is changed: of `postalAddress`, `player_score`
/// or `team 1`.
public struct Inflections: Sendable {
    /// A singular and its plural, in lower case.
    struct Pair: Sendable {
        let singular: String
        let plural: String

        init(_ singular: String, _ plural: String) {
            self.singular = singular
            self.plural = plural
        }
    }

    private static let shared = Lock(Inflections())

    /// The inflections that associations use.
    public static var `default`: Inflections {
        get { shared.withLock { $0 } }
        set { shared.withLock { $0 = newValue } }
    }

    /// Words that have no other number, in lower case.
    private(set) var uncountables = englishUncountables
    private var words = Dictionary(
        englishWords.flatMap { [($0.singular, $0), ($0.plural, $0)] }, uniquingKeysWith: { first, _ in first }
    )
    private var endings = englishEndings

    /// Makes the inflections of English.
    public init() {}

    /// Adds words that have no other number.
    public mutating func uncountableWords(_ words: [String]) {
        uncountables.formUnion(words.map { $0.lowercased() })
    }

    /// Adds a word with an irregular plural, and all words that end in it.
    public mutating func irregularSuffix(_ singular: String, _ plural: String) {
        endings.insert(Pair(singular.lowercased(), plural.lowercased()), at: 0)
    }

    /// Returns the plural of a name; the name itself when it is plural.
    public func pluralize(_ name: String) -> String {
        inflect(name, from: \.singular, to: \.plural, regular: Self.regularPlural)
    }

    /// Returns the singular of a name; the name itself when it is singular.
    public func singularize(_ name: String) -> String {
        inflect(name, from: \.plural, to: \.singular, regular: Self.regularSingular)
    }

    private func inflect(
        _ name: String, from source: KeyPath<Pair, String>, to target: KeyPath<Pair, String>,
        regular: (String) -> (dropped: Int, added: String)
    ) -> String {
        let stem = name.digitlessRadical
        let digits = name.dropFirst(stem.count)
        let start = Self.startIndexOfLastWord(stem)
        let word = stem[start...].lowercased()
        if word.isEmpty || uncountables.contains(word) { return name }
        let pair =
            words[word] ?? endings.first { word.hasSuffix($0.singular) || word.hasSuffix($0.plural) }
        if let pair {
            // A word can end in both: `specimen`. The longer one is meant.
            let other = pair[keyPath: target]
            guard word.hasSuffix(pair[keyPath: source]),
                !word.hasSuffix(other) || other.count < pair[keyPath: source].count
            else { return name }
            return stem.replacingEnding(pair[keyPath: source], with: other) + digits
        }
        let change = regular(word)
        return stem.dropLast(change.dropped) + change.added + digits
    }

    /// Where the last word of a name begins: after a space or an underscore, or
    /// at a capital that follows a small letter.
    static func startIndexOfLastWord(_ name: String) -> String.Index {
        var start = name.startIndex
        var previous: Character?
        for index in name.indices {
            let character = name[index]
            if let previous {
                let isSeparated = (previous == " " || previous == "_") && character != " " && character != "_"
                if isSeparated || (character.isUppercase && !previous.isUppercase) { start = index }
            }
            previous = character
        }
        return start
    }
}

extension String {
    /// The plural of the name.
    var pluralized: String { Inflections.default.pluralize(self) }

    /// The singular of the name.
    var singularized: String { Inflections.default.singularize(self) }

    /// The name without the digits at its end.
    var digitlessRadical: String {
        var name = self[...]
        while let last = name.last, last.isASCII, last.isNumber { name.removeLast() }
        return String(name)
    }

    /// Replaces the end of the string. What both ends have in common, and the
    /// case of the first letter, stay.
    fileprivate func replacingEnding(_ ending: String, with other: String) -> String {
        let common = zip(ending, other).prefix { $0 == $1 }.count
        let kept = dropLast(ending.count - common)
        var added = String(other.dropFirst(common))
        if common == 0, let first = dropFirst(kept.count).first, first.isUppercase {
            added = added.prefix(1).uppercased() + added.dropFirst()
        }
        return kept + added
    }
}
