// What a relation tells about its rows.

extension Relation {
    /// What is selected, with what only the connection knows.
    func resolvedSelection(_ db: Database) throws -> [SQLSelection] {
        try selection.flatMap { try $0.resolved(db) }
    }

    /// Whether joins can repeat a row.
    private var hasToManyJoin: Bool {
        children.contains { $0.isJoined && (!$0.isToOne || $0.relation.hasToManyJoin) }
    }

    private var hasJoin: Bool { children.contains { $0.isJoined } }

    /// Whether there can't be two rows.
    func hasOneRowAtMost(_ db: Database) throws -> Bool {
        if !hasJoin && grouping.isEmpty {
            let selection = try resolvedSelection(db)
            if !selection.isEmpty && selection.allSatisfy(\.isAggregate) { return true }
        }
        guard let table = source.tableName, !hasToManyJoin, let condition = try condition(db) else {
            return false
        }
        let columns = try RowIdentification(db, table: table, aliases: aliases).fixedColumns(condition)
        return try !columns.isEmpty && db.table(table, hasUniqueKey: columns)
    }

    /// The rowids of the rows that there can be, or nil when they are not known.
    func rowIDs(_ db: Database) throws -> Set<Int64>? {
        guard let table = source.tableName, let condition = try condition(db) else { return nil }
        return try RowIdentification(db, table: table, aliases: aliases).rowIDs(condition)
    }

    /// Whether the query gives the same rows when it is run again and selects other columns.
    ///
    /// With a limit it could be others. What a group is shown by depends on what is selected, and a filter
    /// may use a selected name.
    func isSameWithOtherColumns(_ db: Database) throws -> Bool {
        guard limit == nil, try !makesGroups(db) else { return false }
        return try !selectsNames(db)
    }

    private func selectsNames(_ db: Database) throws -> Bool {
        if try resolvedSelection(db).contains(where: \.hasName) { return true }
        return try children.contains { try $0.isJoined && $0.relation.selectsNames(db) }
    }

    // MARK: Counting

    func fetchCount(_ db: Database) throws -> Int {
        let writer = SQLWriter(db)
        try writeCount(to: writer)
        return try Int.fetchOne(db, sql: writer.sql, arguments: writer.arguments) ?? 0
    }

    private func writeCount(to writer: SQLWriter) throws {
        var relation = self
        relation.removeOrdering()
        guard let counted = try relation.countedExpression(writer.database) else {
            return try SQL("SELECT COUNT(*) FROM (\(SQLSubquery(.relation(relation))))").write(to: writer)
        }
        try relation.writeQuery(to: writer) { joined in
            writer.append("SELECT ")
            try writer.withScope(joined.sources[0].identity) { try counted.write(to: writer) }
        }
    }

    /// What counts the rows in the query itself, or nil when the query must
    /// become a subquery.
    private func countedExpression(_ db: Database) throws -> SQLExpression? {
        guard limit == nil, try !makesGroups(db) else { return nil }
        let selection = try resolvedSelection(db)
        if isDistinct {
            guard !hasJoin, selection.count == 1, let expression = selection[0].countedExpression else {
                return nil
            }
            return count(distinct: expression)
        }
        // The filter may use a selected name.
        guard filters.isEmpty || !selection.contains(where: \.hasName) else { return nil }
        return SQL(sql: "COUNT(*)").sqlExpression
    }

    /// Whether rows are put together, by groups or by an aggregate.
    ///
    /// What joined tables select is a part of the whole query.
    func makesGroups(_ db: Database) throws -> Bool {
        if !grouping.isEmpty || !groupFilters.isEmpty { return true }
        if try resolvedSelection(db).contains(where: \.isAggregate) { return true }
        return try children.contains { try $0.isJoined && $0.relation.makesGroups(db) }
    }
}

extension Relation {
    // MARK: Ordering

    mutating func removeOrdering() {
        ordering = RelationOrdering()
        for index in children.indices { children[index].relation.removeOrdering() }
    }

    mutating func reverse() {
        ordering.isReversed.toggle()
    }

    mutating func stabilizeOrdering() {
        let source = source
        let selection = selection
        ordering.append(.deferred { db in try Self.stableOrderings(source, selection, db) })
        for index in children.indices { children[index].relation.stabilizeOrdering() }
    }

    private static func stableOrderings(
        _ source: Source, _ selection: [SQLSelection], _ db: Database
    ) throws -> [SQLOrdering] {
        if let table = source.tableName, let key = try db.existingPrimaryKey(of: table) {
            return key.columns.map { .expression(.column($0)) }
        }
        // Without a key, rows with equal columns can't be told apart.
        var relation = Relation(source: source, selection: selection)
        relation.limit = Limit(limit: 0)
        let writer = SQLWriter(db)
        try relation.writeSelect(to: writer)
        return (1...max(1, try db.makeStatement(sql: writer.sql).columnCount)).map {
            SQLOrdering(.literal(SQL(sql: "\($0)")))
        }
    }
}
