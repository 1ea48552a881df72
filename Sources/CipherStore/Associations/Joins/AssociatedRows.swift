/// Fetches the rows of an association for rows that were not fetched by a request, such as those of typed tables.
///
/// It is `including(all:)` in parts: who uses it fetches the first rows, and reads the associated ones, as it likes.
package struct AssociatedRows {
    /// Makes a condition of the name that qualifies columns.
    package typealias Filter =
        @Sendable (_ qualifier: String) throws -> (sql: String, arguments: StatementArguments)

    private let prefetch: Prefetch

    /// The columns of the first rows to which the associated rows refer.
    package var originColumns: [String] { prefetch.columns.map(\.left) }

    /// Finds the foreign key of an association.
    ///
    /// - throws: A ``DatabaseError`` when the schema has no such foreign key, or when the association fetches
    ///   further rows itself, which nobody would read.
    package init(_ association: some AssociationToMany, _ db: Database) throws {
        var origin = Relation(source: .table(""), selection: [])
        origin.prefetch(association.path)
        let rows = association.path.destination.relation
        guard rows.prefetchedPaths.isEmpty, let prefetch = try origin.prefetches(db).first else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "rows of \(rows.source.name) can't have rows of their own here: fetch these by themselves"
            )
        }
        self.prefetch = prefetch
    }

    /// What finds the first rows that associated ones belong to.
    ///
    /// - parameter keys: The values of ``originColumns``. NULL refers to nothing.
    package func owners(among keys: [[DatabaseValue]]) -> KeyOwners { KeyOwners(keys: keys, of: prefetch) }

    /// The statements that select the associated rows of keys, whose results are to be put together.
    ///
    /// Each selects the columns that were asked for, and then those that refer to the first rows.
    ///
    /// - parameters:
    ///     - names: The columns to select.
    ///     - owners: What ``owners(among:)`` returned, by which the rows are then dealt out.
    ///     - filter: Makes a condition on the associated rows of the name that qualifies their columns; nil for none.
    package func statements(
        selecting names: [String], of owners: KeyOwners, filter: Filter? = nil, _ db: Database
    ) throws -> [Statement] {
        try prefetch.conditions(among: owners.keys).map { condition in
            let writer = SQLWriter(db)
            var relation = prefetch.relation(for: condition, selecting: names)
            if let filter {
                let table = relation.source.name
                let literal = SQL(elements: [
                    .deferred { writer in
                        let (sql, arguments) = try filter(writer.scope?.qualifier ?? table)
                        try writer.append("(\(sql.withCommentEnded))", arguments: arguments)
                    }
                ])
                relation.filters.append(literal.sqlExpression)
            }
            try relation.writeSelect(to: writer)
            let statement = try db.makeStatement(sql: writer.sql)
            try statement.setArguments(writer.arguments)
            return statement
        }
    }

    /// Values of a statement's current row.
    package static func values(_ statement: SQLiteStatement, _ indexes: some Sequence<Int>) -> [DatabaseValue]
    {
        indexes.map { DatabaseValue(sqliteStatement: statement, index: CInt($0)) }
    }
}
