extension SQLExpression {
    /// Writes the expression.
    ///
    /// - parameter isOperand: Whether it is part of another expression, and needs
    ///   parentheses unless it can't be torn apart.
    func write(to writer: SQLWriter, isOperand: Bool = false) throws {
        if isOperand && !isAtomic {
            writer.append("(")
            try writeNode(to: writer)
            writer.append(")")
        } else {
            try writeNode(to: writer, isOperand: isOperand)
        }
    }

    /// The SQL of the expression with its values as literals, for the
    /// definitions of views, columns, indexes and triggers.
    func literalSQL(_ db: Database) throws -> String {
        let writer = SQLWriter(db, style: .literals)
        try write(to: writer)
        return writer.sql
    }

    /// Whether the expression needs no parentheses as an operand.
    private var isAtomic: Bool {
        switch node {
        case .value, .column, .cast, .function, .subquery, .fastPrimaryKey, .rowValue, .deferred: true
        case .aliased(_, let expression), .detached(let expression), .json(let expression):
            expression.isAtomic
        default: false
        }
    }

    private func writeNode(to writer: SQLWriter, isOperand: Bool = false) throws {
        switch node {
        case .value(let value):
            try writer.append(value)
        case .column(let name):
            try writer.appendColumn(name)
        case .aliased(let alias, let expression):
            try writer.withScope(alias) { try expression.write(to: writer) }
        case .detached(let expression):
            try writer.withoutScope { try expression.write(to: writer) }
        case .json(let expression):
            try expression.write(to: writer)
        case .jsonAccess(let json, let path, let isJSON):
            try Self.writeJSONAccess(json, path, isJSON: isJSON, to: writer)
        case .deferred(let make):
            try make(writer.database).write(to: writer, isOperand: isOperand)
        case .literal(let literal):
            try literal.write(to: writer)
        case .subquery(let subquery):
            try subquery.writeInParentheses(to: writer)
        case .function(let call):
            try call.write(to: writer)
        case .cast(let expression, let type):
            writer.append("CAST(")
            try expression.write(to: writer)
            writer.append(" AS \(type))")
        case .rowValue(let expressions):
            try Self.writeRowValue(expressions, to: writer)
        case .fastPrimaryKey:
            try Self.writeFastPrimaryKey(to: writer)
        case .tableMatch(let pattern):
            guard let scope = writer.scope else {
                _ = try writer.requireTable()
                return
            }
            writer.appendQuoted(scope.qualifier)
            writer.append(" MATCH ")
            try pattern.write(to: writer, isOperand: true)
        default:
            guard isPlannedIdentity, try writer.misplansIdentity() else {
                return try writeOperation(to: writer)
            }
            writer.append("+(")
            try writer.planning(byIdentity: true) { try writeOperation(to: writer) }
            writer.append(")")
        }
    }

    private func writeOperation(to writer: SQLWriter) throws {
        switch node {
        case .prefix(let sql, let operand):
            writer.append(sql)
            try operand.write(to: writer, isOperand: true)
        case .not(let operand):
            writer.append("NOT ")
            try operand.write(to: writer, isOperand: true)
        case .infix(let sql, let left, let right):
            try Self.writeInfix(left, sql, right, to: writer)
        case .equality(let equality, let left, let right):
            try Self.writeInfix(left, equality.rawValue, right, to: writer)
        case .joined(let op, let operands):
            try writer.appendJoined(operands, separator: " \(op.sql) ") {
                try $0.write(to: writer, isOperand: true)
            }
        case .like(let expression, let pattern, let escape, let isNegated):
            try Self.writeInfix(expression, isNegated ? "NOT LIKE" : "LIKE", pattern, to: writer)
            if let escape {
                writer.append(" ESCAPE ")
                try escape.write(to: writer, isOperand: true)
            }
        case .between(let expression, let lower, let upper, let isNegated):
            try Self.writeInfix(expression, isNegated ? "NOT BETWEEN" : "BETWEEN", lower, to: writer)
            writer.append(" AND ")
            try upper.write(to: writer, isOperand: true)
        case .isIn(let expression, let members, let isNegated):
            try expression.write(to: writer, isOperand: true)
            writer.append(isNegated ? " NOT IN " : " IN ")
            try members.write(to: writer)
        case .collated(let expression, let collation):
            try expression.writeCollated(collation, to: writer)
        case .exists(let subquery, let isNegated):
            writer.append(isNegated ? "NOT EXISTS " : "EXISTS ")
            try subquery.writeInParentheses(to: writer)
        case .rowExists(let isNegated):
            try Self.writeRowExists(isNegated: isNegated, to: writer)
        case .isEmpty(let count, let isNegated):
            try count.write(to: writer, isOperand: true)
            writer.append(isNegated ? " > 0" : " = 0")
        default:
            preconditionFailure("not an operation")
        }
    }

    private static func writeInfix(
        _ left: SQLExpression, _ sql: String, _ right: SQLExpression, to writer: SQLWriter
    ) throws {
        try left.write(to: writer, isOperand: true)
        writer.append(" \(sql) ")
        try right.write(to: writer, isOperand: true)
    }

    /// A collation, which applies to the comparison before it when it follows
    /// the right operand. SQL of the user may be anything, so it is fenced.
    private func writeCollated(_ collation: String, to writer: SQLWriter) throws {
        var isLiteral = false
        if case .literal = node { isLiteral = true }
        try write(to: writer, isOperand: isLiteral)
        writer.append(" COLLATE \(collation)")
    }

    private static func writeRowValue(_ expressions: [SQLExpression], to writer: SQLWriter) throws {
        if expressions.count == 1 { return try expressions[0].write(to: writer, isOperand: true) }
        writer.append("(")
        try writer.appendJoined(expressions) { try $0.write(to: writer) }
        writer.append(")")
    }

    private static func writeFastPrimaryKey(to writer: SQLWriter) throws {
        let columns = try writer.database.fastPrimaryKeyColumns(of: writer.requireTable())
        try writeRowValue(columns.map(SQLExpression.column), to: writer)
    }
}

extension SQLExpression {
    /// A row that is not there has no key; a view without a key has columns.
    fileprivate static func writeRowExists(isNegated: Bool, to writer: SQLWriter) throws {
        let table = try writer.requireTable()
        let db = writer.database
        let hasKey = try db.existingPrimaryKey(of: table) != nil
        let columns = try hasKey ? db.fastPrimaryKeyColumns(of: table) : db.columnNames(of: table)
        let conditions = columns.map { equality(isNegated ? .equal : .notEqual, .column($0), .null) }
        try joined(isNegated ? .and : .or, conditions).write(to: writer)
    }
}

extension SQLExpression.Members {
    fileprivate func write(to writer: SQLWriter) throws {
        switch self {
        case .expressions(let expressions):
            writer.append("(")
            if let integers = try Self.manyIntegers(expressions) {
                writer.hideValues()
                writer.appendJoined(integers) { writer.append($0.description) }
            } else {
                try writer.appendJoined(expressions) { try $0.write(to: writer) }
            }
            writer.append(")")
        case .subquery(let subquery):
            try subquery.writeAsMembers(to: writer)
        case .table(let name):
            writer.appendQuoted(name)
        }
    }

    /// The members, when they are integers and so many that they might exceed the
    /// number of arguments that SQLite accepts: 999 before version 3.32.
    ///
    /// - throws: The error of a member that SQLite can't store, which the number of arguments would hide.
    private static func manyIntegers(_ expressions: [SQLExpression]) throws -> [Int64]? {
        guard expressions.count > 500 else { return nil }
        var integers: [Int64] = []
        for expression in expressions {
            guard case .value(let value) = expression.node else { return nil }
            if let error = value.encodingError { throw error }
            guard case .int64(let integer) = value.content else { return nil }
            integers.append(integer)
        }
        return integers
    }
}
