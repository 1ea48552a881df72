/// A statement of the app that changes or drops a table.
struct SchemaStatement {
    /// The table.
    let table: String
    let change: TableChange

    /// Reads a statement.
    ///
    /// - returns: nil when it does something else, or names another schema than
    ///   the main one.
    init?(sql: String) {
        let tokens = SQLTokens(sql).tokens
        guard tokens.count > 2, tokens[1].isKeyword("table") else { return nil }
        var rest = tokens[2...]
        let isDrop = tokens[0].isKeyword("drop")
        guard isDrop || tokens[0].isKeyword("alter") else { return nil }
        if isDrop, rest.count > 2, rest[2].isKeyword("if"), rest[3].isKeyword("exists") {
            rest = rest.dropFirst(2)
        }
        if rest.dropFirst().first?.isSymbol(".") == true {
            guard rest.first?.text.isSameIdentifier(as: "main") == true else { return nil }
            rest = rest.dropFirst(2)
        }
        guard let name = rest.popFirst() else { return nil }
        guard let change = isDrop ? .drop : Self.alteration(Array(rest)) else { return nil }
        table = name.text
        self.change = change
    }

    private static func alteration(_ tokens: [SQLToken]) -> TableChange? {
        guard let verb = tokens.first else { return nil }
        var names = tokens.dropFirst()
        if verb.isKeyword("rename"), names.count == 2, names.first?.isKeyword("to") == true {
            return names.last.map { .rename(to: $0.text) }
        }
        // The word COLUMN can be left out, and can be a name.
        if names.count > 1, names.first?.isKeyword("column") == true,
            names.dropFirst().first?.isKeyword("to") != true
        {
            names = names.dropFirst()
        }
        guard let name = names.first else { return nil }
        if verb.isKeyword("add") { return .addColumn(name.text) }
        if verb.isKeyword("drop"), names.count == 1 { return .dropColumn(name.text) }
        guard verb.isKeyword("rename"), names.count == 3, let newName = names.last else { return nil }
        return .renameColumn(name.text, to: newName.text)
    }
}
