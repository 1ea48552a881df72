extension Database {
    /// Returns a cursor of the foreign key violations in the main and attached databases.
    ///
    /// - throws: A ``DatabaseError``.
    public func foreignKeyViolations() throws -> ForeignKeyViolationCursor {
        try ForeignKeyViolationCursor(
            rows: Row.fetchCursor(self, sql: "PRAGMA foreign_key_check"), schemaID: nil, self)
    }

    /// Returns a cursor of the foreign key violations in a table.
    ///
    /// - parameters:
    ///     - name: The name of the table.
    ///     - schemaName: As in ``tableExists(_:in:)``.
    /// - throws: A ``DatabaseError``, also when there is no such table.
    public func foreignKeyViolations(
        in name: String, in schemaName: String? = nil
    ) throws -> ForeignKeyViolationCursor {
        guard let table = try find(.table, name, in: schemaName) else {
            throw DatabaseError.noSuchTable(name)
        }
        let sql = """
            PRAGMA \(table.schemaID.name.quotedDatabaseIdentifier).foreign_key_check(\
            \(table.name.quotedDatabaseIdentifier))
            """
        return try ForeignKeyViolationCursor(
            rows: Row.fetchCursor(self, sql: sql), schemaID: table.schemaID, self)
    }

    /// Throws an error that describes a foreign key violation, if there is one.
    ///
    /// - throws: A ``DatabaseError`` of code `SQLITE_CONSTRAINT_FOREIGNKEY`. Its
    ///   message holds values of the row.
    public func checkForeignKeys() throws {
        try throwFirst(of: foreignKeyViolations())
    }

    /// Throws an error that describes a foreign key violation in a table, if there is one.
    ///
    /// - parameters:
    ///     - name: The name of the table.
    ///     - schemaName: As in ``tableExists(_:in:)``.
    /// - throws: A ``DatabaseError`` of code `SQLITE_CONSTRAINT_FOREIGNKEY`, whose
    ///   message holds values of the row; one of `SQLITE_ERROR` when there is no such table.
    public func checkForeignKeys(in name: String, in schemaName: String? = nil) throws {
        try throwFirst(of: foreignKeyViolations(in: name, in: schemaName))
    }

    private func throwFirst(of violations: ForeignKeyViolationCursor) throws {
        guard let violation = try violations.next() else { return }
        throw violation.databaseError(self)
    }
}
