// Saving records and reading their rows, which may have defaults and generated values.

extension MutablePersistableRecord {
    /// Updates the record's row, or inserts it when there is none, and reads the row.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - type: The type of the record that is returned.
    /// - returns: What the record is in the database.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when the
    ///   `IGNORE` policy left the row out, a ``DatabaseError``, and what the callbacks throw.
    public mutating func saveAndFetch<Record: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as type: Record.Type
    ) throws -> Record {
        let record = try saveAndFetch(
            db, onConflict: conflictResolution, selection: Record.databaseSelection,
            fetch: { try Record.fetchOne($0) })
        if let record { return record }
        throw try notWritten(db)
    }

    /// Updates the record's row, or inserts it when there is none, and reads the row.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - selection: What the statement selects of the row.
    ///     - fetch: Reads the result of the statement.
    /// - returns: What the function returns.
    /// - throws: A ``DatabaseError``, and what the callbacks and the functions throw.
    public mutating func saveAndFetch<Value>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        selection: [any SQLSelectable], fetch: (Statement) throws -> Value
    ) throws -> Value {
        try withoutActuallyEscaping(fetch) { fetch in
            let returning = Returning(selection, fetch)
            return try self.savingAndFetching(db) { record in
                try record.updateOrInsert(db) {
                    try $0.updateWithCallbacks(db, conflictResolution, columns: nil, returning)
                } insert: { record in
                    let (success, value) = try record.insertWithCallbacks(
                        db, onConflict: conflictResolution, returning)
                    return (PersistenceSuccess(success), value)
                }
            }
        }
    }

    /// Updates the record's row, or inserts it when there is none, and reads the row.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - fetch: Reads the result of the statement.
    ///     - select: Returns what the statement selects of the row.
    /// - returns: What the function returns.
    /// - throws: A ``DatabaseError``, and what the callbacks and the functions throw.
    public mutating func saveAndFetch<Value>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        fetch: (Statement) throws -> Value,
        select: (DatabaseComponents) throws -> [any SQLSelectable]
    ) throws -> Value {
        try saveAndFetch(
            db, onConflict: conflictResolution, selection: select(Self.databaseComponents), fetch: fetch)
    }
}

extension MutablePersistableRecord where Self: FetchableRecord {
    /// Updates the record's row, or inserts it when there is none, and reads the row.
    ///
    /// This record stays as it is: the one that is returned has what the row has.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    /// - returns: What the record is in the database.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when the
    ///   `IGNORE` policy left the row out, a ``DatabaseError``, and what the callbacks throw.
    public func saveAndFetch(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws -> Self {
        var record = self
        return try record.saveAndFetch(db, onConflict: conflictResolution, as: Self.self)
    }
}

extension PersistableRecord {
    /// Updates the record's row, or inserts it when there is none, and reads the row.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - type: The type of the record that is returned.
    /// - returns: What the record is in the database.
    /// - throws: ``RecordError/recordNotFound(databaseTableName:key:)`` when the
    ///   `IGNORE` policy left the row out, a ``DatabaseError``, and what the callbacks throw.
    public func saveAndFetch<Record: FetchableRecord & TableRecord>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        as type: Record.Type
    ) throws -> Record {
        let record = try saveAndFetch(
            db, onConflict: conflictResolution, selection: Record.databaseSelection,
            fetch: { try Record.fetchOne($0) })
        if let record { return record }
        throw try notWritten(db)
    }

    /// Updates the record's row, or inserts it when there is none, and reads the row.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - selection: What the statement selects of the row.
    ///     - fetch: Reads the result of the statement.
    /// - returns: What the function returns.
    /// - throws: A ``DatabaseError``, and what the callbacks and the functions throw.
    public func saveAndFetch<Value>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        selection: [any SQLSelectable], fetch: (Statement) throws -> Value
    ) throws -> Value {
        try withoutActuallyEscaping(fetch) { fetch in
            let returning = Returning(selection, fetch)
            var record = self
            return try record.savingAndFetching(db) { record in
                try record.updateOrInsert(db) {
                    try $0.updateWithCallbacks(db, conflictResolution, columns: nil, returning)
                } insert: { record in
                    let (success, value) = try record.insertWithCallbacks(
                        db, onConflict: conflictResolution, returning)
                    return (PersistenceSuccess(success), value)
                }
            }
        }
    }

    /// Updates the record's row, or inserts it when there is none, and reads the row.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    ///     - fetch: Reads the result of the statement.
    ///     - select: Returns what the statement selects of the row.
    /// - returns: What the function returns.
    /// - throws: A ``DatabaseError``, and what the callbacks and the functions throw.
    public func saveAndFetch<Value>(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        fetch: (Statement) throws -> Value,
        select: (DatabaseComponents) throws -> [any SQLSelectable]
    ) throws -> Value {
        try saveAndFetch(
            db, onConflict: conflictResolution, selection: select(Self.databaseComponents), fetch: fetch)
    }
}
