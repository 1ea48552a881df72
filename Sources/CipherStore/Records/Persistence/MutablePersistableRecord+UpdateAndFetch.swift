// Updating records and reading their rows.

extension MutablePersistableRecord {
    /// Updates the record's row, and reads it.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - type: The type of the record that is returned.
    /// - returns: What the record is in the database.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is no such row, a ``DatabaseError``, and what the callbacks throw.
    public func updateAndFetch<Record: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as type: Record.Type
    ) throws -> Record {
        let record = try updateAndFetch(
            db, onConflict: conflictResolution, selection: Record.databaseSelection,
            fetch: { try Record.fetchOne($0) })
        if let record { return record }
        throw try notWritten(db)
    }

    /// Updates the record's row, and reads it.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - selection: What the statement selects of the row.
    ///     - fetch: Reads the result of the statement.
    /// - returns: What the function returns.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is no such row, a ``DatabaseError``, and what the callbacks throw.
    public func updateAndFetch<Value>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        selection: [any SQLSelectable], fetch: (Statement) throws -> Value
    ) throws -> Value {
        try updateAndFetch(db, conflictResolution, columns: nil, selection, fetch)
    }

    /// Updates the record's row, and reads it.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - fetch: Reads the result of the statement.
    ///     - select: Returns what the statement selects of the row.
    /// - returns: What the function returns.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is no such row, a ``DatabaseError``, and what the callbacks throw.
    public func updateAndFetch<Value>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        fetch: (Statement) throws -> Value,
        select: (DatabaseComponents) throws -> [any SQLSelectable]
    ) throws -> Value {
        try updateAndFetch(
            db, conflictResolution, columns: nil, select(Self.databaseComponents), fetch)
    }

    /// Updates some columns of the record's row, and reads it.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - columns: The names of the columns, in any case.
    ///     - selection: What the statement selects of the row.
    ///     - fetch: Reads the result of the statement.
    /// - returns: What the function returns.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is no such row, a ``DatabaseError``, and what the callbacks throw.
    public func updateAndFetch<Value>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<String>, selection: [any SQLSelectable],
        fetch: (Statement) throws -> Value
    ) throws -> Value {
        try updateAndFetch(db, conflictResolution, columns: Set(columns), selection, fetch)
    }

    /// Updates some columns of the record's row, and reads it.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - columns: The columns to update, such as `[Column("name")]` or the cases of an enumeration.
    ///     - selection: What the statement selects of the row.
    ///     - fetch: Reads the result of the statement.
    /// - returns: What the function returns.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is no such row, a ``DatabaseError``, and what the callbacks throw.
    public func updateAndFetch<Value>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<some ColumnExpression>, selection: [any SQLSelectable],
        fetch: (Statement) throws -> Value
    ) throws -> Value {
        try updateAndFetch(db, conflictResolution, columns: Set(columns.map(\.name)), selection, fetch)
    }

    /// Updates some columns of the record's row, and reads it.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - columns: The columns to update, of several types.
    ///     - selection: What the statement selects of the row.
    ///     - fetch: Reads the result of the statement.
    /// - returns: What the function returns.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is no such row, a ``DatabaseError``, and what the callbacks throw.
    @_disfavoredOverload
    public func updateAndFetch<Value>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<any ColumnExpression>, selection: [any SQLSelectable],
        fetch: (Statement) throws -> Value
    ) throws -> Value {
        try updateAndFetch(db, conflictResolution, columns: Set(columns.map(\.name)), selection, fetch)
    }

    /// Updates some columns of the record's row, and reads it.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - columns: The names of the columns, in any case.
    ///     - fetch: Reads the result of the statement.
    ///     - select: Returns what the statement selects of the row.
    /// - returns: What the function returns.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is no such row, a ``DatabaseError``, and what the callbacks throw.
    public func updateAndFetch<Value>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        columns: some Collection<String>, fetch: (Statement) throws -> Value,
        select: (DatabaseComponents) throws -> [any SQLSelectable]
    ) throws -> Value {
        try updateAndFetch(
            db, conflictResolution, columns: Set(columns), select(Self.databaseComponents), fetch)
    }

    private func updateAndFetch<Value>(
        _ db: Database, _ conflictResolution: Database.ConflictResolution?, columns: Set<String>?,
        _ selection: [any SQLSelectable], _ fetch: (Statement) throws -> Value
    ) throws -> Value {
        try withoutActuallyEscaping(fetch) { fetch in
            let returning = Returning(selection, fetch)
            var value: Value?
            try updating(db) { record in
                let (success, read) = try record.updateWithCallbacks(
                    db, conflictResolution, columns: columns, returning)
                value = read
                return success
            }
            guard let value else { throw Self.missingCall("aroundSave", "save") }
            return value
        }
    }
}

extension MutablePersistableRecord where Self: FetchableRecord {
    /// Updates the record's row, and reads it.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    /// - returns: What the record is in the database.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is no such row, a ``DatabaseError``, and what the callbacks throw.
    public func updateAndFetch(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws -> Self {
        try updateAndFetch(db, onConflict: conflictResolution, as: Self.self)
    }

    /// Changes the record, updates the columns that differ, and reads the row.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - modify: Changes the record.
    /// - returns: What the record is in the database, or nil when nothing differs.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is no such row, a ``DatabaseError``, and what the callbacks throw.
    public mutating func updateChangesAndFetch(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        modify: (inout Self) throws -> Void
    ) throws -> Self? {
        try updateChangesAndFetch(db, onConflict: conflictResolution, as: Self.self, modify: modify)
    }
}

extension MutablePersistableRecord {
    /// Changes the record, updates the columns that differ, and reads the row.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - type: The type of the record that is returned.
    ///     - modify: Changes the record.
    /// - returns: What the record is in the database, or nil when nothing differs.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is no such row, a ``DatabaseError``, and what the callbacks throw.
    public mutating func updateChangesAndFetch<Record: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as type: Record.Type, modify: (inout Self) throws -> Void
    ) throws -> Record? {
        try updateChangesAndFetch(
            db, onConflict: conflictResolution, selection: Record.databaseSelection,
            fetch: { try Record.fetchOne($0) }, modify: modify
        ).flatMap { $0 }
    }

    /// Changes the record, updates the columns that differ, and reads the row.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - selection: What the statement selects of the row.
    ///     - fetch: Reads the result of the statement.
    ///     - modify: Changes the record.
    /// - returns: What the function returns, or nil when nothing differs.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is no such row, a ``DatabaseError``, and what the callbacks throw.
    public mutating func updateChangesAndFetch<Value>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        selection: [any SQLSelectable], fetch: (Statement) throws -> Value,
        modify: (inout Self) throws -> Void
    ) throws -> Value? {
        let columns = try databaseChanges(modify: modify).keys
        guard !columns.isEmpty else { return nil }
        return try updateAndFetch(
            db, onConflict: conflictResolution, columns: Array(columns), selection: selection, fetch: fetch)
    }

    /// Changes the record, updates the columns that differ, and reads the row.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - fetch: Reads the result of the statement.
    ///     - select: Returns what the statement selects of the row.
    ///     - modify: Changes the record.
    /// - returns: What the function returns, or nil when nothing differs.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when
    ///   there is no such row, a ``DatabaseError``, and what the callbacks throw.
    public mutating func updateChangesAndFetch<Value>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        fetch: (Statement) throws -> Value,
        select: (DatabaseComponents) throws -> [any SQLSelectable],
        modify: (inout Self) throws -> Void
    ) throws -> Value? {
        try updateChangesAndFetch(
            db, onConflict: conflictResolution, selection: select(Self.databaseComponents), fetch: fetch,
            modify: modify)
    }
}
