/// A statement of the app that changes or drops a table, or gives it a trigger.
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
        if tokens.count > 2, tokens[0].isKeyword("create"), tokens[1].isKeyword("trigger") {
            guard let table = Self.tableOfTrigger(tokens[2...]) else { return nil }
            self.table = table
            change = .addTrigger
            return
        }
        guard tokens.count > 2, tokens[1].isKeyword("table") else { return nil }
        var rest = tokens[2...]
        let isDrop = tokens[0].isKeyword("drop")
        guard isDrop || tokens[0].isKeyword("alter") else { return nil }
        if isDrop, rest.count > 2, rest[2].isKeyword("if"), rest[3].isKeyword("exists") {
            rest = rest.dropFirst(2)
        }
        guard let name = Self.takeName(&rest) else { return nil }
        guard let change = isDrop ? .drop : Self.alteration(Array(rest)) else { return nil }
        table = name
        self.change = change
    }

    /// Takes a name from the beginning of some tokens, and the name of its schema.
    ///
    /// - returns: nil when there is none, or when it names another schema than the main one.
    private static func takeName(_ tokens: inout ArraySlice<SQLToken>) -> String? {
        if tokens.dropFirst().first?.isSymbol(".") == true {
            guard tokens.first?.text.isSameIdentifier(as: "main") == true else { return nil }
            tokens = tokens.dropFirst(2)
        }
        return tokens.popFirst()?.text
    }

    /// The table of a trigger that is made.
    ///
    /// - parameter tokens: What stands behind `CREATE TRIGGER`.
    /// - returns: nil for one of synchronization itself, and for one of another schema than the main one.
    private static func tableOfTrigger(_ tokens: ArraySlice<SQLToken>) -> String? {
        var rest = tokens
        if rest.first?.isKeyword("if") == true, rest.dropFirst().first?.isKeyword("not") == true {
            rest = rest.dropFirst(3)
        }
        guard let name = takeName(&rest), !SyncNames.contains(name),
            let on = rest.firstIndex(where: { $0.isKeyword("on") })
        else { return nil }
        rest = rest[(on + 1)...]
        return takeName(&rest)
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
