/// A pattern for searches in ``FTS3`` and ``FTS4`` tables.
///
/// Text that a user typed can be no pattern, and is then an error in a search.
/// Make a pattern from its tokens:
///
/// ```swift
/// let pattern = FTS3Pattern(matchingAllPrefixesIn: searchField.text)
/// ```
public struct FTS3Pattern: Hashable, Sendable {
    /// The pattern, as SQLite takes it.
    public let rawPattern: String

    /// Makes a pattern from its text.
    ///
    /// Which operators there are depends on how the library was built: without
    /// the enhanced syntax, as in Debian 12's SQLCipher, `AND`, `NOT` and
    /// parentheses are none.
    ///
    /// - throws: A ``DatabaseError`` when the text is no pattern.
    public init(rawPattern: String) throws {
        self.rawPattern = rawPattern
        try FullTextScratch.queue.get().unsafeReentrantWrite { db in
            try db.execute(sql: "CREATE VIRTUAL TABLE IF NOT EXISTS documents USING fts3")
            try db.execute(
                sql: "SELECT count(*) FROM documents WHERE content MATCH ?", arguments: [rawPattern])
        }
    }

    /// Makes a pattern that finds any token of a text.
    ///
    /// - returns: nil when the text has no token.
    public init?(matchingAnyTokenIn string: String) {
        self.init(string) { $0.joined(separator: " OR ") }
    }

    /// Makes a pattern that finds all tokens of a text.
    ///
    /// - returns: nil when the text has no token.
    public init?(matchingAllTokensIn string: String) {
        self.init(string) { $0.joined(separator: " ") }
    }

    /// Makes a pattern that finds words that start with the tokens of a text.
    ///
    /// - returns: nil when the text has no token.
    public init?(matchingAllPrefixesIn string: String) {
        self.init(string) { $0.map { "\($0)*" }.joined(separator: " ") }
    }

    /// Makes a pattern that finds the tokens of a text side by side.
    ///
    /// - returns: nil when the text has no token.
    public init?(matchingPhrase string: String) {
        self.init(string) { "\"\($0.joined(separator: " "))\"" }
    }

    private init?(_ string: String, _ pattern: ([String]) -> String) {
        // Tokens are in lower case, and so never operators.
        guard let tokens = try? FTS3.tokenize(string, withTokenizer: .simple), !tokens.isEmpty else {
            return nil
        }
        try? self.init(rawPattern: pattern(tokens))
    }
}

extension FTS3Pattern: DatabaseValueConvertible {
    /// The pattern as text.
    public var databaseValue: DatabaseValue { rawPattern.databaseValue }

    /// Makes a pattern from text, or returns nil when it is none.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> FTS3Pattern? {
        String.fromDatabaseValue(dbValue).flatMap { try? FTS3Pattern(rawPattern: $0) }
    }
}
