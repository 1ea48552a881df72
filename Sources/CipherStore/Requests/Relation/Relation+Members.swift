// The list of `IN` from a request.

extension SQLSubquery {
    /// Writes the query as the list of `IN`.
    ///
    /// Old engines look the rows of a whole table up in an index, also in one that leaves rows out, or in a descending one,
    /// where they find no NULL. With a condition they don't.
    func writeAsMembers(to writer: SQLWriter) throws {
        guard writer.features.misplansIndexes, case .relation(var relation) = node, relation.isWholeTable,
            let table = relation.source.tableName,
            try writer.database.indexTraits(of: table)?.leavesOutRows == true
        else { return try writeInParentheses(to: writer) }
        relation.filters = [SQL(sql: "1").sqlExpression]
        try SQLSubquery(.relation(relation)).writeInParentheses(to: writer)
    }
}

extension Relation {
    /// Whether it has all rows of one source, as they are.
    fileprivate var isWholeTable: Bool {
        filters.isEmpty && grouping.isEmpty && groupFilters.isEmpty && limit == nil && !isDistinct
            && !children.contains(where: \.isJoined)
    }
}
