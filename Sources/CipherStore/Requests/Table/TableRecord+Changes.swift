// Changes and checks that begin with a record type.

extension TableRecord {
    /// Deletes all rows.
    ///
    /// - returns: The number of deleted rows.
    /// - throws: A ``DatabaseError``.
    @discardableResult
    public static func deleteAll(_ db: Database) throws -> Int {
        try all().deleteAll(db)
    }

    /// Deletes the rows with primary keys.
    ///
    /// - returns: The number of deleted rows.
    /// - throws: A ``DatabaseError``.
    @discardableResult
    public static func deleteAll<Keys: Collection>(_ db: Database, keys: Keys) throws -> Int
    where Keys.Element: DatabaseValueConvertible {
        if keys.isEmpty { return 0 }
        return try all().filter(keys: keys).deleteAll(db)
    }

    /// Deletes the rows with unique keys, such as `[["email": "a@example.com"]]`.
    ///
    /// - returns: The number of deleted rows.
    /// - throws: A ``DatabaseError``.
    @discardableResult
    public static func deleteAll(_ db: Database, keys: [[String: (any DatabaseValueConvertible)?]]) throws
        -> Int
    {
        if keys.isEmpty { return 0 }
        return try all().filter(keys: keys).deleteAll(db)
    }

    /// Deletes the row with a primary key.
    ///
    /// - returns: Whether there was one.
    /// - throws: A ``DatabaseError``.
    @discardableResult
    public static func deleteOne(_ db: Database, key: some DatabaseValueConvertible) throws -> Bool {
        if key.databaseValue.isNull { return false }
        return try all().filter(key: key).deleteAll(db) > 0
    }

    /// Deletes the row with a unique key, such as `["email": "a@example.com"]`.
    ///
    /// - returns: Whether there was one.
    /// - throws: A ``DatabaseError``.
    @discardableResult
    public static func deleteOne(_ db: Database, key: [String: (any DatabaseValueConvertible)?]) throws
        -> Bool
    {
        try all().filter(key: key).deleteAll(db) > 0
    }

    /// Returns whether there is a row with a primary key.
    ///
    /// - throws: A ``DatabaseError``.
    public static func exists(_ db: Database, key: some DatabaseValueConvertible) throws -> Bool {
        if key.databaseValue.isNull { return false }
        return try !all().filter(key: key).select(.allColumns).isEmpty(db)
    }

    /// Returns whether there is a row with a unique key.
    ///
    /// - throws: A ``DatabaseError``.
    public static func exists(_ db: Database, key: [String: (any DatabaseValueConvertible)?]) throws -> Bool {
        try !all().filter(key: key).select(.allColumns).isEmpty(db)
    }

    /// Updates all rows; see ``QueryInterfaceRequest/updateAll(_:onConflict:_:)-(_,_,ColumnAssignment...)``.
    ///
    /// - returns: The number of updated rows.
    /// - throws: A ``DatabaseError``.
    @discardableResult
    public static func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: [ColumnAssignment]
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignments)
    }

    /// Updates all rows.
    @discardableResult
    public static func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        _ assignments: ColumnAssignment...
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignments)
    }
}

extension TableRecord {
    /// Updates all rows: `updateAll(db) { $0.score += 10 }`.
    @discardableResult
    public static func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignment: (DatabaseComponents) throws -> ColumnAssignment
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignment: assignment)
    }

    /// Updates all rows: `updateAll(db) { [$0.score += 10, $0.bonus.set(to: 0)] }`.
    @discardableResult
    public static func updateAll(
        _ db: Database, onConflict conflictResolution: Database.ConflictResolution? = nil,
        assignments: (DatabaseComponents) throws -> [ColumnAssignment]
    ) throws -> Int {
        try all().updateAll(db, onConflict: conflictResolution, assignments: assignments)
    }
}

extension TableRecord where Self: Identifiable, ID: DatabaseValueConvertible {
    /// Deletes the rows with some ids.
    ///
    /// - returns: The number of deleted rows.
    /// - throws: A ``DatabaseError``.
    @discardableResult
    public static func deleteAll<IDs: Collection>(_ db: Database, ids: IDs) throws -> Int
    where IDs.Element == ID {
        try deleteAll(db, keys: ids)
    }

    /// Deletes the row with an id.
    ///
    /// - returns: Whether there was one.
    /// - throws: A ``DatabaseError``.
    @discardableResult
    public static func deleteOne(_ db: Database, id: ID) throws -> Bool {
        try deleteOne(db, key: id)
    }

    /// Returns whether there is a row with an id.
    ///
    /// - throws: A ``DatabaseError``.
    public static func exists(_ db: Database, id: ID) throws -> Bool {
        try exists(db, key: id)
    }
}
