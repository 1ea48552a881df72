extension MutablePersistableRecord {
    /// Updates the record's row, or inserts it when there is none.
    ///
    /// A record without a primary key is inserted at once.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    /// - throws: A ``DatabaseError``, and what the callbacks throw.
    public mutating func save(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws {
        try saving(db) { record in
            try record.updateOrInsert(db) {
                try $0.updateWithCallbacks(db, conflictResolution, columns: nil)
            } insert: {
                PersistenceSuccess(try $0.insertWithCallbacks(db, onConflict: conflictResolution))
            }
        }
    }

    /// Saves a copy of the record, and returns it.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    /// - throws: A ``DatabaseError``, and what the callbacks throw.
    public func saved(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws -> Self {
        var record = self
        try record.save(db, onConflict: conflictResolution)
        return record
    }

    /// Updates a record that has a key, and inserts it when that finds no row.
    mutating func updateOrInsert<Success>(
        _ db: Database, update: (Self) throws -> Success, insert: (inout Self) throws -> Success
    ) throws -> Success {
        let plan = try db.recordPlans.plan(db, for: type(of: self))
        let container = try plan.encode(self)
        guard plan.keyPositions(in: container) != nil else { return try insert(&self) }
        do {
            return try update(self)
        } catch RecordError.recordNotFound(
            databaseTableName: plan.tableName, key: plan.keyDictionary(of: container))
        {
            return try insert(&self)
        }
    }
}

extension PersistableRecord {
    /// Updates the record's row, or inserts it when there is none.
    ///
    /// A record without a primary key is inserted at once.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    /// - throws: A ``DatabaseError``, and what the callbacks throw.
    public func save(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws {
        var record = self
        try record.saving(db) { record in
            try record.updateOrInsert(db) {
                try $0.updateWithCallbacks(db, conflictResolution, columns: nil)
            } insert: {
                PersistenceSuccess(try $0.insertWithCallbacks(db, onConflict: conflictResolution))
            }
        }
    }
}
