// Deleting and updating the rows of a relation.

extension Relation {
    /// A change of rows.
    enum Change {
        case delete
        case update([ColumnAssignment], Database.ConflictResolution)
    }

    /// Writes a DELETE or UPDATE of the relation's rows.
    ///
    /// - parameter returning: What the statement returns of the changed rows.
    func writeChange(
        _ change: Change, returning selection: [SQLSelection] = [], to writer: SQLWriter
    ) throws {
        let table = try requireTable()
        let source = SQLWriter.Source(
            qualifier: table, tableName: table, isQualified: false, hasOnlyColumns: true,
            hasAlias: !aliases.isEmpty)
        let isDirect = try !needsSubqueryForChanges(writer.database)
        try writer.withFrame(
            isDirect ? aliases.map { ($0, source) } : [], scope: source,
            commonTables: commonTables.map(\.name)
        ) {
            try Self.writeCommonTables(commonTables, to: writer)
            try change.write(table, to: writer)
            if let condition = try isDirect ? condition(writer.database) : identification(table) {
                writer.append(" WHERE ")
                let sources = isDirect ? try JoinedSources(self, avoiding: []).sources : []
                let conditions = PlannedConditions(sources: sources, writer: writer)
                var planned = try conditions.planned(condition)
                if case .delete = change, isDirect {
                    planned = try planned.askedBeforeDeletions(table, writer)
                }
                try planned.write(to: writer)
            }
            // SQLite's grammar has it between the condition and the limit.
            try writeReturning(selection, to: writer)
            if isDirect { try writeDirectLimit(to: writer) }
        }
    }

    private func writeReturning(_ selection: [SQLSelection], to writer: SQLWriter) throws {
        guard !selection.isEmpty else { return }
        writer.append(" RETURNING ")
        try writer.appendJoined(selection.flatMap { try $0.resolved(writer.database) }) {
            try $0.write(to: writer)
        }
    }

    /// A request for the rows that a change is about, one by one, even when they
    /// are joined to others.
    func changedRows(selecting selection: [SQLSelection], _ db: Database) throws -> Relation {
        var relation = self
        if try needsSubqueryForChanges(db) {
            relation = Relation(source: source)
            relation.commonTables = commonTables
            relation.filters = [try identification(requireTable())]
        }
        relation.selection = selection
        relation.isDistinct = false
        relation.isChanged = true
        return relation
    }

    /// `id IN (SELECT id …)`
    private func identification(_ table: String) -> SQLExpression {
        var rows = self
        rows.selection = [.fastPrimaryKey(of: table)]
        // A limit is one of different rows, unless these differ by what is joined to them.
        rows.isDistinct = isDistinct && limit != nil && !children.contains(where: \.selectsColumns)
        rows.commonTables = []
        rows.isChanged = true
        for index in rows.children.indices { rows.children[index].removeSelection() }
        if limit == nil { rows.removeOrdering() }
        return SQLExpression(
            .isIn(.fastPrimaryKey, .subquery(SQLSubquery(.relation(rows))), isNegated: false))
    }

    /// Whether the rows are not those of a plain WHERE clause.
    private func needsSubqueryForChanges(_ db: Database) throws -> Bool {
        if children.contains(where: \.isJoined) || !grouping.isEmpty || !groupFilters.isEmpty { return true }
        guard limit != nil else { return false }
        if !EngineFeatures.supportsLimitedChanges { return true }
        // Without a subquery for the key, old engines look for rowids, which a view has none of.
        guard !EngineFeatures.current.limitsChangesOfViews, let view = source.tableName else { return false }
        return try db.viewExists(view)
    }

    private func writeDirectLimit(to writer: SQLWriter) throws {
        guard limit != nil else { return }
        let orderings = try ordering.orderings(writer.database)
        if !orderings.isEmpty {
            writer.append(" ORDER BY ")
            try writer.appendJoined(orderings) { try $0.write(to: writer) }
        }
        writeLimit(to: writer)
    }
}

extension RelationChild {
    fileprivate mutating func removeSelection() {
        relation.selection = []
        for index in relation.children.indices { relation.children[index].removeSelection() }
    }
}

extension Relation.Change {
    fileprivate func write(_ table: String, to writer: SQLWriter) throws {
        switch self {
        case .delete:
            writer.append("DELETE FROM ")
            writer.appendQuoted(table)
        case .update(let assignments, let conflictResolution):
            writer.append("UPDATE ")
            if conflictResolution != .abort { writer.append("OR \(conflictResolution.rawValue) ") }
            writer.appendQuoted(table)
            writer.append(" SET ")
            try writer.appendJoined(assignments) { try $0.write(to: writer) }
        }
    }
}
