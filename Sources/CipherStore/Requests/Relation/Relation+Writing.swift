/// A source of a statement, with its names.
struct JoinedSource {
    let relation: Relation

    /// The identity of this use of the relation: one association can be joined twice.
    let identity = SourceIdentity()

    /// The position of the parent, nil for the first source.
    let parent: Int?
    let child: RelationChild?

    /// Whether there may be no row: of it, or of a source on the way to it.
    let isOptional: Bool

    /// Whether its order is reversed, by itself or with a source on the way to it.
    let isReversed: Bool
    var qualifier: String
    var isQualified = true

    func writerSource(hasOnlyColumns: Bool) -> SQLWriter.Source {
        SQLWriter.Source(
            qualifier: qualifier, tableName: relation.source.tableName, isQualified: isQualified,
            hasOnlyColumns: hasOnlyColumns,
            hasAlias: !relation.aliases.isEmpty || !requirements.isEmpty)
    }

    /// What must exist for a row of an optional join.
    ///
    /// `LEFT JOIN author JOIN country` would leave books out. Instead, an author
    /// without a country is taken for none, and both joins are optional.
    var requirements: [SQLExpression] {
        guard isOptional else { return [] }
        return relation.children.filter { $0.kind == .required }.map { child in
            let alias = SourceIdentity()
            let left = identity
            let condition = child.condition
            var required = child.relation
            required.removeOrdering()
            required = required.restrictingOnly
            required.selection = [SQLSelection(.allColumns)]
            required.aliases.append(alias)
            required.filters.insert(
                SQLExpression(
                    .deferred { try condition.expression($0, left, alias) ?? true.sqlExpression }), at: 0)
            return SQLExpression(.exists(SQLSubquery(.relation(required)), isNegated: false))
        }
    }
}

/// The sources of one SELECT.
struct JoinedSources {
    private(set) var sources: [JoinedSource] = []

    /// - parameter taken: Names that statements around this one use.
    init(_ relation: Relation, avoiding taken: Set<String>) throws {
        try append(relation, parent: nil, child: nil)
        assignNames(avoiding: taken)
    }

    private mutating func append(_ relation: Relation, parent: Int?, child: RelationChild?) throws {
        let names = Set(relation.aliases.compactMap(\.name))
        guard names.count < 2 else {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR,
                message: "one table has several aliases: \(names.sorted().joined(separator: ", "))")
        }
        if child != nil { try relation.requireJoinable() }
        let index = sources.count
        let isOptional = child?.kind == .optional || parent.map { sources[$0].isOptional } ?? false
        let isReversed = relation.ordering.isReversed != (parent.map { sources[$0].isReversed } ?? false)
        // An empty name is one that is still to be found.
        sources.append(
            JoinedSource(
                relation: relation, parent: parent, child: child, isOptional: isOptional,
                isReversed: isReversed, qualifier: names.first ?? ""))
        for child in relation.children where child.isJoined {
            try append(child.relation, parent: index, child: child)
        }
    }

    /// Gives tables their own names, and numbers where there would be two.
    private mutating func assignNames(avoiding outer: Set<String>) {
        if sources.count == 1, outer.isEmpty, !sources[0].relation.source.name.isEmpty {
            guard sources[0].qualifier.isEmpty else { return }
            sources[0].qualifier = sources[0].relation.source.name
            sources[0].isQualified = false
            return
        }
        var taken = Set(sources.map { $0.qualifier.foldedIdentifier }).union(outer)
        let unnamed = sources.indices.filter { sources[$0].qualifier.isEmpty }
        let groups = Dictionary(grouping: unnamed) { sources[$0].relation.source.name.foldedIdentifier }
        for index in unnamed {
            let name = sources[index].relation.source.name
            if groups[name.foldedIdentifier]?.count == 1 && !taken.contains(name.foldedIdentifier) {
                sources[index].qualifier = name
                sources[index].isQualified = sources.count > 1
                continue
            }
            let number = (1...).first { !taken.contains("\(name)\($0)".foldedIdentifier) } ?? 0
            sources[index].qualifier = "\(name)\(number)"
            taken.insert(sources[index].qualifier.foldedIdentifier)
        }
    }
}

extension Relation {
    /// Requires that rows can be joined one by one, as a SELECT does it.
    ///
    /// - throws: A ``DatabaseError`` when they are to be distinct, grouped or limited before they are joined.
    fileprivate func requireJoinable() throws {
        guard isDistinct || limit != nil || !grouping.isEmpty || !groupFilters.isEmpty else { return }
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: """
                \(source.name) can't be joined by an association with distinct(), group, having or association \
                aggregates: fetch its rows by including(all:), or filter by a request for their keys, as in \
                Book.filter(Author.having(…).selectID().contains(Column("authorId")))
                """)
    }

    /// Writes the relation as a SELECT.
    func writeSelect(to writer: SQLWriter) throws {
        try writeQuery(to: writer) { sources in
            writer.append(isDistinct ? "SELECT DISTINCT " : "SELECT ")
            try writeSelection(sources, to: writer)
        }
    }

    /// Writes a query on the sources of the relation.
    ///
    /// - parameter head: Writes everything before `FROM`.
    func writeQuery(to writer: SQLWriter, head: (JoinedSources) throws -> Void) throws {
        let joined = try JoinedSources(self, avoiding: writer.outerAliasedQualifiers)
        let hasOnlyColumns = try hasOnlyColumns(joined, in: writer)
        let names = joined.sources.flatMap { source in
            ([source.identity] + source.relation.aliases).map {
                ($0, source.writerSource(hasOnlyColumns: hasOnlyColumns))
            }
        }
        let scope = joined.sources[0].writerSource(hasOnlyColumns: hasOnlyColumns)
        let commonTables = joined.sources.flatMap(\.relation.commonTables)
        try writer.withFrame(names, scope: scope, commonTables: commonTables.map(\.name)) {
            try Self.writeCommonTables(commonTables, to: writer)
            try writer.selecting(from: joined.sources) { try head(joined) }
            writer.append(" FROM ")
            for source in joined.sources { try Self.writeFrom(source, joined, to: writer) }
            try writeConditions(joined, to: writer)
        }
    }

    /// Whether a bare name can't be that of something selected, here or in a statement around this one.
    private func hasOnlyColumns(_ joined: JoinedSources, in writer: SQLWriter) throws -> Bool {
        if isChanged || writer.features.refusesTextInDoubleQuotes { return isChanged }
        guard writer.hasOnlyColumnsAround else { return false }
        return try joined.sources.allSatisfy { source in
            try !source.relation.resolvedSelection(writer.database).contains(where: \.hasName)
        }
    }

    private func writeSelection(_ joined: JoinedSources, to writer: SQLWriter) throws {
        var isFirst = true
        for source in joined.sources {
            try writer.withScope(source.identity) {
                for selection in try source.relation.resolvedSelection(writer.database) {
                    if !isFirst { writer.append(", ") }
                    isFirst = false
                    try selection.write(to: writer)
                }
            }
        }
        // A SELECT needs a column, and the request may not have asked for any.
        if isFirst { writer.append("NULL") }
    }

    static func writeCommonTables(_ tables: [CommonTable], to writer: SQLWriter) throws {
        guard !tables.isEmpty else { return }
        // Of two with one name, the last is meant, where the first would be.
        var unique: [CommonTable] = []
        for table in tables {
            if let index = unique.firstIndex(where: { $0.name == table.name }) {
                unique[index] = table
            } else {
                unique.append(table)
            }
        }
        writer.append(unique.contains(where: \.isRecursive) ? "WITH RECURSIVE " : "WITH ")
        try writer.withoutScope {
            try writer.appendJoined(unique) { try $0.writeDefinition(to: writer) }
        }
        writer.append(" ")
    }

    private static func writeFrom(
        _ source: JoinedSource, _ joined: JoinedSources, to writer: SQLWriter
    ) throws {
        let relation = source.relation
        if source.child != nil { writer.append(source.isOptional ? " LEFT JOIN " : " JOIN ") }
        writer.appendQuoted(relation.source.name)
        if source.qualifier != relation.source.name {
            writer.append(" ")
            writer.appendQuoted(source.qualifier)
        }
        guard let child = source.child, let parent = source.parent else { return }
        let left = joined.sources[parent].identity
        let join = try child.condition.expression(writer.database, left, source.identity)
        let filter = try relation.condition(writer.database)?.scoped(to: source.identity)
        var operands = [join, filter].compactMap(\.self) + source.requirements
        if source.isOptional, child.kind == .required, child.condition.acceptsMissingRow {
            operands.insert(SQLExpression(.rowExists(isNegated: false)).scoped(to: left), at: 0)
        }
        guard !operands.isEmpty else { return }
        writer.append(" ON ")
        // What a left join is made by finds rows of the joined table only.
        try writer.planning(byIdentity: source.isOptional ? true : nil) {
            let conditions = PlannedConditions(
                sources: joined.sources, writer: writer, isOfLeftJoin: source.isOptional)
            let conjuncts = try operands.flatMap(\.conjuncts).map { try conditions.planned($0) }
            try SQLExpression.joined(.and, conjuncts).write(to: writer)
        }
    }

    private func writeConditions(_ joined: JoinedSources, to writer: SQLWriter) throws {
        if let condition = try condition(writer.database) {
            writer.append(" WHERE ")
            let conditions = PlannedConditions(sources: joined.sources, writer: writer)
            try conditions.planned(condition).write(to: writer)
        }
        let identity = joined.sources[0].identity
        let groups = try grouping.flatMap { try $0.expressions(writer.database) }
            .map { $0.scoped(to: identity) }
        if !groups.isEmpty {
            writer.append(" GROUP BY ")
            try writer.appendJoined(groups) { try $0.write(to: writer) }
        }
        let groupFilters = try groupFilters.map {
            try $0.resolved(writer.database).scoped(to: identity).withoutRangesOfRows(writer)
        }
        if !groupFilters.isEmpty {
            writer.append(" HAVING ")
            try SQLExpression.joined(.and, groupFilters.flatMap(\.conjuncts)).write(to: writer)
        }
        try writeOrdering(joined.sources, to: writer)
        writeLimit(to: writer)
    }

    private func writeOrdering(_ sources: [JoinedSource], to writer: SQLWriter) throws {
        let orderings = try sources.flatMap { source in
            try source.relation.ordering.orderings(writer.database, isReversed: source.isReversed).map {
                SQLOrdering(.aliased(source.identity, $0))
            }
        }
        guard !orderings.isEmpty else { return }
        writer.append(" ORDER BY ")
        try writer.appendJoined(orderings) { try $0.write(to: writer) }
    }

    func writeLimit(to writer: SQLWriter) {
        guard let limit else { return }
        writer.append(" LIMIT \(limit.limit)")
        if let offset = limit.offset { writer.append(" OFFSET \(offset)") }
    }
}

extension SQLExpression {
    /// The operands of an AND, each in the scope of the whole.
    var conjuncts: [SQLExpression] {
        switch node {
        case .joined(.and, let operands): operands
        case .aliased(let alias, let expression): expression.conjuncts.map { $0.scoped(to: alias) }
        default: [self]
        }
    }
}
