// Which columns of a joined request belong to which of its tables.

extension Relation {
    /// How the rows of the relation's SELECT are presented.
    struct RowShape {
        /// What gives joined rows their scopes, or nil for plain rows.
        var adapter: (any RowAdapter)?

        /// The number of columns that the first table selects.
        var width: Int
    }

    /// Finds out how rows are presented.
    ///
    /// - parameters:
    ///     - statement: The SELECT.
    ///     - hiddenCount: How many columns at the end of the first table's are
    ///       not shown.
    func rowShape(_ db: Database, of statement: Statement, hiding hiddenCount: Int = 0) throws -> RowShape {
        guard children.contains(where: \.selectsColumns) else {
            let width = statement.columnCount
            let adapter = hiddenCount > 0 ? RangeRowAdapter(0..<width - hiddenCount) : nil
            return RowShape(adapter: adapter, width: width)
        }
        let joined = try JoinedSources(self, avoiding: [])
        let widths = try SelectionWidths(joined, db).widths(total: statement.columnCount)
        var position = 0
        let ranges = widths.map { width in
            defer { position += width }
            return position..<position + width
        }
        var scopes: [Int: [String: any RowAdapter]] = [:]
        // Children come after their parents.
        for (index, source) in joined.sources.enumerated().reversed() {
            guard let parent = source.parent, let key = source.child?.key else { continue }
            let range = ranges[index]
            let inner = scopes[index] ?? [:]
            if range.isEmpty && inner.isEmpty { continue }
            let base: any RowAdapter = range.isEmpty ? EmptyRowAdapter() : RangeRowAdapter(range)
            scopes[parent, default: [:]][key] = base.addingScopes(inner)
        }
        let adapter = RangeRowAdapter(0..<ranges[0].upperBound - hiddenCount).addingScopes(scopes[0] ?? [:])
        return RowShape(adapter: adapter, width: widths[0])
    }
}

extension RelationChild {
    /// Whether there are columns for a scope.
    var selectsColumns: Bool {
        isJoined && (!relation.selection.isEmpty || relation.children.contains(where: \.selectsColumns))
    }
}

/// The numbers of columns that the tables of a SELECT contribute.
private struct SelectionWidths {
    let joined: JoinedSources
    let db: Database
    let commonTables: [CommonTable]

    init(_ joined: JoinedSources, _ db: Database) {
        self.joined = joined
        self.db = db
        commonTables = joined.sources.flatMap(\.relation.commonTables)
    }

    func widths(total: Int) throws -> [Int] {
        let selections = try joined.sources.map { try $0.relation.resolvedSelection(db) }
        let known = try zip(joined.sources, selections).map { source, selections in
            try selections.map { try width($0, of: source.relation.source) }
        }
        // What raw SQL selects is known by what remains, unless it is used twice.
        let unknownCount = known.joined().count { $0 == nil }
        let rest = total - known.joined().reduce(0) { $0 + ($1 ?? 0) }
        return try zip(joined.sources.indices, known).map { index, widths in
            try zip(selections[index], widths).reduce(0) { sum, item in
                try sum
                    + (item.1
                        ?? (unknownCount == 1 ? rest : prepared(item.0, joined.sources[index].relation)))
            }
        }
    }

    /// The number of columns of a selection, or nil for raw SQL.
    private func width(_ selection: SQLSelection, of source: Relation.Source) throws -> Int? {
        switch selection.node {
        case .allColumns: try width(of: source)
        case .allColumnsExcluding(let excluded):
            try db.columnNames(of: source.name).count { !excluded.contains($0.foldedIdentifier) }
        case .expression, .named: 1
        case .literal: nil
        case .aliased(let alias, let selection):
            try width(selection, of: self.source(of: alias) ?? source)
        case .deferred(let make):
            try make(db).reduce(0) { sum, selection in
                guard let sum, let width = try width(selection, of: source) else { return nil }
                return sum + width
            }
        }
    }

    private func source(of alias: SourceIdentity) -> Relation.Source? {
        joined.sources.first { source in source.relation.aliases.contains { $0 === alias } }?.relation.source
    }

    private func width(of source: Relation.Source) throws -> Int {
        switch source {
        case .table(let name): return try db.columns(in: name).count
        case .commonTable(let name):
            guard let table = commonTables.last(where: { $0.name == name }) else {
                throw DatabaseError(
                    resultCode: .SQLITE_ERROR,
                    message:
                        "the common table expression \(name) is not defined: add it to the request by with(_:)"
                )
            }
            return try width(of: table)
        }
    }

    private func width(of table: CommonTable) throws -> Int {
        if let columns = table.columns, !columns.isEmpty { return columns.count }
        if case .relation(let relation) = table.subquery.node,
            let width = try? SelectionWidths(JoinedSources(relation, avoiding: []), db).knownWidth()
        {
            return width
        }
        do {
            let (sql, _) = try SQL("\(table.subquery)").build(db)
            return try db.makeStatement(sql: sql).columnCount
        } catch let error as DatabaseError {
            throw DatabaseError(
                resultCode: error.resultCode,
                message: """
                    Can't compute the number of columns in the \(table.name.quotedDatabaseIdentifier) common table \
                    expression: \(error.message ?? "\(error.resultCode)"). Check the syntax of the SQL definition, or \
                    provide the explicit list of selected columns with the `columns` parameter in the \
                    CommonTableExpression initializer.
                    """)
        }
    }

    /// The number of all columns, or nil when only SQLite can tell.
    private func knownWidth() throws -> Int? {
        try joined.sources.reduce(0) { sum, source in
            try source.relation.resolvedSelection(db).reduce(sum) { sum, selection in
                guard let sum, let width = try width(selection, of: source.relation.source) else {
                    return nil
                }
                return sum + width
            }
        }
    }

    /// Asks SQLite for the number of columns of raw SQL.
    private func prepared(_ selection: SQLSelection, _ relation: Relation) throws -> Int {
        var probe = Relation(source: relation.source, selection: [selection])
        probe.aliases = relation.aliases
        probe.commonTables = commonTables
        let writer = SQLWriter(db)
        try probe.writeSelect(to: writer)
        return try db.makeStatement(sql: writer.sql).columnCount
    }
}

extension TableRecord {
    /// Returns the number of columns that requests of the record select.
    ///
    /// It helps splitting rows of joined tables in raw SQL: see
    /// ``splittingRowAdapters(columnCounts:)``.
    ///
    /// - throws: A ``DatabaseError``.
    public static func numberOfSelectedColumns(_ db: Database) throws -> Int {
        try all().makePreparedRequest(db).statement.columnCount
    }
}
