// Conditions of deletions that read the table.

extension SQLExpression {
    /// The condition of a deletion, in a form by which it is asked of all rows before the first one is gone.
    ///
    /// Old engines delete a row as soon as they find it. A query in the condition, or the index that it is looked up in, has no
    /// such row any more when they ask about the next ones. With a query that depends on the row they find all rows first.
    func askedBeforeDeletions(_ table: String, _ writer: SQLWriter) throws -> SQLExpression {
        let db = writer.database
        guard writer.features.readsAmongDeletions, try mayRead(table, db),
            let column = try db.columnNames(of: table).first
        else { return self }
        let name = "\(table.quotedDatabaseIdentifier).\(column.quotedDatabaseIdentifier)"
        let exists = SQLSubquery(.literal(SQL(sql: "SELECT \(name)")))
        return .joined(.and, [self, SQLExpression(.exists(exists, isNegated: false))])
    }

    /// Whether a query in the expression may read a table.
    fileprivate func mayRead(_ table: String, _ db: Database) throws -> Bool {
        switch node {
        case .subquery(let query), .exists(let query, _): try query.mayRead(table, db)
        case .isIn(let operand, .subquery(let query), _):
            try query.mayRead(table, db) || operand.mayRead(table, db)
        case .isIn(_, .table, _): true
        case .literal(let sql): try sql.mayHaveQuery(db)
        case .deferred(let make): try make(db).mayRead(table, db)
        default: try operands.contains { try $0.mayRead(table, db) }
        }
    }
}

extension SQLSubquery {
    fileprivate func mayRead(_ table: String, _ db: Database) throws -> Bool {
        guard case .relation(let relation) = node else { return true }
        return try relation.mayRead(table, db)
    }
}

extension Relation {
    fileprivate func mayRead(_ table: String, _ db: Database) throws -> Bool {
        // What a view or a common table reads is known to SQLite only.
        guard let name = source.tableName, name.foldedIdentifier != table.foldedIdentifier,
            commonTables.isEmpty,
            try db.indexTraits(of: name) != nil
        else { return true }
        if try children.contains(where: { try $0.isJoined && $0.relation.mayRead(table, db) }) { return true }
        if try (filters + groupFilters).contains(where: { try $0.mayRead(table, db) }) { return true }
        return try resolvedSelection(db).contains { selection in
            switch selection.node {
            case .allColumns, .allColumnsExcluding: false
            case .expression(let expression), .named(let expression, _): try expression.mayRead(table, db)
            default: true
            }
        }
    }
}

extension SQL {
    /// Whether there is a query in it, as far as it can be told before the statement around it is written.
    fileprivate func mayHaveQuery(_ db: Database) throws -> Bool {
        guard let text = try? build(db).sql else { return true }
        return SQLTokens(text).tokens.contains { $0.isKeyword("select") }
    }
}
