// The list of `IN` from a request.

extension SQLSubquery {
    /// Writes the query as the list of `IN`.
    ///
    /// Engines look the rows of a whole table up in an index: old ones also in one that leaves rows out, and 3.46 as well in a
    /// descending one, where they find no NULL. With a condition they don't.
    func writeAsMembers(to writer: SQLWriter) throws {
        switch node {
        case .relation(var relation):
            if try relation.isWholeTable && relation.isMissingInIndexes(writer) {
                relation.filters = [SQL(sql: "1").sqlExpression]
            }
            try SQLSubquery(.relation(relation)).writeInParentheses(to: writer)
        case .literal:
            guard writer.features.misplansIndexes, try writer.database.hasIndexWithoutAllRows() else {
                return try writeInParentheses(to: writer)
            }
            writer.append("(SELECT * FROM ")
            try writeInParentheses(to: writer)
            writer.append(" WHERE 1)")
        }
    }
}

extension Relation {
    /// Whether it has all rows of one source, as they are.
    fileprivate var isWholeTable: Bool {
        filters.isEmpty && grouping.isEmpty && groupFilters.isEmpty && limit == nil && !isDistinct
            && !children.contains(where: \.isJoined)
    }

    /// Whether an index on what is selected may not have all of it.
    fileprivate func isMissingInIndexes(_ writer: SQLWriter) throws -> Bool {
        let db = writer.database
        guard let table = source.tableName, let traits = try db.indexTraits(of: table) else { return false }
        let isOld = writer.features.misplansIndexes
        let columns = isOld ? traits.columnsWithoutAllRows : traits.descendingColumns
        guard !columns.isEmpty else { return false }
        return try resolvedSelection(db).contains { selection in
            guard case .expression(let expression) = selection.node, case .column(let name) = expression.node
            else { return !selection.isAggregate }
            return columns.contains(name.foldedIdentifier)
        }
    }
}
