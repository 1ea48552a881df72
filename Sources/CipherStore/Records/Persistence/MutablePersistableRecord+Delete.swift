extension MutablePersistableRecord {
    /// Deletes the record's row.
    ///
    /// - returns: Whether there was one.
    /// - throws: A ``DatabaseError``, and what the callbacks throw.
    @discardableResult
    public func delete(_ db: Database) throws -> Bool {
        try willDelete(db)
        var deleted: Bool?
        try aroundDelete(db) {
            let result = try deleteWithoutCallbacks(db)
            deleted = result
            return result
        }
        guard let deleted else { throw Self.missingCall("aroundDelete", "delete") }
        didDelete(deleted: deleted)
        return deleted
    }

    private func deleteWithoutCallbacks(_ db: Database) throws -> Bool {
        let plan = try db.recordPlans.plan(db, for: type(of: self))
        let container = try plan.encode(self)
        guard let positions = plan.keyPositions(in: container) else { return false }
        let key = positions.map { container.value(at: $0) }
        let deletion = try plan.deletion(db)
        let total = db.beginCountingChanges()
        try deletion.execute(arguments: StatementArguments(key))
        return try db.hasChangedRows(of: plan.tableName, since: total)
    }

    /// Returns whether the table has a row of the record's primary key.
    ///
    /// - throws: A ``DatabaseError``.
    public func exists(_ db: Database) throws -> Bool {
        let plan = try db.recordPlans.plan(db, for: type(of: self))
        let container = try plan.encode(self)
        guard let positions = plan.keyPositions(in: container) else { return false }
        let statement = try db.cachedStatement(
            sql:
                "SELECT EXISTS (SELECT 1 FROM \(plan.tableName.quotedDatabaseIdentifier) WHERE \(plan.keyCondition))"
        )
        let row = try Row.fetchOne(
            statement, arguments: StatementArguments(positions.map { container.value(at: $0) }))
        return try row?.decode(atIndex: 0) ?? false
    }
}
