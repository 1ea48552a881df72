import CipherStore

/// The virtual tables of a store, and the tables in which their modules keep what is in them: SQLite makes these
/// itself when a virtual table is made.
struct VirtualTables {
    private struct Definition {
        let module: String
        /// What the option `content` of a full-text table names; nil when it is not there.
        let content: String?
    }

    /// By the keys of their names.
    private let definitions: [String: Definition]
    /// The keys of the names of the modules' own tables.
    private let shadows: Set<String>

    /// What the names of a module's tables add to that of the virtual table. Old engines have no `PRAGMA table_list`,
    /// which would tell them.
    private static let suffixes: [String: [String]] = [
        "fts3": ["_content", "_segments", "_segdir"],
        "fts4": ["_content", "_segments", "_segdir", "_docsize", "_stat"],
        "fts5": ["_content", "_data", "_idx", "_docsize", "_config"],
        "rtree": ["_node", "_rowid", "_parent"],
        "rtree_i32": ["_node", "_rowid", "_parent"],
        "geopoly": ["_node", "_rowid", "_parent"],
    ]

    /// Reads the schema.
    init(_ db: Database) throws {
        var definitions: [String: Definition] = [:]
        var shadows: Set<String> = []
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql IS NOT NULL")
        for row in rows {
            let name: String = try row.decode(atIndex: 0)
            guard let definition = Self.definition(try row.decode(atIndex: 1)) else { continue }
            definitions[name.identifierKey] = definition
            for suffix in Self.suffixes[definition.module] ?? [] {
                // The rows are elsewhere then, and such a table is the user's.
                if suffix == "_content" && definition.content != nil { continue }
                shadows.insert((name + suffix).identifierKey)
            }
        }
        (self.definitions, self.shadows) = (definitions, shadows)
    }

    /// Whether a table is one of those that a module makes.
    func isShadow(_ table: String) -> Bool { shadows.contains(table.identifierKey) }

    /// Whether a table is a full-text table: other tables refer to its rows by their rowids.
    func isFullText(_ table: String) -> Bool {
        definitions[table.identifierKey].map { ["fts3", "fts4", "fts5"].contains($0.module) } ?? false
    }

    /// Whether a full-text table has an index only, so that its rows can't be read.
    func isContentless(_ table: String) -> Bool {
        isFullText(table) && definitions[table.identifierKey]?.content?.isEmpty == true
    }

    /// The table or view whose rows a full-text table is an index of; nil when its rows are its own.
    func otherContent(of table: String) -> String? {
        guard isFullText(table), let content = definitions[table.identifierKey]?.content, !content.isEmpty
        else { return nil }
        return content
    }

    private static func definition(_ sql: String) -> Definition? {
        let tokens = SQLTokens(sql).tokens
        // CREATE VIRTUAL TABLE name USING module
        guard tokens.count > 5, tokens[1].isKeyword("virtual"), tokens[4].isKeyword("using") else {
            return nil
        }
        let option = tokens.indices.dropFirst(6).dropLast(2).first {
            tokens[$0].isKeyword("content") && tokens[$0 + 1].isSymbol("=")
        }
        return Definition(
            module: tokens[5].text.foldedIdentifier, content: option.map { tokens[$0 + 2].text })
    }
}
