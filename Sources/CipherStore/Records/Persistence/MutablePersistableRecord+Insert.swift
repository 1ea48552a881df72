extension MutablePersistableRecord {
    /// Inserts the record.
    ///
    /// A record whose primary key is a UUID that is nil, or that leaves out a
    /// primary key of type `BLOB` or `UUID`, gets a new key: a UUID of version 7.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    /// - throws: A ``DatabaseError``, and what the callbacks throw.
    public mutating func insert(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws {
        try saving(db) { record in
            PersistenceSuccess(try record.insertWithCallbacks(db, onConflict: conflictResolution))
        }
    }

    /// Inserts a copy of the record, and returns it.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    /// - throws: A ``DatabaseError``, and what the callbacks throw.
    public func inserted(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws -> Self {
        var record = self
        try record.insert(db, onConflict: conflictResolution)
        return record
    }
}

extension PersistableRecord {
    /// Inserts the record.
    ///
    /// A record whose primary key is a UUID that is nil, or that leaves out a
    /// primary key of type `BLOB` or `UUID`, gets a new key: a UUID of version 7.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictResolution: What becomes of a record that violates a
    ///       constraint; as its type says when nil.
    /// - throws: A ``DatabaseError``, and what the callbacks throw.
    @inlinable
    public func insert(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) throws {
        // Neither the record nor a copy of it changes, which is faster than the general way.
        try willSave(db)
        var saved: PersistenceSuccess?
        try aroundSave(db) {
            try willInsert(db)
            var inserted: InsertionSuccess?
            try aroundInsert(db) {
                let success = try insertWithoutCallbacks(db, onConflict: conflictResolution)
                inserted = success
                return success
            }
            guard let inserted else { throw Self.missingCall("aroundInsert", "insert") }
            didInsert(inserted)
            let success = PersistenceSuccess(inserted)
            saved = success
            return success
        }
        guard let saved else { throw Self.missingCall("aroundSave", "save") }
        didSave(saved)
    }
}

// MARK: - Callbacks

extension MutablePersistableRecord {
    /// Saves between the callbacks that all kinds of saving have.
    mutating func saving(
        _ db: Database, _ save: (inout Self) throws -> PersistenceSuccess
    ) throws {
        try willSave(db)
        var saved: PersistenceSuccess?
        // The callback reads the record while the function changes it.
        let before = self
        try before.aroundSave(db) {
            let success = try save(&self)
            saved = success
            return success
        }
        guard let saved else { throw Self.missingCall("aroundSave", "save") }
        didSave(saved)
    }

    /// Inserts between the callbacks of insertions.
    mutating func insertWithCallbacks(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution?
    ) throws -> InsertionSuccess {
        try inserting(db) { try $0.insertWithoutCallbacks(db, onConflict: conflictResolution) }
    }

    /// Inserts between the callbacks of insertions.
    mutating func inserting(
        _ db: Database, _ insert: (Self) throws -> InsertionSuccess
    ) throws -> InsertionSuccess {
        try willInsert(db)
        var inserted: InsertionSuccess?
        try aroundInsert(db) {
            let success = try insert(self)
            inserted = success
            return success
        }
        guard let inserted else { throw Self.missingCall("aroundInsert", "insert") }
        didInsert(inserted)
        return inserted
    }

    @usableFromInline static func missingCall(_ callback: String, _ function: String) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: "\(Self.self).\(callback) did not call its \(function) function")
    }

    /// Inserts the record.
    @usableFromInline func insertWithoutCallbacks(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution?
    ) throws -> InsertionSuccess {
        let type = type(of: self)
        let plan = try db.recordPlans.plan(db, for: type)
        var container = try plan.encode(self)
        let conflict = conflictResolution ?? type.persistenceConflictPolicy.conflictResolutionForInsert
        let insertion = try plan.insertion(db, of: &container, conflict)
        db.forgetChangeCounts()
        try insertion.statement.execute(container.storage)
        plan.giveBack(container)
        return InsertionSuccess(
            rowID: db.writtenRowID, rowIDColumn: plan.rowIDColumn,
            persistenceContainer: container)
    }
}
