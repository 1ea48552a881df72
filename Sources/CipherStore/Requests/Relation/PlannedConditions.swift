/// The conditions of a statement, in the form by which the engine finds the right rows.
///
/// SQLite 3.15 can't carry out some joins by `IN` of several columns. Where it looks for alternatives by indexes, it leaves
/// values of other rows in the columns of one that a left join has not found. For a condition that rows without a counterpart meet, it
/// takes others for such rows which an index leaves out. See `EngineFeatures.misplansIndexes`, and `withoutRangesOfRows` for ranges.
struct PlannedConditions {
    let sources: [JoinedSource]
    let writer: SQLWriter

    /// Whether it is what a left join is made by, which is asked of rows that are there.
    var isOfLeftJoin = false

    /// A condition that rows must meet.
    ///
    /// - parameter scope: The position of the source that bare columns belong to, or nil when it is not known.
    func planned(_ condition: SQLExpression, scope: Int? = 0) throws -> SQLExpression {
        guard writer.features.misplansIndexes else { return condition }
        let condition = try condition.withoutRangesOfRows(writer)
        return try plannedByRows(
            mayMissRows() ? condition.withoutPartialPlans(writer.database) : condition, scope)
    }

    /// Whether a condition may be looked for in an index that leaves rows out.
    private func mayMissRows() throws -> Bool {
        try sources.contains { source in
            try traits(source)?.leavesOutRows ?? writer.database.hasIndexWithoutAllRows()
        }
    }

    private func plannedByRows(_ condition: SQLExpression, _ scope: Int?) throws -> SQLExpression {
        switch condition.node {
        case .joined(.and, let operands):
            return SQLExpression(.joined(.and, try operands.map { try plannedByRows($0, scope) }))
        case .aliased(let alias, let operand):
            return SQLExpression(.aliased(alias, try plannedByRows(operand, position(of: alias))))
        case .detached(let operand):
            return SQLExpression(.detached(try plannedByRows(operand, nil)))
        case .deferred(let make):
            return try plannedByRows(make(writer.database), scope)
        case .isIn(let row, _, let isNegated) where row.isRow && sources.count > 1:
            return try isNegated ? condition.unplanned : ofOneTable(condition, scope)
        // SQLite can look for a pattern by an index only.
        case .joined(.or, _) where !condition.hasMatch:
            return try concernsAbsentRows(condition, scope) ? condition.unplanned : condition
        case .literal(let sql):
            let alternatives = SQLAlternatives(sql)
            let isPlanned =
                try alternatives.exist
                ? concernsAbsentRows(condition, scope)
                : alternatives.mayMeetNull && findsAbsentRows(condition, scope)
            guard isPlanned else { return condition }
            guard alternatives.haveMatch else { return writesMatch(sql) ? condition : condition.unplanned }
            return SQLExpression(.literal(alternatives.unplannedBesideMatch))
        case .equality(.same, _, let right) where right.isNull:
            return try findsAbsentRows(condition, scope) ? condition.unplanned : condition
        default:
            return condition
        }
    }

    /// Whether the condition may be met by rows that a left join does not find, and may make the engine look for them in an index
    /// that leaves rows out.
    private func findsAbsentRows(_ condition: SQLExpression, _ scope: Int?) throws -> Bool {
        try !isOfLeftJoin && mayMissRows() && concernsAbsentRows(condition, scope)
    }

    /// The traits of a table's indexes, or nil for what is no table.
    private func traits(_ source: JoinedSource) throws -> IndexTraits? {
        try source.relation.source.tableName.flatMap { try writer.database.indexTraits(of: $0) }
    }

    /// Whether what was put into a literal, of whatever kind it is, looks for a pattern.
    private func writesMatch(_ sql: SQL) -> Bool {
        let text = try? sql.build(writer.database).sql
        return SQLTokens(text ?? "").tokens.contains { $0.isKeyword("match") }
    }

    /// A condition on rows of several columns, asked of a table alone: by its own key.
    ///
    /// SQLite 3.15 can't carry out joins by it where a column of it is equal to one of another table.
    private func ofOneTable(_ condition: SQLExpression, _ scope: Int?) throws -> SQLExpression {
        guard let scope, let table = sources[scope].relation.source.tableName,
            try writer.database.tableExists(table),
            try writer.database.fastPrimaryKeyColumns(of: table).count == 1
        else { return condition.unplanned }
        var rows = Relation(source: .table(table), selection: [.fastPrimaryKey(of: table)])
        rows.filters = [condition]
        return SQLExpression(
            .isIn(.fastPrimaryKey, .subquery(SQLSubquery(.relation(rows))), isNegated: false))
    }

    private func position(of alias: SourceIdentity) -> Int? {
        sources.firstIndex { source in
            source.identity === alias || source.relation.aliases.contains { $0 === alias }
        }
    }

    /// Whether the condition may be about rows that a left join does not find.
    private func concernsAbsentRows(_ condition: SQLExpression, _ scope: Int?) throws -> Bool {
        switch condition.node {
        case .aliased(let alias, let operand): try concernsAbsentRows(operand, position(of: alias))
        case .column, .fastPrimaryKey, .rowExists: try mayLackRows(scope)
        case .literal, .deferred, .detached, .tableMatch: try mayLackRows(nil)
        default: try condition.operands.contains { try concernsAbsentRows($0, scope) }
        }
    }

    private func mayLackRows(_ scope: Int?) throws -> Bool {
        guard let scope else { return try sources.contains(where: mayLackRows) }
        return try mayLackRows(sources[scope])
    }

    /// Whether the source may have rows that are absent, and can be looked for by an index.
    private func mayLackRows(_ source: JoinedSource) throws -> Bool {
        let db = writer.database
        let traits = try source.relation.source.tableName.flatMap { try db.indexTraits(of: $0) }
        if source.isOptional { return traits?.isIndexed ?? true }
        if traits != nil { return false }
        // The left join may be within the view or the common table.
        if source.relation.source.tableName != nil { return try db.hasViewWithLeftJoin() }
        return writer.sql.mayHaveLeftJoin
    }
}

extension SQLExpression {
    /// Whether the expression is the value of a column as it is.
    fileprivate var isColumn: Bool {
        switch node {
        case .column, .fastPrimaryKey: true
        case .aliased(_, let operand), .detached(let operand), .collated(let operand, _), .json(let operand),
            .prefix("+", let operand):
            operand.isColumn
        default: false
        }
    }

    /// The condition without what SQLite 3.15 takes for a proof that a column is not NULL, and so for one that an index of rows where
    /// it is not has all rows: `a IS NOT b`, and `a OR b`.
    fileprivate func withoutPartialPlans(_ db: Database) throws -> SQLExpression {
        switch node {
        case .joined(.or, let operands) where operands.count == 2 && operands[0].isColumn:
            return unplanned
        case .joined(let op, let operands) where op == .and || op == .or:
            return SQLExpression(.joined(op, try operands.map { try $0.withoutPartialPlans(db) }))
        case .aliased(let alias, let operand):
            return SQLExpression(.aliased(alias, try operand.withoutPartialPlans(db)))
        case .detached(let operand): return SQLExpression(.detached(try operand.withoutPartialPlans(db)))
        case .deferred(let make): return try make(db).withoutPartialPlans(db)
        case .equality(.notSame, _, let right): return right.isNull ? self : unplanned
        case .collated(let operand, _):
            if case .equality(.notSame, _, let right) = operand.node, !right.isNull { return unplanned }
            return self
        default: return self
        }
    }

    /// Whether the expression has several columns.
    fileprivate var isRow: Bool { if case .rowValue(let columns) = node { columns.count > 1 } else { false } }

    /// The expression in a form that says nothing to the planner.
    var unplanned: SQLExpression { SQLExpression(.prefix("+", self)) }

    /// Whether the expression looks for a pattern, other than by a query.
    var hasMatch: Bool {
        switch node {
        case .tableMatch, .infix("MATCH", _, _): true
        case .literal(let sql): SQLAlternatives(sql).haveMatch
        default: operands.contains(where: \.hasMatch)
        }
    }

    /// What the expression is made of, other than queries.
    var operands: [SQLExpression] {
        switch node {
        case .prefix(_, let operand), .not(let operand), .collated(let operand, _), .cast(let operand, _),
            .json(let operand), .isEmpty(let operand, _), .aliased(_, let operand), .detached(let operand),
            .tableMatch(let operand), .isIn(let operand, .subquery, _), .isIn(let operand, .table, _):
            [operand]
        case .isIn(let operand, .expressions(let members), _): [operand] + members
        case .infix(_, let left, let right), .equality(_, let left, let right),
            .like(let left, let right, _, _), .jsonAccess(let left, let right, _):
            [left, right]
        case .between(let operand, let lower, let upper, _): [operand, lower, upper]
        case .joined(_, let operands), .rowValue(let operands): operands
        case .function(let call): call.arguments
        case .value, .column, .literal, .subquery, .exists, .fastPrimaryKey, .rowExists, .deferred: []
        }
    }
}

extension String {
    fileprivate var mayHaveLeftJoin: Bool { foldedIdentifier.contains("left") }
}
