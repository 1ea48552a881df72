extension Database {
    /// Prepares a statement.
    ///
    /// - throws: A ``DatabaseError``, also when `sql` holds no statement or
    ///   more than one.
    public func makeStatement(sql: String) throws -> Statement {
        var offset = 0
        guard let statement = try Statement.prepare(database: self, sql: sql, offset: &offset) else {
            throw DatabaseError(resultCode: .SQLITE_ERROR, message: "empty statement", sql: sql)
        }
        guard isBlank(sql, from: offset) else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: """
                    Multiple statements found. To execute multiple statements, use \
                    Database.execute(sql:) or Database.allStatements(sql:) instead.
                    """, sql: sql)
        }
        return statement
    }

    /// Whether nothing but blanks, comments and semicolons follows.
    private func isBlank(_ sql: String, from offset: Int) -> Bool {
        if offset >= sql.utf8.count { return true }
        var offset = offset
        // What can't be prepared is no blank either.
        guard let rest = try? Statement.prepare(database: self, sql: sql, offset: &offset) else {
            return offset >= sql.utf8.count
        }
        _ = rest
        return false
    }

    /// Returns a prepared statement, from the connection's cache when it is
    /// there and nobody is reading its rows.
    ///
    /// It has no arguments, whatever it was used for before. Don't keep it, and
    /// don't ask for it twice before you have run it.
    ///
    /// - throws: A ``DatabaseError``.
    public func cachedStatement(sql: String) throws -> Statement {
        if let statement = statementCache[sql], !statement.isInUse {
            statement.forgetArguments()
            return statement
        }
        let statement = try makeStatement(sql: sql)
        statementCache[sql] = statement
        return statement
    }

    /// Returns a cursor of the statements in a text, each prepared when the one
    /// before it has been used.
    ///
    /// ```swift
    /// let statements = try db.allStatements(sql: "INSERT INTO a …; SELECT * FROM a;")
    /// while let statement = try statements.next() {
    ///     if statement.columnCount == 0 { try statement.execute() } else { … }
    /// }
    /// ```
    ///
    /// - parameters:
    ///     - sql: The statements, separated by semicolons.
    ///     - arguments: The values of their parameters, in order, or nil when
    ///       you set the arguments of each statement.
    public func allStatements(
        sql: String, arguments: StatementArguments? = nil
    ) throws -> SQLStatementCursor {
        SQLStatementCursor(database: self, sql: sql, arguments: arguments)
    }

    /// Returns a cursor of the statements of a literal.
    ///
    /// When the literal has no values, you set the arguments of each statement.
    ///
    /// - throws: A ``DatabaseError``.
    public func allStatements(literal: SQL) throws -> SQLStatementCursor {
        let (sql, arguments) = try literal.build(self)
        return try allStatements(sql: sql, arguments: arguments.isEmpty ? nil : arguments)
    }

    /// Executes one or more statements.
    ///
    /// - parameters:
    ///     - sql: The statements, separated by semicolons.
    ///     - arguments: The values of the statements' parameters, in order.
    /// - throws: A ``DatabaseError``, after the statements before the one that fails were executed.
    public func execute(sql: String, arguments: StatementArguments = StatementArguments()) throws {
        if try executeRecurring(sql, arguments) { return }
        let statements = try allStatements(sql: sql, arguments: arguments)
        var last: Statement?
        var count = 0
        while let statement = try statements.next() {
            try statement.execute()
            last = statement
            count += 1
        }
        if count == 1, let last { noteRun(sql, last) }
    }

    func lastError(sql: String? = nil, arguments: StatementArguments? = nil) -> DatabaseError {
        if isClosed { return Self.closedError(sql: sql) }
        let error = SQLiteHandle.lastError(
            handle, sql: sql, arguments: arguments,
            publicArguments: configuration.publicStatementArguments)
        if error.resultCode == .SQLITE_AUTH, let refusal = authorizer.takeRefusal() {
            return DatabaseError(resultCode: .SQLITE_MISUSE, message: refusal, sql: sql)
        }
        return withReasonNotToWrite(error)
    }

    /// Drops the cached statements, which a change of the schema makes stale.
    func clearStatementCache() { forgetStatements() }

    /// Drops all that keeps statements for later runs.
    func forgetStatements() {
        statementCache.removeAll()
        recurringStatements.removeAll()
        readStatements.forget()
        recordPlans.removeAll()
        attachment?.connectionForgetsStatements()
    }

    /// How many parameters a statement may have.
    public var maximumStatementArgumentCount: Int {
        // 999 is what every engine allows.
        isClosed ? 999 : SQLiteHandle.maximumParameterCount(handle)
    }
}

/// A cursor of the statements in a text: ``Database/allStatements(sql:arguments:)``.
public final class SQLStatementCursor: Cursor {
    private let database: Database
    private let sql: String
    private var offset = 0
    private let arguments: StatementArguments?
    /// The positional arguments that no statement has taken.
    private var positional: ArraySlice<DatabaseValue>

    init(database: Database, sql: String, arguments: StatementArguments?) {
        self.database = database
        self.sql = sql
        self.arguments = arguments
        positional = arguments?.values[...] ?? []
    }

    /// Prepares the next statement and sets its arguments, or returns nil at the end.
    ///
    /// - throws: A ``DatabaseError``, also at the end when arguments remain.
    public func next() throws -> Statement? {
        guard let statement = try Statement.prepare(database: database, sql: sql, offset: &offset) else {
            guard positional.isEmpty else {
                positional = []
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message: "wrong number of statement arguments: \(arguments?.values.count ?? 0)")
            }
            return nil
        }
        guard var own = arguments else { return statement }
        own.values = Array(positional.prefix(statement.positionalParameterCount(in: own)))
        positional = positional.dropFirst(own.values.count)
        try statement.setArguments(own)
        return statement
    }
}
