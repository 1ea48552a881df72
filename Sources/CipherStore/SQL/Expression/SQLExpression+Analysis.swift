// What a tree tells about the rows it concerns.

extension SQLExpression {
    /// Whether the expression makes one value of many rows.
    var isAggregate: Bool {
        switch node {
        case .function(let call):
            call.isAggregate || call.arguments.contains(where: \.isAggregate)
        case .aliased(_, let operand), .detached(let operand), .prefix(_, let operand), .not(let operand),
            .collated(let operand, _), .cast(let operand, _), .json(let operand), .isEmpty(let operand, _),
            .tableMatch(let operand), .isIn(let operand, _, _):
            operand.isAggregate
        case .infix(_, let left, let right), .equality(_, let left, let right),
            .like(let left, let right, _, _), .jsonAccess(let left, let right, _):
            left.isAggregate || right.isAggregate
        case .between(let operand, let lower, let upper, _):
            operand.isAggregate || lower.isAggregate || upper.isAggregate
        case .joined(_, let operands), .rowValue(let operands):
            operands.contains(where: \.isAggregate)
        case .value, .column, .literal, .subquery, .exists, .fastPrimaryKey, .rowExists, .deferred:
            false
        }
    }

    /// Whether the expression is the same for all rows.
    var isConstant: Bool {
        switch node {
        case .value: true
        case .prefix(_, let operand), .not(let operand), .collated(let operand, _), .cast(let operand, _),
            .json(let operand), .aliased(_, let operand):
            operand.isConstant
        case .infix(_, let left, let right), .equality(_, let left, let right):
            left.isConstant && right.isConstant
        case .joined(_, let operands), .rowValue(let operands):
            operands.allSatisfy(\.isConstant)
        default: false
        }
    }

    /// Whether a JSON function would take the expression for a text, although it
    /// is known to be JSON.
    var needsJSONWrapping: Bool {
        switch node {
        case .json(let expression): !expression.isNull
        case .aliased(_, let expression), .detached(let expression): expression.needsJSONWrapping
        default: false
        }
    }

    /// The expression that a connection makes of it.
    func resolved(_ db: Database) throws -> SQLExpression {
        if case .deferred(let make) = node { try make(db).resolved(db) } else { self }
    }
}

/// Reads in a condition which rows of one table it selects.
struct RowIdentification {
    let db: Database

    /// The table whose rows are identified.
    let table: String

    /// What stands for the table.
    let aliases: [SourceIdentity]

    /// Whether bare columns belong to the table.
    private var isInScope = true

    init(_ db: Database, table: String, aliases: [SourceIdentity]) {
        self.db = db
        self.table = table
        self.aliases = aliases
    }

    private func scoped(to alias: SourceIdentity) -> RowIdentification {
        var identification = self
        identification.isInScope = aliases.contains { $0 === alias }
        return identification
    }

    // MARK: Columns

    /// The column of the table that an expression is.
    ///
    /// - parameter acceptsBijection: Whether it may be an expression that differs
    ///   when the column does.
    func column(_ expression: SQLExpression, acceptsBijection: Bool) throws -> String? {
        switch expression.node {
        case .column(let name):
            return isInScope ? name : nil
        case .fastPrimaryKey:
            guard isInScope else { return nil }
            let columns = try db.fastPrimaryKeyColumns(of: table)
            return columns.count == 1 ? columns[0] : nil
        case .aliased(let alias, let operand):
            return try scoped(to: alias).column(operand, acceptsBijection: acceptsBijection)
        case .collated(let operand, _), .json(let operand):
            return try column(operand, acceptsBijection: acceptsBijection)
        case .rowValue(let operands) where operands.count == 1:
            return try column(operands[0], acceptsBijection: acceptsBijection)
        case .prefix(_, let operand) where acceptsBijection:
            return try column(operand, acceptsBijection: true)
        case .joined(let op, let operands) where acceptsBijection && op.isInvertible:
            return try onlyColumn(operands)
        case .function(let call) where acceptsBijection && call.isInvertible:
            return try onlyColumn(call.arguments)
        case .deferred:
            return try column(expression.resolved(db), acceptsBijection: acceptsBijection)
        default:
            return nil
        }
    }

    private func onlyColumn(_ operands: [SQLExpression]) throws -> String? {
        let variable = operands.filter { !$0.isConstant }
        return variable.count == 1 ? try column(variable[0], acceptsBijection: true) : nil
    }

    /// The columns whose values a condition fixes.
    func fixedColumns(_ condition: SQLExpression) throws -> Set<String> {
        switch condition.node {
        case .equality(let equality, let left, let right) where !equality.isNegative:
            if right.isConstant, let column = try column(left, acceptsBijection: true) { return [column] }
            if left.isConstant, let column = try column(right, acceptsBijection: true) { return [column] }
            return []
        case .joined(.and, let operands):
            return try operands.reduce(into: []) { $0.formUnion(try fixedColumns($1)) }
        case .collated(let operand, _):
            return try fixedColumns(operand)
        case .aliased(let alias, let operand):
            return try scoped(to: alias).fixedColumns(operand)
        case .rowValue(let operands) where operands.count == 1:
            return try fixedColumns(operands[0])
        case .deferred:
            return try fixedColumns(condition.resolved(db))
        default:
            return []
        }
    }

    // MARK: Rows

    /// The rowids that a condition can select, or nil when they are not known.
    func rowIDs(_ condition: SQLExpression) throws -> Set<Int64>? {
        switch condition.node {
        case .value(let value):
            return value.isNull || value == false.databaseValue ? [] : nil
        case .equality(let equality, let left, let right) where !equality.isNegative:
            return try rowID(left, right) ?? rowID(right, left)
        case .isIn(let element, .expressions(let members), false):
            guard try isRowID(element) else { return nil }
            return union(members.map { constant($0) })
        case .joined(.and, let operands):
            let known = try operands.compactMap { try rowIDs($0) }
            return known.dropFirst().reduce(known.first) { $0?.intersection($1) }
        case .joined(.or, let operands):
            return union(try operands.map { try rowIDs($0) })
        case .collated(let operand, _):
            return try rowIDs(operand)
        case .aliased(let alias, let operand):
            return try scoped(to: alias).rowIDs(operand)
        case .rowValue(let operands) where operands.count == 1:
            return try rowIDs(operands[0])
        case .deferred:
            return try rowIDs(condition.resolved(db))
        default:
            return nil
        }
    }

    private func rowID(_ element: SQLExpression, _ value: SQLExpression) throws -> Set<Int64>? {
        try isRowID(element) ? constant(value) : nil
    }

    private func isRowID(_ expression: SQLExpression) throws -> Bool {
        guard let column = try column(expression, acceptsBijection: false)?.foldedIdentifier else {
            return false
        }
        let key = try db.existingPrimaryKey(of: table)
        if key?.rowIDColumn?.foldedIdentifier == column { return true }
        // A column of that name is no rowid.
        return try key?.tableHasRowID == true && column == RowIDName.free(of: db.columnNames(of: table))
    }

    /// The rowids that equal a constant; nil when it is not an integer, which
    /// SQLite may convert.
    private func constant(_ expression: SQLExpression) -> Set<Int64>? {
        switch expression.node {
        case .value(let value):
            switch value.content {
            case .null: []
            case .int64(let rowID): [rowID]
            default: nil
            }
        case .rowValue(let operands) where operands.count == 1: constant(operands[0])
        default: nil
        }
    }

    private func union(_ sets: [Set<Int64>?]) -> Set<Int64>? {
        sets.reduce(Set()) { result, set in
            guard let result, let set else { return nil }
            return result.union(set)
        }
    }
}
