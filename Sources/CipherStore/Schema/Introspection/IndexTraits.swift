/// What the indexes of a table are like, as far as old engines make wrong plans by them: see `EngineFeatures.misplansIndexes`.
struct IndexTraits {
    /// Whether there is an index, also that of a key.
    var isIndexed = false

    /// The columns of indexes that leave rows out, or have NULL elsewhere than at their start, in lower case.
    var columnsWithoutAllRows: Set<String> = []

    /// Whether an index has several columns or expressions.
    var hasSeveralColumns = false
}

extension Database {
    /// The traits of a table's indexes, or nil for what is no table of a schema: a view, for one.
    func indexTraits(of name: String) throws -> IndexTraits? {
        for schemaID in try schemaIDs() {
            let objects = try objects(of: schemaID)
            if objects.name(.view, name) != nil { return nil }
            guard objects.name(.table, name) != nil else { continue }
            if let traits = schemaCache[schemaID].indexTraits(of: name) { return traits }
            let traits = try readIndexTraits(of: name, schemaID)
            schemaCache[schemaID].set(indexTraits: traits, of: name)
            return traits
        }
        return nil
    }

    private func readIndexTraits(of table: String, _ schemaID: DatabaseSchemaID) throws -> IndexTraits {
        var traits = IndexTraits()
        for index in try schemaRows(pragma("index_list", table, schemaID)) {
            let name: String = try index.decode(forColumn: "name")
            let columns = try schemaRows(pragma("index_xinfo", name, schemaID)).filter { $0["key"] == 1 }
            traits.isIndexed = true
            if index["partial"] == 1 || columns.contains(where: { $0["desc"] == 1 }) {
                // An expression has no name.
                let names = columns.compactMap { $0["name"] as String? }
                traits.columnsWithoutAllRows.formUnion(names.map(\.foldedIdentifier))
            }
            if columns.count > 1 { traits.hasSeveralColumns = true }
        }
        return traits
    }
}
