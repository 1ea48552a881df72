// Statements from SQL literals.

extension Database {
    /// Executes the statements of a literal.
    ///
    /// ```swift
    /// try db.execute(literal: "UPDATE player SET name = \(name) WHERE id = \(id)")
    /// ```
    ///
    /// - throws: A ``DatabaseError``.
    public func execute(literal: SQL) throws {
        let (sql, arguments) = try literal.build(self)
        try execute(sql: sql, arguments: arguments)
    }

    /// Prepares the statement of a literal, with its arguments set.
    ///
    /// - throws: A ``DatabaseError``.
    public func makeStatement(literal: SQL) throws -> Statement {
        let (sql, arguments) = try literal.build(self)
        let statement = try makeStatement(sql: sql)
        // The caller gives the arguments of a literal that has placeholders.
        if !arguments.isEmpty { try statement.setArguments(arguments) }
        return statement
    }

    /// Returns the statement of a literal from the connection's cache, or prepares
    /// it, with its arguments set.
    ///
    /// - throws: A ``DatabaseError``.
    public func cachedStatement(literal: SQL) throws -> Statement {
        let (sql, arguments) = try literal.build(self)
        let statement = try cachedStatement(sql: sql)
        // The caller gives the arguments of a literal that has placeholders.
        if !arguments.isEmpty { try statement.setArguments(arguments) }
        return statement
    }
}
