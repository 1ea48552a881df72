import CipherStore

/// What the text of an object in a schema makes.
///
/// SQLite goes by the texts. Whoever writes the schema of a file by hand can let it call an object, or the table that a trigger
/// is on, something else.
struct SchemaObject {
    /// The kinds, as SQL calls them.
    enum Kind: String {
        case table, index, view, trigger
    }

    let kind: Kind
    /// Whether it is a table of a module, which may read others.
    let isVirtual: Bool
    let name: String
    /// What an index or a trigger is on.
    let target: String?
    private let tokens: [SQLToken]

    /// - returns: nil for a text that makes nothing of the kind.
    init?(_ sql: SQLTokens) {
        tokens = sql.tokens
        var rest = sql.tokens[...]
        guard Self.take("create", &rest) else { return nil }
        _ = Self.take("unique", &rest)
        isVirtual = Self.take("virtual", &rest)
        guard let word = rest.popFirst(), word.kind == .word,
            let kind = Kind(rawValue: word.text.foldedIdentifier)
        else { return nil }
        self.kind = kind
        if rest.first?.isKeyword("if") == true, rest.dropFirst().first?.isKeyword("not") == true {
            rest = rest.dropFirst(3)
        }
        guard let name = Self.takeName(&rest) else { return nil }
        self.name = name
        guard kind == .index || kind == .trigger else {
            self.target = nil
            return
        }
        // A column of this name has quotes.
        guard let on = rest.firstIndex(where: { $0.isKeyword("on") }) else { return nil }
        rest = rest[(on + 1)...]
        guard let target = Self.takeName(&rest) else { return nil }
        self.target = target
    }

    private static func take(_ keyword: String, _ rest: inout ArraySlice<SQLToken>) -> Bool {
        guard rest.first?.isKeyword(keyword) == true else { return false }
        rest.removeFirst()
        return true
    }

    /// Takes a name, which may have that of a schema before it.
    private static func takeName(_ rest: inout ArraySlice<SQLToken>) -> String? {
        guard let first = rest.popFirst() else { return nil }
        guard rest.first?.isSymbol(".") == true else { return first.text }
        rest.removeFirst()
        return rest.popFirst()?.text
    }

    /// Whether it reads or writes tables when it is used.
    var usesTables: Bool { isVirtual || kind == .view || kind == .trigger }

    /// All words that can be the name of a table: SQLite takes a text in quotes for one, too.
    var names: [String] { tokens.filter { $0.kind != .other }.map(\.text) }

    /// The names of what a trigger writes to.
    var writtenNames: [String] {
        guard kind == .trigger, let begin = tokens.firstIndex(where: { $0.isKeyword("begin") }) else {
            return []
        }
        return UserTriggers.writtenNames(tokens[begin...])
    }

    /// The parts of the text that mean something: two texts with the same ones make the same.
    static func parts(_ sql: SQLTokens) -> [Part] {
        sql.tokens.map { token -> Part in
            switch token.kind {
            case .word, .quotedName: .name(token.text.identifierKey)
            case .string: .text(token.text)
            case .other: .other(token.text)
            }
        }
    }

    /// A part of a text.
    enum Part: Hashable {
        case name(String)
        case text(String)
        case other(String)
    }
}
