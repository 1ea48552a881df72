/// What the indexes of a table are like, as far as old engines make wrong plans by them: see `EngineFeatures.misplansIndexes`.
struct IndexTraits {
    /// Whether there is an index, also that of a key.
    var isIndexed = false

    /// Whether an index leaves rows out.
    var leavesOutRows = false

    /// The columns of indexes that leave rows out, or have NULL elsewhere than at their start, in lower case.
    var columnsWithoutAllRows: Set<String> = []

    /// Those of descending indexes, in which SQLite 3.46 finds no NULL either.
    var descendingColumns: Set<String> = []

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
            let isDescending = columns.contains { $0["desc"] == 1 }
            if index["partial"] == 1 { traits.leavesOutRows = true }
            if index["partial"] == 1 || isDescending {
                // An expression has no name.
                let names = columns.compactMap { ($0["name"] as String?)?.foldedIdentifier }
                traits.columnsWithoutAllRows.formUnion(names)
                if isDescending { traits.descendingColumns.formUnion(names) }
            }
            if columns.count > 1 { traits.hasSeveralColumns = true }
        }
        return traits
    }
}

// What the texts of a schema tell about any table, where it is not known which one is meant.
extension Database {
    /// Whether a view may have a left join.
    func hasViewWithLeftJoin() throws -> Bool {
        try schemaIDs().contains { schemaID in
            try schemaTexts(schemaID).hasViewWithLeftJoin
        }
    }

    /// Whether an index may leave rows out, or have NULL elsewhere than at its start.
    func hasIndexWithoutAllRows() throws -> Bool {
        try schemaIDs().contains { schemaID in
            try schemaTexts(schemaID).hasIndexWithoutAllRows
        }
    }

    private func schemaTexts(_ schemaID: DatabaseSchemaID) throws -> SchemaTexts {
        if let texts = schemaCache[schemaID].texts { return texts }
        // The objects are read with the version of the schema.
        _ = try objects(of: schemaID)
        let sql = "SELECT type, sql FROM \(schemaID.masterTable) WHERE type IN ('view', 'index', 'table')"
        var texts = SchemaTexts()
        for row in try schemaRows(sql) {
            guard let text = (row["sql"] as String?)?.foldedIdentifier else { continue }
            switch row["type"] as String {
            case "view": if text.contains("left") { texts.hasViewWithLeftJoin = true }
            case "index" where text.contains("where"): texts.hasIndexWithoutAllRows = true
            // The index of a constraint is told by its table.
            default:
                let isFalling = SQLTokens(text).tokens.contains { $0.isKeyword("desc") }
                if isFalling { texts.hasIndexWithoutAllRows = true }
            }
        }
        schemaCache[schemaID].texts = texts
        return texts
    }
}

/// What the texts of a schema tell.
struct SchemaTexts {
    /// Whether a view may have a left join.
    var hasViewWithLeftJoin = false

    /// Whether an index may leave rows out, or have NULL elsewhere than at its start.
    var hasIndexWithoutAllRows = false
}
