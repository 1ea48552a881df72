/// What splits texts into tokens, for ``FTS5``.
///
/// ``Database/makeTokenizer(_:)`` makes the tokenizers of the library. For one of
/// your own, see ``FTS5WrapperTokenizer`` and ``FTS5CustomTokenizer``.
///
/// ```swift
/// let ascii = try db.makeTokenizer(.ascii())
/// try ascii.tokenize(query: "SQLite database").map(\.token)  // ["sqlite", "database"]
/// ```
public protocol FTS5Tokenizer: AnyObject {
    /// Calls a function for each token of a text.
    ///
    /// It is what SQLite documents as `xTokenize`:
    /// <https://www.sqlite.org/fts5.html#custom_tokenizers>
    ///
    /// - parameters:
    ///     - context: The first argument of the callback.
    ///     - tokenization: Why the text is tokenized.
    ///     - pText: The UTF-8 of the text, which no NUL need follow.
    ///     - nText: The number of its bytes.
    ///     - tokenCallback: The function. When it returns another code than `SQLITE_OK`,
    ///       the tokenizer stops and returns that code.
    /// - returns: An SQLite result code.
    func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?,
        nText: CInt, tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt
}

/// What ``FTS5Tokenizer`` calls for each token.
///
/// - parameters:
///     - context: What the tokenizer was given.
///     - flags: An ``FTS5TokenFlags`` value.
///     - pToken: The UTF-8 of the token, which no NUL need follow.
///     - nToken: The number of its bytes.
///     - iStart: Where the token starts in the text, in bytes.
///     - iEnd: Where it ends.
/// - returns: An SQLite result code.
public typealias FTS5TokenCallback =
    @convention(c) (
        _ context: UnsafeMutableRawPointer?, _ flags: CInt, _ pToken: UnsafePointer<CChar>?, _ nToken: CInt,
        _ iStart: CInt, _ iEnd: CInt
    ) -> CInt

/// Why a text is tokenized.
///
/// Related SQLite documentation: <https://www.sqlite.org/fts5.html#custom_tokenizers>
public struct FTS5Tokenization: OptionSet, Sendable {
    /// The flags of SQLite.
    public let rawValue: CInt

    /// Makes a value from the flags of SQLite.
    public init(rawValue: CInt) { self.rawValue = rawValue }

    /// The text is a pattern.
    public static let query = FTS5Tokenization(rawValue: 1)

    /// The last token of the pattern is the beginning of words.
    public static let prefix = FTS5Tokenization(rawValue: 2)

    /// The text is in the table, or goes into it or out of it.
    public static let document = FTS5Tokenization(rawValue: 4)

    /// An auxiliary function asks.
    public static let aux = FTS5Tokenization(rawValue: 8)
}

/// What a tokenizer tells about a token.
///
/// Related SQLite documentation: <https://www.sqlite.org/fts5.html#custom_tokenizers>
public struct FTS5TokenFlags: OptionSet, Sendable {
    /// The flags of SQLite.
    public let rawValue: CInt

    /// Makes a value from the flags of SQLite.
    public init(rawValue: CInt) { self.rawValue = rawValue }

    /// The token is where the token before it is: it is a synonym.
    public static let colocated = FTS5TokenFlags(rawValue: 1)
}

extension FTS5Tokenizer {
    /// Returns the tokens of a text of a table.
    ///
    /// - throws: A ``DatabaseError`` when the tokenizer fails.
    public func tokenize(document: String) throws -> [(token: String, flags: FTS5TokenFlags)] {
        try tokens(of: document, for: .document)
    }

    /// Returns the tokens of a text that is searched for.
    ///
    /// - throws: A ``DatabaseError`` when the tokenizer fails.
    public func tokenize(query: String) throws -> [(token: String, flags: FTS5TokenFlags)] {
        try tokens(of: query, for: .query)
    }

    private func tokens(of text: String, for tokenization: FTS5Tokenization) throws
        -> [(token: String, flags: FTS5TokenFlags)]
    {
        var text = text
        var tokens: [(token: String, flags: FTS5TokenFlags)] = []
        let code = withUnsafeMutablePointer(to: &tokens) { tokens in
            text.withUTF8 { utf8 in
                utf8.withMemoryRebound(to: CChar.self) { text in
                    tokenize(
                        context: tokens, tokenization: tokenization, pText: text.baseAddress,
                        nText: CInt(clamping: text.count)
                    ) { tokens, flags, token, count, _, _ in
                        tokens?.assumingMemoryBound(to: [(token: String, flags: FTS5TokenFlags)].self).pointee
                            .append((String(token: token, count: count), FTS5TokenFlags(rawValue: flags)))
                        return ResultCode.SQLITE_OK.rawValue
                    }
                }
            }
        }
        guard code == ResultCode.SQLITE_OK.rawValue else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code), message: "the text could not be tokenized")
        }
        return tokens
    }
}

extension String {
    /// A token that a tokenizer hands out.
    init(token: UnsafePointer<CChar>?, count: CInt) {
        self.init(decoding: UnsafeRawBufferPointer(start: token, count: Int(count)), as: UTF8.self)
    }
}
