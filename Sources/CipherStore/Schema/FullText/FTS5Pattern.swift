/// A pattern for searches in ``FTS5`` tables.
///
/// Text that a user typed can be no pattern, and is then an error in a search.
/// Make a pattern from its tokens:
///
/// ```swift
/// let pattern = FTS5Pattern(matchingAllPrefixesIn: searchField.text)
/// let documents = try Document.matching(pattern).fetchAll(db)
/// ```
public struct FTS5Pattern: Hashable, Sendable {
    /// The pattern, as SQLite takes it.
    public let rawPattern: String

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

    /// Makes a pattern that finds the tokens of a text side by side, at the
    /// beginning of a column.
    ///
    /// - returns: nil when the text has no token.
    public init?(matchingPrefixPhrase string: String) {
        self.init(string) { "^\"\($0.joined(separator: " "))\"" }
    }

    private init?(_ string: String, _ pattern: ([String]) -> String) {
        let tokens = Self.tokens(string)
        guard !tokens.isEmpty else { return nil }
        rawPattern = pattern(tokens)
    }

    /// The tokens that the tokenizer `ascii` finds, on all engines.
    ///
    /// Its characters are those that a pattern can have without quotes, and in
    /// lower case they are no operator.
    private static func tokens(_ string: String) -> [String] {
        func isToken(_ byte: UInt8) -> Bool {
            byte >= 0x80 || (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A) || (byte >= 0x30 && byte <= 0x39)
        }
        return string.utf8.split { !isToken($0) }.map { token in
            String(decoding: token.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }, as: UTF8.self)
        }
    }

    /// Makes a pattern from its text.
    ///
    /// - parameters:
    ///     - rawPattern: The text.
    ///     - allowedColumns: The columns that the pattern may name.
    /// - throws: A ``DatabaseError`` when the text is no pattern, or where the
    ///   library has no FTS5.
    public init(rawPattern: String, allowedColumns: [String] = []) throws {
        try FTS5.requireAvailable()
        try FullTextScratch.queue.get().unsafeReentrantWrite { db in
            let columns = allowedColumns.isEmpty ? ["_"] : allowedColumns
            try db.execute(sql: "CREATE VIRTUAL TABLE temp.patterns USING fts5(\(columns.quotedList))")
            let answer = Result {
                try db.execute(
                    sql: "SELECT count(*) FROM patterns WHERE patterns MATCH ?", arguments: [rawPattern])
            }
            try db.execute(sql: "DROP TABLE temp.patterns")
            try answer.get()
        }
        self.rawPattern = rawPattern
    }
}

extension Database {
    /// Makes a pattern for a table.
    ///
    /// ```swift
    /// let pattern = try db.makeFTS5Pattern(rawPattern: "title: sqlite", forTable: "book")
    /// ```
    ///
    /// - parameters:
    ///     - rawPattern: The text of the pattern.
    ///     - table: The full-text table.
    /// - throws: A ``DatabaseError`` when the text is no pattern, or names a
    ///   column that the table does not have, or where the library has no FTS5.
    public func makeFTS5Pattern(rawPattern: String, forTable table: String) throws -> FTS5Pattern {
        try FTS5.requireAvailable()
        return try FTS5Pattern(rawPattern: rawPattern, allowedColumns: columns(in: table).map(\.name))
    }
}

extension FTS5Pattern: DatabaseValueConvertible {
    /// The pattern as text.
    public var databaseValue: DatabaseValue { rawPattern.databaseValue }

    /// Makes a pattern from text, or returns nil when it is none, or names
    /// columns, or where the library has no FTS5.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> FTS5Pattern? {
        String.fromDatabaseValue(dbValue).flatMap { try? FTS5Pattern(rawPattern: $0) }
    }
}
