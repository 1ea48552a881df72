// Updating many rows.

extension QueryInterfaceRequest {
    /// Updates the rows of the request.
    ///
    /// ```swift
    /// // UPDATE player SET score = score + 10 WHERE team = 'red'
    /// try Player.filter { $0.team == "red" }.updateAll(db, [Column("score") += 10])
    /// ```
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of rows that violate a constraint;
    ///       when it is nil, what the record type says, or `.abort`.
    ///     - assignments: The new values. Without any, nothing happens.
    /// - returns: The number of updated rows.
    /// - throws: A ``DatabaseError``.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> Int {
        let assignments = assignments.filter { $0.value != nil }
        if assignments.isEmpty { return 0 }
        return try relation.run(.update(assignments, resolution(conflictResolution)), db)
    }

    /// Updates the rows of the request.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws -> Int {
        try updateAll(db, onConflict: conflictResolution, assignments)
    }

    /// Returns a statement that updates the rows of the request and returns them.
    ///
    /// It needs SQLite 3.35. Run it to its end, or not all rows are updated.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: As in ``updateAll(_:onConflict:_:)-(_,_,ColumnAssignment...)``.
    ///     - assignments: The new values, one at least.
    ///     - selection: What it returns.
    /// - throws: A ``DatabaseError``, also on an older SQLite.
    public func updateAndFetchStatement(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment], selection: [any SQLSelectable]
    ) throws -> Statement {
        try relation.statement(
            .update(assignments, resolution(conflictResolution)), db,
            returning: selection.map(\.sqlSelection))
    }

    /// Another name of ``updateAndFetchStatement(_:onConflict:_:selection:)``, which guides use.
    public func updateAndFetchStatement(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment], select selection: [any SQLSelectable]
    ) throws -> Statement {
        try updateAndFetchStatement(db, onConflict: conflictResolution, assignments, selection: selection)
    }

    /// The conflict resolution of an update.
    fileprivate func resolution(_ given: Database.ConflictResolution?) -> Database.ConflictResolution {
        if let given { return given }
        guard let recordType = RowDecoder.self as? any MutablePersistableRecord.Type else { return .abort }
        return recordType.persistenceConflictPolicy.conflictResolutionForUpdate
    }
}

extension QueryInterfaceRequest where RowDecoder: TableRecord {
    /// Updates the rows of the request: `updateAll(db) { $0.score += 10 }`.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignment: (RowDecoder.DatabaseComponents) throws -> ColumnAssignment
    ) throws -> Int {
        try updateAll(db, onConflict: conflictResolution, [assignment(RowDecoder.databaseComponents)])
    }

    /// Updates the rows of the request: `updateAll(db) { [$0.score += 10, $0.bonus.set(to: 0)] }`.
    @discardableResult
    public func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (RowDecoder.DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> Int {
        try updateAll(db, onConflict: conflictResolution, assignments(RowDecoder.databaseComponents))
    }

    /// Returns a statement that updates the rows of the request and returns them.
    ///
    /// It needs SQLite 3.35.
    public func updateAndFetchStatement(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (RowDecoder.DatabaseComponents) throws -> [ColumnAssignment],
        select: (RowDecoder.DatabaseComponents) throws -> [any SQLSelectable]
    ) throws -> Statement {
        try updateAndFetchStatement(
            db, onConflict: conflictResolution, assignments(RowDecoder.databaseComponents),
            selection: select(RowDecoder.databaseComponents))
    }
}

extension QueryInterfaceRequest where RowDecoder: FetchableRecord & TableRecord {
    /// Updates the rows of the request and returns a cursor of the updated records.
    ///
    /// Iterate it to its end, or not all rows are updated. Before SQLite 3.35, they are updated at
    /// once, and as in ``updateAndFetchAll(_:onConflict:_:)``.
    ///
    /// - throws: A ``DatabaseError``.
    public func updateAndFetchCursor(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> RecordCursor<RowDecoder> {
        let change = Relation.Change.update(assignments, resolution(conflictResolution))
        let selection = RowDecoder.databaseSelection.map(\.sqlSelection)
        return try RowDecoder.fetchCursor(relation.cursorStatement(change, db, returning: selection))
    }

    /// Updates the rows of the request and returns a cursor of the updated records.
    public func updateAndFetchCursor(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (RowDecoder.DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> RecordCursor<RowDecoder> {
        try updateAndFetchCursor(
            db, onConflict: conflictResolution, assignments(RowDecoder.databaseComponents))
    }

    /// Updates the rows of the request and returns the updated records.
    ///
    /// Before SQLite 3.35, rows that the `.ignore` resolution left as they are
    /// are returned as well.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public func updateAndFetchAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> [RowDecoder] {
        let change = Relation.Change.update(assignments, resolution(conflictResolution))
        let selection = RowDecoder.databaseSelection.map(\.sqlSelection)
        return try relation.run(change, db, returning: selection) { try RowDecoder.fetchAll($0) }
    }

    /// Updates the rows of the request and returns the updated records.
    public func updateAndFetchAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (RowDecoder.DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> [RowDecoder] {
        try updateAndFetchAll(db, onConflict: conflictResolution, assignments(RowDecoder.databaseComponents))
    }
}

extension QueryInterfaceRequest where RowDecoder: FetchableRecord & TableRecord & Hashable {
    /// Updates the rows of the request and returns the set of the updated records.
    ///
    /// - throws: A ``DatabaseError``, or what decoding throws.
    public func updateAndFetchSet(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> Set<RowDecoder> {
        try Set(updateAndFetchAll(db, onConflict: conflictResolution, assignments))
    }

    /// Updates the rows of the request and returns the set of the updated records.
    public func updateAndFetchSet(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (RowDecoder.DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> Set<RowDecoder> {
        try updateAndFetchSet(db, onConflict: conflictResolution, assignments(RowDecoder.databaseComponents))
    }
}
