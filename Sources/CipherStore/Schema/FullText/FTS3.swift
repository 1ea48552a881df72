/// The full-text module FTS3.
///
/// ```swift
/// try db.create(virtualTable: "document", using: FTS3()) { t in t.column("content") }
/// let documents = try Row.fetchAll(
///     db, sql: "SELECT * FROM document WHERE document MATCH ?",
///     arguments: [FTS3Pattern(matchingAllTokensIn: "encrypted database")])
/// ```
///
/// Related SQLite documentation: <https://www.sqlite.org/fts3.html>
public struct FTS3: Sendable {
    /// What the tokenizer `unicode61` does with diacritics.
    public enum Diacritics: Sendable {
        /// Leaves them: `é` is not `e`.
        case keep
        /// Removes them, as libraries before SQLite 3.27 do: not from all letters that have several.
        case removeLegacy
        /// Removes them. It needs SQLite 3.27.
        case remove
    }

    /// Makes the module.
    public init() {}

    /// Returns the tokens of a text.
    ///
    /// - parameters:
    ///     - string: The text.
    ///     - tokenizer: The tokenizer; `simple` when it is not given.
    /// - throws: A ``DatabaseError`` when the library does not have the tokenizer.
    public static func tokenize(
        _ string: String, withTokenizer tokenizer: FTS3TokenizerDescriptor = .simple
    ) throws -> [String] {
        try FullTextScratch.queue.get().unsafeReentrantWrite { db in
            let arguments = ([tokenizer.name] + tokenizer.quotedArguments).joined(separator: ", ")
            try db.execute(sql: "CREATE VIRTUAL TABLE tokens USING fts3tokenize(\(arguments))")
            let tokens = Result {
                try String.fetchAll(
                    db, sql: "SELECT token FROM tokens WHERE input = ? ORDER BY position", arguments: [string]
                )
            }
            try db.execute(sql: "DROP TABLE tokens")
            return try tokens.get()
        }
    }
}

/// A database in memory, in which texts and patterns are tried.
enum FullTextScratch {
    static let queue = Result { try DatabaseQueue() }
}

extension FTS3: VirtualTableModule {
    /// `fts3`
    public var moduleName: String { "fts3" }

    /// Makes an empty definition.
    public func makeTableDefinition(configuration: VirtualTableConfiguration) -> FTS3TableDefinition {
        FTS3TableDefinition()
    }

    /// Returns the columns and the tokenizer.
    public func moduleArguments(for definition: FTS3TableDefinition, in db: Database) -> [String] {
        definition.columns.map(\.fullTextArgument) + (definition.tokenizer.map { [$0.argument] } ?? [])
    }

    /// Does nothing.
    public func database(_ db: Database, didCreate tableName: String, using definition: FTS3TableDefinition) {
    }
}

/// The columns and the tokenizer of an ``FTS3`` table.
public final class FTS3TableDefinition {
    fileprivate private(set) var columns: [String] = []

    /// The tokenizer; `simple` when it is not set.
    public var tokenizer: FTS3TokenizerDescriptor?

    /// Adds a column.
    public func column(_ name: String) { columns.append(name) }
}

@available(*, unavailable)
extension FTS3TableDefinition: Sendable {}

/// A tokenizer of ``FTS3`` and ``FTS4``, with its arguments.
public struct FTS3TokenizerDescriptor: Sendable {
    let name: String
    let arguments: [String]

    /// Makes a tokenizer.
    ///
    /// - parameters:
    ///     - name: Its name.
    ///     - arguments: Its arguments, such as `remove_diacritics=0`.
    public init(_ name: String, arguments: [String] = []) {
        self.name = name
        self.arguments = arguments
    }

    /// Splits at what is no ASCII letter or digit, and folds the case of ASCII letters.
    public static let simple = FTS3TokenizerDescriptor("simple")

    /// As `simple`, and takes the endings off English words.
    public static let porter = FTS3TokenizerDescriptor("porter")

    /// Splits at blanks and punctuation of any language, folds the case of all letters.
    ///
    /// - parameters:
    ///     - diacritics: What becomes of diacritics.
    ///     - separators: Characters that separate, too.
    ///     - tokenCharacters: Characters that belong to tokens, too.
    public static func unicode61(
        diacritics: FTS3.Diacritics = .removeLegacy, separators: Set<Character> = [],
        tokenCharacters: Set<Character> = []
    ) -> FTS3TokenizerDescriptor {
        var arguments: [String] = []
        switch diacritics {
        case .removeLegacy: break
        case .keep: arguments.append("remove_diacritics=0")
        case .remove: arguments.append("remove_diacritics=2")
        }
        if !separators.isEmpty { arguments.append("separators=\(String(separators.sorted()))") }
        if !tokenCharacters.isEmpty { arguments.append("tokenchars=\(String(tokenCharacters.sorted()))") }
        return FTS3TokenizerDescriptor("unicode61", arguments: arguments)
    }

    var quotedArguments: [String] { arguments.map(\.quotedDatabaseIdentifier) }

    /// The argument of the module.
    var argument: String { (["tokenize=\(name)"] + quotedArguments).joined(separator: " ") }
}

extension String {
    /// The name of a column as an argument of a full-text module.
    var fullTextArgument: String {
        let isPlain = utf8.allSatisfy {
            ($0 | 32 >= 97 && $0 | 32 <= 122) || ($0 >= 48 && $0 <= 57) || $0 == 95
        }
        return isPlain && !isEmpty ? self : quotedDatabaseIdentifier
    }
}
