// Fetching the rows of `including(all:)`.
//
// After the rows of a request, one query for each association fetches all rows
// that belong to any of them. It selects the foreign key in columns that begin
// with `grdb_`, by which the rows are dealt out.

extension Relation {
    /// Returns the relation as a statement that is ready to run.
    func makePreparedRequest(_ db: Database) throws -> PreparedRequest {
        let plans = try prefetches(db)
        var relation = self
        let hidden = relation.selectKeys(of: plans, try selectedColumns(db))
        if isDistinct, !hidden.isEmpty { try requireKeysOfDistinctRows(plans, db) }
        let writer = SQLWriter(db)
        try relation.writeSelect(to: writer)
        let statement = try db.makeRequestStatement(sql: writer.sql)
        try statement.setArguments(writer.arguments)
        let shape = try relation.rowShape(db, of: statement, hiding: hidden.count)
        if !plans.isEmpty || db.recordedRegion != nil {
            // A statement doesn't outlive its connection.
            statement.requestRegion = { [self, unowned db] in try region(of: $0, db) }
        }
        guard !plans.isEmpty else { return PreparedRequest(statement: statement, adapter: shape.adapter) }
        let firstHidden = shape.width - hidden.count
        return PreparedRequest(statement: statement, adapter: shape.adapter) { [self] db, rows in
            try plans.map { plan in
                let indexes = try plan.columns.map { column in
                    if let index = hidden.firstIndex(of: column.left.foldedIdentifier) {
                        return firstHidden + index
                    }
                    return try statement.index(ofSelected: column.left)
                }
                return try prefetch(plan, for: rows.values(at: indexes), db)
            }
        }
    }

    /// The requests for all rows that can be fetched afterwards, whatever rows
    /// they belong to.
    func prefetchedRelations(_ db: Database) throws -> [Relation] {
        try prefetches(db).map { $0.relation(for: nil) }
    }

    /// The rows to fetch afterwards.
    func prefetches(_ db: Database) throws -> [Prefetch] {
        try prefetchedPaths.map { path in
            try Prefetch(
                path: path, columns: path[0].condition.columns(db),
                makesGroups: path.last?.relation.makesGroups(db) ?? false)
        }
    }

    /// The ways to the children that are fetched afterwards.
    var prefetchedPaths: [[RelationChild]] {
        children.flatMap { child in
            child.kind == .prefetched ? [[child]] : child.relation.prefetchedPaths.map { [child] + $0 }
        }
    }

    /// The names of the columns that are selected as they are, in lower case.
    func selectedColumns(_ db: Database) throws -> Set<String> {
        guard !children.isEmpty else { return [] }
        var columns: Set<String> = []
        for selection in try resolvedSelection(db) {
            switch selection.node {
            case .allColumns where source.tableName != nil:
                columns.formUnion(try db.columnNames(of: source.name).map { $0.foldedIdentifier })
            case .allColumnsExcluding(let excluded):
                columns.formUnion(try db.columnNames(of: source.name).map { $0.foldedIdentifier })
                columns.subtract(excluded)
            case .expression(let expression):
                if case .column(let name) = expression.node { columns.insert(name.foldedIdentifier) }
            default: break
            }
        }
        return columns
    }

    /// Selects the columns that prefetched rows refer to.
    ///
    /// - returns: Those that were not selected before, in lower case.
    private mutating func selectKeys(of prefetches: [Prefetch], _ selected: Set<String>) -> [String] {
        var hidden: [String] = []
        for column in prefetches.flatMap(\.columns).map(\.left)
        where !selected.contains(column.foldedIdentifier) && !hidden.contains(column.foldedIdentifier) {
            hidden.append(column.foldedIdentifier)
            selection.append(SQLSelection(.named(.column(column), "grdb_\(column)")))
        }
        return hidden
    }

    // MARK: The second query

    /// - parameter keys: What the rows refer to, of each of the first rows.
    private func prefetch(
        _ plan: Prefetch, for keys: [[DatabaseValue]], _ db: Database
    ) throws -> PreparedRequest.AssociatedRows {
        var parents = PrefetchedGroups(keys: keys, of: plan)
        let origin: (([String]) -> SQLSubquery)? =
            try isSameWithOtherColumns(db) ? { SQLSubquery(.relation(selectingOnly($0))) } : nil
        let conditions = plan.conditions(among: parents.keys, origin: origin)
        parents.areOfSeveralQueries = conditions.count > 1
        for condition in conditions {
            var request = try plan.relation(for: condition).makePreparedRequest(db)
            defer { request.returnStatement(to: db) }
            if let rows = try request.completedRows(db) {
                try parents.add(rows, db)
            } else {
                try parents.add(RowBlock(request.statement, adapter: request.adapter), db)
            }
        }
        return PreparedRequest.AssociatedRows(
            path: plan.path.map(\.key), parts: parents.lists, lists: keys.map { parents.rows(of: $0) })
    }

    /// The same rows with other columns, whatever their order and number.
    private func selectingOnly(_ columns: [String]) -> Relation {
        var relation = joinedOnly
        relation.selection = columns.map { .expression(.column($0)) }
        relation.isDistinct = false
        relation.removeOrdering()
        return relation
    }
}

/// Rows that are fetched after those that they belong to.
struct Prefetch {
    typealias Columns = [(left: String, right: String)]

    /// What restricts them.
    struct Condition {
        var filter: SQLExpression
        var commonTable: CommonTable?
        /// Whether it is about the rows of several parents.
        var isOfSeveral = false
    }

    /// The tables on the way to them, and they.
    let path: [RelationChild]

    /// The columns that refer from the first of these tables to the parent's.
    let columns: Columns

    /// Whether they are put together, by groups or by an aggregate.
    let makesGroups: Bool

    /// The name under which a column of the foreign key is selected.
    static func keyName(_ column: String) -> String { "grdb_\(column)" }

    /// The request for the rows.
    ///
    /// - parameters:
    ///     - condition: What restricts them, or nil for all.
    ///     - names: The columns that are selected before the foreign key, or nil for what the association selects.
    func relation(for condition: Condition?, selecting names: [String]? = nil) -> Relation {
        let steps = path.map { (condition: $0.condition, relation: $0.relation) }
        var relation = Relation.reaching(steps, skipping: path.dropFirst().map(\.key)) { first in
            if let condition { first.filters.append(condition.filter) }
        }
        if let table = condition?.commonTable { relation.relation.add(table) }
        let keys = columns.map { SQLExpression.column($0.right).scoped(to: relation.first) }
        let hasGrouping = !relation.relation.grouping.isEmpty
        // No group has rows of two parents. Without groups of its own, only what the association selects makes one.
        if let condition, makesGroups, hasGrouping ? condition.isOfSeveral : names == nil {
            relation.relation.grouping.insert(contentsOf: keys.map { .expression($0) }, at: 0)
        }
        if let names { relation.relation.selection = names.map { .expression(.column($0)) } }
        relation.relation.selection += zip(columns, keys).map { column, key in
            SQLSelection(.named(key, Self.keyName(column.right)))
        }
        return relation.relation
    }

    /// The conditions on the rows that belong to some keys, each with as many
    /// keys as fit.
    ///
    /// - parameters:
    ///     - keys: The values of the columns, each of them once and none NULL.
    ///     - origin: The first query with other columns, by which keys of several
    ///       columns are found if it gives the same rows again; otherwise nil.
    func conditions(
        among keys: [[DatabaseValue]], origin: (([String]) -> SQLSubquery)? = nil
    ) -> [Condition] {
        if keys.isEmpty { return [] }
        let isOfSeveral = keys.count > 1
        if columns.count > 1 {
            if let origin { return [condition(origin(columns.map(\.left)), isOfSeveral: isOfSeveral)] }
            let size = max(1, 500 / columns.count)
            return Self.batches(of: keys, size: size).map {
                Condition(filter: conditionOnRowValues($0), isOfSeveral: isOfSeveral)
            }
        }
        let column = SQLExpression.column(columns[0].right)
        let values = keys.map { $0[0] }
        // Integers become a part of the text.
        let areIntegers = values.allSatisfy { if case .int64 = $0.storage { true } else { false } }
        return Self.batches(of: values, size: areIntegers ? 20_000 : 500).map { batch in
            Condition(filter: .isIn(batch.map { .value($0) }, column), isOfSeveral: isOfSeveral)
        }
    }

    private func condition(_ origin: SQLSubquery, isOfSeveral: Bool) -> Condition {
        let table = CommonTable(name: "grdb_base", columns: nil, isRecursive: false, subquery: origin)
        return Condition(
            filter: SQLExpression(
                .isIn(
                    SQLExpression(.rowValue(columns.map { .column($0.right) })), .table(table.name),
                    isNegated: false)), commonTable: table, isOfSeveral: isOfSeveral)
    }

    private func conditionOnRowValues(_ keys: ArraySlice<[DatabaseValue]>) -> SQLExpression {
        let row = "(" + columns.map { _ in "?" }.joined(separator: ", ") + ")"
        let rows = keys.map { _ in row }.joined(separator: ", ")
        // SQLite uses no index for the VALUES themselves, but for a query of them.
        let members = SQL(
            sql: "SELECT * FROM (VALUES \(rows))", arguments: StatementArguments(keys.flatMap { $0 }))
        return SQLExpression(
            .isIn(
                SQLExpression(.rowValue(columns.map { .column($0.right) })),
                .subquery(SQLSubquery(.literal(members))), isNegated: false))
    }

    /// Splits keys so that SQLite accepts them in one statement, which could have
    /// 999 arguments before version 3.32.
    static func batches<Key>(of keys: [Key], size: Int) -> [ArraySlice<Key>] {
        stride(from: 0, to: keys.count, by: size).map { start in
            keys[start..<min(start + size, keys.count)]
        }
    }
}

extension Relation {
    /// Makes the relation of the rows at the end of a way, joined to the tables
    /// on that way.
    ///
    /// - parameters:
    ///     - steps: The conditions and relations on the way.
    ///     - keys: The names of the children by which relations on the way lead
    ///       to the next one.
    ///     - restrict: Restricts the first of the relations.
    /// - returns: The relation, and the identity of the first one on the way.
    static func reaching(
        _ steps: [(condition: RelationCondition, relation: Relation)], skipping keys: [String] = [],
        restrict: (inout Relation) -> Void
    ) -> (relation: Relation, first: SourceIdentity) {
        let first = SourceIdentity()
        var pivot: RelationChild?
        for (index, step) in steps.enumerated() {
            var relation = step.relation
            let isLast = index == steps.count - 1
            if !isLast {
                relation = relation.restrictingOnly
                if index < keys.count { relation.children.removeAll { $0.key == keys[index] } }
            }
            if index == 0 {
                relation.aliases.append(first)
                restrict(&relation)
            }
            if let pivot { relation.children.append(pivot) }
            if isLast { return (relation, first) }
            // A name that no association has.
            pivot = RelationChild(
                key: "", kind: .required, condition: steps[index + 1].condition.reversed, relation: relation)
        }
        preconditionFailure("a way has steps")
    }
}

extension Statement {
    /// The first result column of a name.
    fileprivate func index(ofSelected column: String) throws -> Int {
        if let index = columnNames.firstIndex(where: { $0.foldedIdentifier == column.foldedIdentifier }) {
            return index
        }
        throw DatabaseError(
            resultCode: .SQLITE_ERROR,
            message: "the column \(column), to which associated rows refer, is not selected")
    }
}
