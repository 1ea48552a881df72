import CSQLCipher

extension Statement {
    /// Whether somebody is reading the rows of the statement.
    var isInUse: Bool { currentRun != nil || sqlite3_stmt_busy(sqliteStatement) != 0 }

    /// Makes the statement ready to run again; its arguments stay.
    public func reset() {
        resetHandle()
        if let run = currentRun {
            currentRun = nil
            run.isReplaced()
        }
    }

    /// Rewinds the statement, unless it is known to be at its start.
    ///
    /// Whoever has stepped it through the C API is noticed while it is busy, and
    /// when it refuses a value: see ``bindRewinding(_:)``.
    @inline(__always)
    func rewind() {
        if isRewound && currentRun == nil && sqlite3_stmt_busy(sqliteStatement) == 0 { return }
        reset()
    }

    /// Makes the statement ready to run again, whoever reads its rows.
    @inline(__always)
    private func resetHandle() {
        // The code of a reset repeats the error of the last step.
        sqlite3_reset(sqliteStatement)
        isRewound = true
    }

    /// Binds values to a statement that was rewound.
    @inline(__always)
    func bindRewinding(_ bind: () -> CInt) -> CInt {
        let code = bind()
        guard code == SQLITE_MISUSE else { return code }
        // It has come to its end through the C API.
        reset()
        return bind()
    }

    /// Moves to the next row.
    ///
    /// - returns: Whether there is one.
    /// - throws: A ``DatabaseError``, or what a transaction observer throws; the
    ///   statement is reset.
    @inlinable
    public func step() throws -> Bool {
        if watch.isOn { willStep() }
        isRewound = false
        guard let result = RawStep.next(sqliteStatement) else { throw stepError() }
        if !result { try didRun() }
        return result
    }

    /// Tells the connection that the statement starts, if it does.
    @usableFromInline func willStep() {
        if sqlite3_stmt_busy(sqliteStatement) == 0 { database.willRunWatched(self) }
    }

    @usableFromInline func stepError() -> any Error {
        let error = self.error()
        resetHandle()
        return didFail(error)
    }

    /// Tells the connection that the statement has come to its end.
    ///
    /// - throws: What an observer throws that refuses the transaction.
    @usableFromInline func didRun() throws { try didRun(on: database) }

    /// The same, for a caller that has the connection at hand.
    @inline(__always)
    func didRun(on database: Database) throws {
        if schemaEffect != .none { database.didRunStatement(schemaEffect) }
        if watch.isOn { database.didRunWatched(self) }
        if let error = database.statementDidEnd() { throw error }
    }

    /// Tells the connection that the statement has failed, and was reset.
    ///
    /// - returns: The error of the observer that made it fail, or the
    ///   statement's own.
    func didFail(_ error: DatabaseError) -> any Error {
        database.didFailStatement()
        database.broker.fail()
        return database.statementDidEnd() ?? error
    }

    /// Runs the statement to its end, dropping the rows it makes.
    ///
    /// - parameter arguments: Arguments for this run and the next ones, or nil
    ///   for those that were set.
    /// - throws: A ``DatabaseError``.
    public func execute(arguments: StatementArguments? = nil) throws {
        if schemaEffect == .change, !database.schema.isReporting, let statement = SchemaStatement(sql: sql) {
            return try database.reporting(statement.change, of: statement.table) { try run(arguments) }
        }
        try run(arguments)
    }

    private func run(_ arguments: StatementArguments?) throws {
        // Asked for once, because it is not free to see that it still lives.
        let database = database
        try prepareToRun(arguments, on: database)
        if watch.isOn { willStep() }
        try runToEnd(on: database)
        if arguments != nil { clearBindings() }
    }

    /// Steps to the end, and rewinds.
    @inline(__always)
    func runToEnd(on database: Database) throws {
        isRewound = false
        while true {
            guard let hasRow = RawStep.next(sqliteStatement) else { throw stepError() }
            if !hasRow { break }
        }
        try didRun(on: database)
        resetHandle()
    }

    /// Sets arguments, checks that none is missing, and rewinds.
    func prepareToRun(_ arguments: StatementArguments?) throws {
        try prepareToRun(arguments, on: database)
    }

    @inline(__always)
    private func prepareToRun(_ arguments: StatementArguments?, on database: Database) throws {
        try database.checkMayRun(sql)
        // Setting arguments rewinds too.
        if let arguments { return try setArguments(arguments) }
        switch binding {
        case .current: rewind()
        case .missing: _ = try resolve(boundArguments)
        case .cleared: try setArguments(boundArguments)
        case .failed(let error): throw error
        }
    }

    /// Makes the statement follow a run.
    func begin(_ run: StatementRun) {
        currentRun = run
    }

    /// Ends a run and rewinds.
    func end(_ run: StatementRun) {
        guard currentRun === run else { return }
        currentRun = nil
        resetHandle()
    }

    /// The error of a step that was made through ``RawStep``.
    package var failure: DatabaseError { error() }

    func error() -> DatabaseError {
        database.lastError(sql: sql, arguments: boundArguments.isEmpty ? nil : boundArguments)
    }
}
