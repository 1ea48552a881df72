extension TableDefinition {
    /// The statement that creates the table, and those that create its indexes.
    func statements(_ db: Database) throws -> [String] {
        if options.contains(.strict) { try db.requireStrictTables() }
        var context = TableContext(table: name, key: [], isIncomplete: true)
        // The key's own columns first: others may refer to them.
        let keyed = try items.map { try $0.isInPrimaryKey ? parts($0.item, db, context, true) : nil }
        let key = primaryKey(keyed.compactMap { $0 })
        context = TableContext(table: name, key: key)
        let all = try zip(items, keyed).map { try $1 ?? parts($0.item, db, context, false) }
        var lines: [String] = []
        for (item, part) in zip(items, all) {
            lines +=
                try part.literal.map { [$0] }
                ?? part.columns.map { try $0.sql(db, in: context, isInPrimaryKey: item.isInPrimaryKey) }
        }
        if hasPrimaryKeyClause {
            let clause =
                ["PRIMARY KEY (\(key.map(\.name).quotedList))"] + primaryKeyConflict.constraintClauses
            lines.append(clause.joined(separator: " "))
        }
        lines += uniqueKeys.map(\.sql)
        lines += try (foreignKeys + all.compactMap(\.constraint)).map { try $0.sql(db, in: context) }
        lines += try checks.map { "CHECK (\(try $0(db).withCommentEnded))" }
        lines += try literals.map { try $0(db) }
        return [createStatement(lines)] + all.flatMap { indexStatements($0) }
    }

    /// What an item of the table's body stands for.
    private struct Part {
        var literal: String?
        var columns: [ColumnDefinition] = []
        var constraint: TableConstraint.ForeignKey?
        var index: (columns: [String], isUnique: Bool)?
    }

    private func parts(
        _ item: Item, _ db: Database, _ context: TableContext, _ isInPrimaryKey: Bool
    ) throws -> Part {
        switch item {
        case .column(let column): return Part(columns: [column])
        case .literal(let fragment): return Part(literal: try fragment(db))
        case .foreignKey(let key):
            let parts = try key.parts(db, in: context, isInPrimaryKey: isInPrimaryKey)
            return Part(columns: parts.columns, constraint: parts.constraint, index: parts.index)
        }
    }

    /// The columns of the primary key; none for a hidden rowid.
    private func primaryKey(_ keyed: [Part]) -> TableContext.Key {
        let columns = items.compactMap { item in
            if case .column(let column) = item.item { column } else { nil }
        }
        if let primaryKeyColumns {
            return primaryKeyColumns.map { name in
                (name, columns.first { $0.name.isSameIdentifier(as: name) }?.type)
            }
        }
        if hasPrimaryKeyClause { return keyed.flatMap(\.columns).map { ($0.name, $0.type) } }
        return columns.filter { $0.primaryKey != nil }.map { ($0.name, $0.type) }
    }

    private func createStatement(_ lines: [String]) -> String {
        var sql = "CREATE"
        if options.contains(.temporary) { sql += " TEMPORARY" }
        sql += " TABLE"
        if options.contains(.ifNotExists) { sql += " IF NOT EXISTS" }
        sql += " \(name.quotedDatabaseIdentifier) (\(lines.map(\.withCommentEnded).joined(separator: ", ")))"
        let suffixes = [(TableOptions.strict, "STRICT"), (.withoutRowID, "WITHOUT ROWID")]
        let clauses = suffixes.filter { options.contains($0.0) }.map(\.1)
        return clauses.isEmpty ? sql : sql + " " + clauses.joined(separator: ", ")
    }

    private func indexStatements(_ part: Part) -> [String] {
        var options: IndexOptions = self.options.contains(.ifNotExists) ? [.ifNotExists] : []
        if let index = part.index {
            if index.isUnique { options.insert(.unique) }
            return [IndexDefinition(on: name, columns: index.columns, options: options).sql]
        }
        return part.columns.compactMap { column in
            guard case .plain = column.index else { return nil }
            return IndexDefinition(
                name: "\(name)_on_\(column.name)", on: name, columns: [column.name], options: options
            ).sql
        }
    }
}
