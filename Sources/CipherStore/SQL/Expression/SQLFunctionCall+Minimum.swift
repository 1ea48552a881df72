// The least value of some rows.

extension SQLWriter {
    /// Writes what a SELECT gives.
    ///
    /// - parameter sources: Where its rows come from.
    func selecting<T>(from sources: [JoinedSource], _ body: () throws -> T) rethrows -> T {
        let outer = selectedSources
        selectedSources = sources
        defer { selectedSources = outer }
        return try body()
    }
}

extension SQLFunctionCall {
    /// Whether the engine may look the least value up in an index by which it leaves out rows.
    ///
    /// SQLite 3.15 does so where the next column of the index is NULL. It happens with conditions only, which a view or a common
    /// table may have, and not with groups.
    func misplansMinimum(in writer: SQLWriter) throws -> Bool {
        guard isAggregate, writer.features.misplansIndexes, arguments.count == 1,
            name.foldedIdentifier == "min"
        else { return false }
        let sources = writer.selectedSources
        guard sources.allSatisfy(\.relation.grouping.isEmpty) else { return false }
        let traits = try sources.map { source in
            try source.relation.source.tableName.flatMap { try writer.database.indexTraits(of: $0) }
        }
        if sources.count == 1, traits[0] != nil, sources[0].relation.filters.isEmpty { return false }
        return traits.contains { $0?.hasSeveralColumns ?? true }
    }
}
