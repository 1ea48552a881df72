extension SQLFunctionCall {
    /// Writes the call.
    func write(to writer: SQLWriter) throws {
        if let filter, !writer.features.supportsAggregateFilter {
            return try writeWithoutFilter(filter, to: writer)
        }
        writer.append(name)
        writer.append(isDistinct ? "(DISTINCT " : "(")
        if try misplansMinimum(in: writer) {
            writer.append("+")
            try arguments[0].write(to: writer, isOperand: true)
        } else {
            try writeArguments(to: writer)
        }
        try writeOrdering(to: writer)
        writer.append(")")
        guard let filter else { return }
        writer.append(" FILTER (WHERE ")
        try filter.write(to: writer)
        writer.append(")")
    }

    private func writeArguments(to writer: SQLWriter) throws {
        try writer.appendJoined(arguments.enumerated()) {
            try writeArgument($0.element, at: $0.offset, to: writer)
        }
    }

    private func writeOrdering(to writer: SQLWriter) throws {
        guard let ordering else { return }
        writer.append(" ORDER BY ")
        try ordering.write(to: writer)
    }

    private func writeArgument(_ argument: SQLExpression, at index: Int, to writer: SQLWriter) throws {
        guard case .wrapped(let first, let alwaysBinary) = jsonArguments, index >= first,
            argument.needsJSONWrapping
        else { return try argument.write(to: writer) }
        let isBinary = alwaysBinary || writer.features.supportsJSONB
        writer.append(isBinary ? "JSONB(" : "JSON(")
        try argument.write(to: writer)
        writer.append(")")
    }

    // MARK: Engines without FILTER

    /// The functions that do not skip NULL. ``OrderedAggregates`` has one in the place of each.
    private static let countingNulls: Set<String> = [
        "json_group_array", "json_group_object", "jsonb_group_array", "jsonb_group_object",
    ]

    private func writeWithoutFilter(_ filter: SQLExpression, to writer: SQLWriter) throws {
        let function = name.foldedIdentifier
        if Self.countingNulls.contains(function) {
            writer.append("cipherstore_\(function)(")
            try filter.write(to: writer)
            writer.append(isDistinct ? ", '=', " : ", '', ")
            try writeArguments(to: writer)
        } else {
            writer.append(name)
            writer.append(isDistinct ? "(DISTINCT " : "(")
            try writeChosenArguments(filter, to: writer)
        }
        try writeOrdering(to: writer)
        writer.append(")")
    }

    /// Writes arguments of which the last is NULL in rows that don't count, which the function skips.
    private func writeChosenArguments(_ filter: SQLExpression, to writer: SQLWriter) throws {
        try writer.appendJoined(arguments.enumerated()) { index, argument in
            guard index == arguments.count - 1 else {
                return try writeArgument(argument, at: index, to: writer)
            }
            writer.append("CASE WHEN ")
            try filter.write(to: writer)
            writer.append(" THEN ")
            try writeArgument(argument, at: index, to: writer)
            writer.append(" END")
            if comparesArguments, let collation = try argument.collation(in: writer) {
                writer.append(" COLLATE \(collation)")
            }
        }
    }

    /// Whether the result depends on the collation of the argument.
    private var comparesArguments: Bool { isDistinct || ["max", "min"].contains(name.foldedIdentifier) }
}

extension SQLExpression {
    /// The collation by which SQLite compares a column, or an expression with a collation of its own.
    ///
    /// A `CASE` has none of what is chosen in it, but has those of its conditions.
    fileprivate func collation(in writer: SQLWriter) throws -> String? {
        switch node {
        case .collated(_, let collation): return collation
        case .column(let name): return try Self.declaredCollation(name, writer)
        case .json(let expression), .cast(let expression, _): return try expression.collation(in: writer)
        case .deferred(let make): return try make(writer.database).collation(in: writer)
        case .aliased(let alias, let expression):
            return try writer.withScope(alias) { try expression.collation(in: writer) }
        default: return nil
        }
    }

    private static func declaredCollation(_ column: String, _ writer: SQLWriter) throws -> String? {
        let db = writer.database
        guard let name = writer.scope?.tableName, let table = try db.find(.table, name) else { return nil }
        return SQLiteHandle.collation(db.handle, ofColumn: column, of: table)?.quotedDatabaseIdentifier
    }
}
