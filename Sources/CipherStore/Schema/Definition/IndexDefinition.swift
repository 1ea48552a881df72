/// The text of a `CREATE INDEX` statement.
struct IndexDefinition {
    let name: String
    let table: String
    /// The SQL of the indexed columns and expressions.
    let terms: [String]
    let options: IndexOptions
    let condition: String?

    init(
        name: String? = nil, on table: String, columns: [String], options: IndexOptions,
        condition: String? = nil
    ) {
        self.init(
            name: name ?? Self.defaultName(on: table, columns: columns), on: table,
            terms: columns.map(\.quotedDatabaseIdentifier), options: options, condition: condition)
    }

    init(name: String, on table: String, terms: [String], options: IndexOptions, condition: String?) {
        self.name = name
        self.table = table
        self.terms = terms
        self.options = options
        self.condition = condition
    }

    /// The name of an index on columns that is given none.
    static func defaultName(on table: String, columns: [String]) -> String {
        "index_\(table)_on_\(columns.joined(separator: "_"))"
    }

    var sql: String {
        var sql = "CREATE"
        if options.contains(.unique) { sql += " UNIQUE" }
        sql += " INDEX"
        if options.contains(.ifNotExists) { sql += " IF NOT EXISTS" }
        sql += " \(name.quotedDatabaseIdentifier) ON \(table.quotedDatabaseIdentifier)"
        sql += "(\(terms.map(\.withCommentEnded).joined(separator: ", ")))"
        if let condition { sql += " WHERE \(condition)" }
        return sql
    }
}
