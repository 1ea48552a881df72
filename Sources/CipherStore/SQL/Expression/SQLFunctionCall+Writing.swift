extension SQLFunctionCall {
    /// Writes the call.
    func write(to writer: SQLWriter) throws {
        if let filter, !writer.features.supportsAggregateFilter {
            return try writeWithoutFilter(filter, to: writer)
        }
        writer.append(name)
        writer.append(isDistinct ? "(DISTINCT " : "(")
        try writeArguments(to: writer)
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
        }
    }
}
