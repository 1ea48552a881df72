// Deleting many rows.

extension QueryInterfaceRequest {
    /// Deletes the rows of the request.
    ///
    /// ```swift
    /// let count = try Player.filter { $0.score == 0 }.deleteAll(db)
    /// ```
    ///
    /// - returns: The number of deleted rows.
    /// - throws: A ``DatabaseError``.
    @discardableResult
    public func deleteAll(_ db: Database) throws -> Int {
        try relation.run(.delete, db)
    }

    /// Returns a statement that deletes the rows of the request and returns them.
    ///
    /// It needs SQLite 3.35. Run it to its end, or not all rows are deleted.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - selection: What it returns.
    /// - throws: A ``DatabaseError``, also on an older SQLite.
    public func deleteAndFetchStatement(
        _ db: Database, selection: [any SQLSelectable]
    ) throws -> Statement {
        try relation.statement(.delete, db, returning: selection.map(\.sqlSelection))
    }
}

extension QueryInterfaceRequest where RowDecoder: TableRecord {
    /// Returns a statement that deletes the rows of the request and returns them.
    ///
    /// It needs SQLite 3.35.
    public func deleteAndFetchStatement(
        _ db: Database, select: (RowDecoder.DatabaseComponents) throws -> [any SQLSelectable]
    ) throws -> Statement {
        try deleteAndFetchStatement(db, selection: select(RowDecoder.databaseComponents))
    }
}

extension QueryInterfaceRequest where RowDecoder: FetchableRecord & TableRecord {
    /// Deletes the rows of the request and returns a cursor of the deleted records.
    ///
    /// Iterate it to its end, or not all rows are deleted. Before SQLite 3.35, they are deleted at
    /// once.
    ///
    /// - throws: A ``DatabaseError``.
    public func deleteAndFetchCursor(_ db: Database) throws -> RecordCursor<RowDecoder> {
        let selection = RowDecoder.databaseSelection.map(\.sqlSelection)
        return try RowDecoder.fetchCursor(relation.cursorStatement(.delete, db, returning: selection))
    }

    /// Deletes the rows of the request and returns the deleted records.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public func deleteAndFetchAll(_ db: Database) throws -> [RowDecoder] {
        let selection = RowDecoder.databaseSelection.map(\.sqlSelection)
        return try relation.run(.delete, db, returning: selection) { try RowDecoder.fetchAll($0) }
    }
}

extension QueryInterfaceRequest where RowDecoder: FetchableRecord & TableRecord & Hashable {
    /// Deletes the rows of the request and returns the set of the deleted records.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public func deleteAndFetchSet(_ db: Database) throws -> Set<RowDecoder> {
        let selection = RowDecoder.databaseSelection.map(\.sqlSelection)
        return try relation.run(.delete, db, returning: selection) { try RowDecoder.fetchSet($0) }
    }
}

extension QueryInterfaceRequest
where
    RowDecoder: TableRecord & Identifiable,
    RowDecoder.ID: Hashable & DatabaseValueConvertible & StatementColumnConvertible
{
    /// Deletes the rows of the request and returns the ids of the deleted records.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public func deleteAndFetchIds(_ db: Database) throws -> Set<RowDecoder.ID> {
        let column = try db.singlePrimaryKeyColumn(of: relation.requireTable())
        return try relation.run(.delete, db, returning: [.expression(.column(column))]) {
            try RowDecoder.ID.fetchSet($0)
        }
    }
}
