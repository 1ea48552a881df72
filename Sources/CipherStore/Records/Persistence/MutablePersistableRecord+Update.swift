extension MutablePersistableRecord {
    /// Updates all columns of the record's row.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is no such row, a ``DatabaseError``, and what the callbacks throw.
    public func update(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws {
        try updating(db) { try $0.updateWithCallbacks(db, conflictResolution, columns: nil) }
    }

    /// Updates some columns of the record's row.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - columns: The names of the columns, in any case.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is no such row, a ``DatabaseError``, and what the callbacks throw.
    public func update(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<String>
    ) throws {
        try updating(db) { try $0.updateWithCallbacks(db, conflictResolution, columns: Set(columns)) }
    }

    /// Updates some columns of the record's row.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - columns: The columns, such as `[Column("name")]` or the cases of an enumeration.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is no such row, a ``DatabaseError``, and what the callbacks throw.
    public func update(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<some ColumnExpression>
    ) throws {
        try update(db, onConflict: conflictResolution, columns: columns.map(\.name))
    }

    /// Updates some columns of the record's row.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - columns: The columns, of several types.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is no such row, a ``DatabaseError``, and what the callbacks throw.
    @_disfavoredOverload
    public func update(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<any ColumnExpression>
    ) throws {
        try update(db, onConflict: conflictResolution, columns: columns.map(\.name))
    }

    /// Updates the columns that differ from another record.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - record: What is taken to be in the database.
    /// - returns: Whether there was a difference, and the row was updated.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is no such row, a ``DatabaseError``, and what the callbacks throw.
    @discardableResult
    public func updateChanges(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        from record: some MutablePersistableRecord
    ) throws -> Bool {
        let columns = try databaseChanges(from: record).keys
        guard !columns.isEmpty else { return false }
        try update(db, onConflict: conflictResolution, columns: Array(columns))
        return true
    }

    /// Changes the record, and updates the columns that differ.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - modify: Changes the record.
    /// - returns: Whether there was a difference, and the row was updated.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is no such row, a ``DatabaseError``, and what the callbacks throw.
    @discardableResult
    public mutating func updateChanges(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        modify: (inout Self) throws -> Void
    ) throws -> Bool {
        let columns = try databaseChanges(modify: modify).keys
        guard !columns.isEmpty else { return false }
        try update(db, onConflict: conflictResolution, columns: Array(columns))
        return true
    }
}

// MARK: - Callbacks

extension MutablePersistableRecord {
    /// Updates between the callbacks that all kinds of saving have.
    func updating(_ db: Database, _ update: (Self) throws -> PersistenceSuccess) throws {
        try willSave(db)
        var saved: PersistenceSuccess?
        try aroundSave(db) {
            let success = try update(self)
            saved = success
            return success
        }
        guard let saved else { throw Self.missingCall("aroundSave", "save") }
        didSave(saved)
    }

    /// Updates between the callbacks of updates.
    func updateWithCallbacks(
        _ db: Database, _ conflictResolution: Database.ConflictResolution?, columns: Set<String>?
    ) throws -> PersistenceSuccess {
        try updating(db, columns: columns) { plan, container in
            try plan.run(db, container, columns, conflict(conflictResolution))
        }
    }

    func conflict(_ conflictResolution: Database.ConflictResolution?) -> Database.ConflictResolution {
        conflictResolution ?? type(of: self).persistenceConflictPolicy.conflictResolutionForUpdate
    }

    /// Updates between the callbacks of updates.
    func updating(
        _ db: Database, columns: Set<String>?,
        _ update: (RecordPlan, PersistenceContainer) throws -> Void
    ) throws -> PersistenceSuccess {
        let plan = try db.recordPlans.plan(db, for: type(of: self))
        var container = try plan.encode(self)
        let names = columns ?? Set(container.columns)
        try willUpdate(db, columns: names)
        var updated: PersistenceSuccess?
        try aroundUpdate(db, columns: names) {
            // The callbacks may have changed the instance of a class.
            if Self.self is AnyObject.Type { container = try plan.encode(self) }
            try update(plan, container)
            let success = PersistenceSuccess(persistenceContainer: container)
            updated = success
            return success
        }
        guard let updated else { throw Self.missingCall("aroundUpdate", "update") }
        didUpdate(updated)
        return updated
    }
}

extension RecordPlan {
    /// Updates a row.
    func run(
        _ db: Database, _ container: PersistenceContainer, _ columns: Set<String>?,
        _ conflict: Database.ConflictResolution
    ) throws {
        guard let update = try update(db, of: container, columns: columns, conflict) else {
            throw recordNotFound(container)
        }
        let total = db.beginCountingChanges()
        try update.statement.execute(arguments: StatementArguments(update.arguments))
        if try !db.hasChangedRows(of: tableName, since: total) { throw recordNotFound(container) }
    }
}
