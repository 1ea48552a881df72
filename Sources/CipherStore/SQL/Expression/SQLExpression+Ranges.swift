// Comparisons by `<`, `BETWEEN` and the like, which old engines find wrong rows by: see `EngineFeatures.misplansIndexes`.

extension SQLExpression {
    /// The condition without ranges for which an old engine would look in an index, and whose limits are of another source.
    ///
    /// SQLite 3.15 may take such a limit for NULL as soon as it has begun to look: in what it selects of the other source, and in
    /// further conditions. It has the right numbers, because it converts them, except for that of a row that limits other numbers.
    func withoutRangesOfRows(_ writer: SQLWriter) throws -> SQLExpression {
        guard writer.features.misplansIndexes else { return self }
        switch node {
        case .joined(let op, let operands) where op == .and || op == .or:
            return SQLExpression(.joined(op, try operands.map { try $0.withoutRangesOfRows(writer) }))
        case .aliased(let alias, let operand):
            let operand = try writer.withScope(alias) { try operand.withoutRangesOfRows(writer) }
            return SQLExpression(.aliased(alias, operand))
        case .detached(let operand):
            let operand = try writer.withoutScope { try operand.withoutRangesOfRows(writer) }
            return SQLExpression(.detached(operand))
        case .deferred(let make):
            return try make(writer.database).withoutRangesOfRows(writer)
        default:
            return try isRangeOfRows(writer) ? unplanned : self
        }
    }

    private func isRangeOfRows(_ writer: SQLWriter) throws -> Bool {
        switch node {
        case .collated(let comparison, _):
            try comparison.isRangeOfRows(writer)
        case .infix(let symbol, let left, let right) where ["<", "<=", ">", ">="].contains(symbol):
            try left.isLimited(by: right, writer)
        case .between(let operand, let lower, let upper, isNegated: false):
            try operand.isLimited(by: lower, writer) || operand.isLimited(by: upper, writer)
        default: false
        }
    }

    /// Whether one of two expressions may limit a range of the other one, and be taken for NULL.
    private func isLimited(by other: SQLExpression, _ writer: SQLWriter) throws -> Bool {
        let (left, right) = try (columns(writer), other.columns(writer))
        let both = left + right
        guard !left.isEmpty, !right.isEmpty, both.contains(where: \.mayBeIndexed) else { return false }
        // A comparison of values in one row is no range.
        if let source = both[0].source, both.allSatisfy({ $0.source == source }) { return false }
        // What an index on an expression has is not converted.
        let hasNumbers = isColumn && other.isColumn && both.contains(where: \.hasNumbers)
        return !hasNumbers || both.contains(where: \.mayBeRowID)
    }

    private var isColumn: Bool {
        switch node {
        case .column: true
        case .aliased(_, let operand): operand.isColumn
        default: false
        }
    }

    /// The columns in the expression, other than in SQL of the user and in queries.
    private func columns(_ writer: SQLWriter) throws -> [ComparedColumn] {
        switch node {
        case .column(let name): try [ComparedColumn(name, writer)]
        case .fastPrimaryKey: [ComparedColumn()]
        case .aliased(let alias, let operand): try writer.withScope(alias) { try operand.columns(writer) }
        case .detached(let operand): try writer.withoutScope { try operand.columns(writer) }
        case .deferred(let make): try make(writer.database).columns(writer)
        default: try operands.flatMap { try $0.columns(writer) }
        }
    }
}

/// A column in a comparison.
private struct ComparedColumn {
    struct Source: Equatable {
        let depth: Int
        let qualifier: String
    }

    /// The table that it belongs to, or nil when it may be one of a view, or SQLite alone knows.
    var source: Source?

    /// Whether it is declared to have numbers.
    var hasNumbers = false

    /// Whether it may be the number of a row.
    var mayBeRowID = true

    /// Whether there may be an index that has it.
    var mayBeIndexed = true

}

extension ComparedColumn {
    init(_ name: String, _ writer: SQLWriter) throws {
        let db = writer.database
        guard let scope = writer.scope, let table = scope.tableName, !writer.isCommonTable(table),
            let traits = try db.indexTraits(of: table),
            let column = try db.columns(in: table).first(where: { $0.name.isSameIdentifier(as: name) })
        else { return }
        source = Source(depth: scope.depth, qualifier: scope.qualifier.foldedIdentifier)
        hasNumbers = column.hasNumbers
        mayBeRowID = try db.primaryKey(table).rowIDColumn?.isSameIdentifier(as: name) ?? false
        mayBeIndexed = traits.isIndexed || mayBeRowID
    }
}

extension ColumnInfo {
    /// Whether SQLite makes numbers of the values: see "Determination Of Column Affinity" in its documentation.
    fileprivate var hasNumbers: Bool {
        let type = type.foldedIdentifier
        if type.contains("int") { return true }
        return !type.isEmpty && !["char", "clob", "text", "blob"].contains(where: type.contains)
    }
}
