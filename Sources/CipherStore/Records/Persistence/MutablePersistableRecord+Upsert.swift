// Inserting records, or updating the rows that are in their way.

extension MutablePersistableRecord {
    /// Inserts the record, or updates the row that has the same primary key, or
    /// the same values in the columns of another unique index.
    ///
    /// The update overwrites all columns that the record sets, but the primary
    /// key. The callbacks are those of an insertion.
    ///
    /// - throws: A ``DatabaseError``, and what the callbacks throw.
    public mutating func upsert(_ db: Database) throws {
        _ = try self.upsertWithCallbacks(db, Upsert(), selection: []) { _ in }
    }

    /// Inserts the record, or updates the row in its way, and reads the row.
    ///
    /// ```swift
    /// let word = try word.upsertAndFetch(
    ///     db, as: Word.self, onConflict: ["text"],
    ///     doUpdate: { _ in [Column("count") += 1] })
    /// ```
    ///
    /// The callbacks are those of an insertion.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - type: The type of the record that is returned.
    ///     - conflictTarget: The columns of the primary key, or of a unique
    ///       index, that makes it an update. None for all keys of the table.
    ///     - strategy: Which columns the update overwrites.
    ///     - assignments: Returns what else the update assigns. It gets a name
    ///       for the row that could not be inserted.
    /// - returns: What the record is in the database.
    /// - throws: A ``DatabaseError``, and what the callbacks throw.
    public mutating func upsertAndFetch<Record: FetchableRecord & TableRecord>(
        _ db: Database, as type: Record.Type, onConflict conflictTarget: [String] = [],
        updating strategy: UpsertUpdateStrategy = .allColumns,
        doUpdate assignments: ((_ excluded: TableAlias<Self>) -> [ColumnAssignment])? = nil
    ) throws -> Record {
        let upsert = Upsert(
            conflictTarget: conflictTarget, strategy: strategy,
            assignments: assignments?(TableAlias(name: "excluded")) ?? [])
        return try self.upsertWithCallbacks(db, upsert, selection: Record.databaseSelection) { row in
            try Record(row: row)
        }
    }
}

extension MutablePersistableRecord where Self: FetchableRecord {
    /// Inserts the record, or updates the row in its way, and reads the row.
    ///
    /// ```swift
    /// let word = try word.upsertAndFetch(
    ///     db, onConflict: ["text"], doUpdate: { _ in [Column("count") += 1] })
    /// ```
    ///
    /// The callbacks are those of an insertion.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictTarget: The columns of the primary key, or of a unique
    ///       index, that makes it an update. None for all keys of the table.
    ///     - strategy: Which columns the update overwrites.
    ///     - assignments: Returns what else the update assigns. It gets a name
    ///       for the row that could not be inserted.
    /// - returns: What the record is in the database.
    /// - throws: A ``DatabaseError``, and what the callbacks throw.
    public mutating func upsertAndFetch(
        _ db: Database, onConflict conflictTarget: [String] = [],
        updating strategy: UpsertUpdateStrategy = .allColumns,
        doUpdate assignments: ((_ excluded: TableAlias<Self>) -> [ColumnAssignment])? = nil
    ) throws -> Self {
        try upsertAndFetch(
            db, as: Self.self, onConflict: conflictTarget, updating: strategy, doUpdate: assignments)
    }
}

extension PersistableRecord {
    /// Inserts the record, or updates the row that has the same primary key, or
    /// the same values in the columns of another unique index.
    ///
    /// The update overwrites all columns that the record sets, but the primary
    /// key. The callbacks are those of an insertion.
    ///
    /// - throws: A ``DatabaseError``, and what the callbacks throw.
    public func upsert(_ db: Database) throws {
        var record = self
        _ = try record.upsertWithCallbacks(db, Upsert(), selection: []) { _ in }
    }

    /// Inserts the record, or updates the row in its way, and reads the row.
    ///
    /// ```swift
    /// let word = try word.upsertAndFetch(
    ///     db, as: Word.self, onConflict: ["text"],
    ///     doUpdate: { _ in [Column("count") += 1] })
    /// ```
    ///
    /// The callbacks are those of an insertion.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - type: The type of the record that is returned.
    ///     - conflictTarget: The columns of the primary key, or of a unique
    ///       index, that makes it an update. None for all keys of the table.
    ///     - strategy: Which columns the update overwrites.
    ///     - assignments: Returns what else the update assigns. It gets a name
    ///       for the row that could not be inserted.
    /// - returns: What the record is in the database.
    /// - throws: A ``DatabaseError``, and what the callbacks throw.
    public func upsertAndFetch<Record: FetchableRecord & TableRecord>(
        _ db: Database, as type: Record.Type, onConflict conflictTarget: [String] = [],
        updating strategy: UpsertUpdateStrategy = .allColumns,
        doUpdate assignments: ((_ excluded: TableAlias<Self>) -> [ColumnAssignment])? = nil
    ) throws -> Record {
        let upsert = Upsert(
            conflictTarget: conflictTarget, strategy: strategy,
            assignments: assignments?(TableAlias(name: "excluded")) ?? [])
        var record = self
        return try record.upsertWithCallbacks(db, upsert, selection: Record.databaseSelection) { row in
            try Record(row: row)
        }
    }
}

extension PersistableRecord where Self: FetchableRecord {
    /// Inserts the record, or updates the row in its way, and reads the row.
    ///
    /// ```swift
    /// let word = try word.upsertAndFetch(
    ///     db, onConflict: ["text"], doUpdate: { _ in [Column("count") += 1] })
    /// ```
    ///
    /// The callbacks are those of an insertion.
    ///
    /// - parameters:
    ///     - db: A connection.
    ///     - conflictTarget: The columns of the primary key, or of a unique
    ///       index, that makes it an update. None for all keys of the table.
    ///     - strategy: Which columns the update overwrites.
    ///     - assignments: Returns what else the update assigns. It gets a name
    ///       for the row that could not be inserted.
    /// - returns: What the record is in the database.
    /// - throws: A ``DatabaseError``, and what the callbacks throw.
    public func upsertAndFetch(
        _ db: Database, onConflict conflictTarget: [String] = [],
        updating strategy: UpsertUpdateStrategy = .allColumns,
        doUpdate assignments: ((_ excluded: TableAlias<Self>) -> [ColumnAssignment])? = nil
    ) throws -> Self {
        try upsertAndFetch(
            db, as: Self.self, onConflict: conflictTarget, updating: strategy, doUpdate: assignments)
    }
}

extension MutablePersistableRecord {
    /// Upserts between the callbacks of insertions.
    fileprivate mutating func upsertWithCallbacks<Value>(
        _ db: Database, _ upsert: Upsert, selection: [any SQLSelectable], _ decode: (Row) throws -> Value
    ) throws -> Value {
        try savingAndFetching(db) { record in
            var value: Value?
            let success = try record.inserting(db) { record in
                let (success, read) = try record.upsertWithoutCallbacks(
                    db, upsert, selection: selection, decode)
                value = read
                return success
            }
            guard let value else { throw Self.missingCall("aroundInsert", "insert") }
            return (PersistenceSuccess(success), value)
        }
    }
}
