/// A tokenizer of ``FTS5``, with its arguments.
///
/// ```swift
/// try db.create(virtualTable: "document", using: FTS5()) { t in
///     t.tokenizer = .porter(wrapping: .unicode61(diacritics: .keep))
///     t.column("content")
/// }
/// ```
public struct FTS5TokenizerDescriptor: Sendable {
    /// The name of the tokenizer, and its arguments: `["unicode61", "remove_diacritics", "0"]`.
    public let components: [String]

    /// The name of the tokenizer.
    public var name: String { components.first ?? "" }

    /// The arguments of the tokenizer.
    var arguments: ArraySlice<String> { components.dropFirst() }

    /// Makes a tokenizer.
    ///
    /// - parameter components: Its name and its arguments. There must be a name.
    public init(components: [String]) {
        precondition(!components.isEmpty, "a tokenizer needs a name")
        self.components = components
    }

    /// Splits at what is no ASCII letter or digit and no character beyond ASCII,
    /// and folds the case of ASCII letters.
    ///
    /// - parameters:
    ///     - separators: ASCII characters that separate, too.
    ///     - tokenCharacters: ASCII characters that belong to tokens, too.
    public static func ascii(separators: Set<Character> = [], tokenCharacters: Set<Character> = [])
        -> FTS5TokenizerDescriptor
    {
        FTS5TokenizerDescriptor(
            components: ["ascii"] + characterOptions(separators: separators, tokenCharacters: tokenCharacters)
        )
    }

    /// Takes the endings off the English words that another tokenizer finds.
    ///
    /// - parameter base: The other tokenizer; `unicode61` when it is nil.
    public static func porter(wrapping base: FTS5TokenizerDescriptor? = nil) -> FTS5TokenizerDescriptor {
        FTS5TokenizerDescriptor(components: ["porter"] + (base?.components ?? []))
    }

    /// Splits at blanks and punctuation of any language, folds the case of all letters.
    ///
    /// - parameters:
    ///     - diacritics: What becomes of diacritics.
    ///     - categories: The Unicode categories of the characters of tokens,
    ///       such as `"L* N* Co"`. It needs SQLite 3.25.
    ///     - separators: Characters that separate, too.
    ///     - tokenCharacters: Characters that belong to tokens, too.
    public static func unicode61(
        diacritics: FTS5.Diacritics = .removeLegacy, categories: String = "",
        separators: Set<Character> = [], tokenCharacters: Set<Character> = []
    ) -> FTS5TokenizerDescriptor {
        var components = ["unicode61"]
        switch diacritics {
        case .removeLegacy: break
        case .keep: components += ["remove_diacritics", "0"]
        case .remove: components += ["remove_diacritics", "2"]
        }
        if !categories.isEmpty { components += ["categories", categories] }
        components += characterOptions(separators: separators, tokenCharacters: tokenCharacters)
        return FTS5TokenizerDescriptor(components: components)
    }

    private static func characterOptions(
        separators: Set<Character>, tokenCharacters: Set<Character>
    ) -> [String] {
        [("separators", separators), ("tokenchars", tokenCharacters)].flatMap { name, characters in
            characters.isEmpty ? [] : [name, String(characters.sorted())]
        }
    }

    /// The argument of the module: a text of quoted texts.
    var argument: String { components.map(\.quotedSQLText).joined(separator: " ").quotedSQLText }
}
