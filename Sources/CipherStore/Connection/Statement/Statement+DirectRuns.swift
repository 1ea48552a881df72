import CSQLCipher

// Runs of a statement by a loop of the caller's, which binds and steps it itself.
//
// The order is `beginDirectRun`, the binding of each parameter, `startDirectRun`, steps by `RawStep`, and one of
// `endDirectRun`, `failDirectRun` and `abandonDirectRun`. Nothing of the run is left when the statement is
// handed out again: `Database.cachedStatement(sql:)` forgets the arguments.

extension Statement {
    /// Whether somebody is reading the rows of the statement.
    package var isBusy: Bool { isInUse }

    /// Whether the statement changes the schema, and has to run by `execute(arguments:)`.
    package var changesSchema: Bool { schemaEffect != .none }

    /// How many parameters the statement has.
    package var parameterCount: Int { parameterNames.count }

    /// Makes the statement ready for the binding of its parameters.
    ///
    /// - throws: A ``DatabaseError`` when it may not run.
    package func beginDirectRun(on database: Database) throws {
        if watch.isOn { try checkMayStep() }
        try database.checkMayRun(sql)
        if changesRows && database.schema.looksForTracking { database.noticeTracking() }
        journalFree?.willRun(self, database)
        rewind()
        guard !parameterNames.isEmpty else { return }
        if !boundArguments.isEmpty { boundArguments = StatementArguments() }
        binding = .missing
    }

    /// Tells the connection that the first step comes now, after the parameters were bound with a result code.
    ///
    /// - throws: A ``DatabaseError`` when a value was not bound.
    package func startDirectRun(_ code: CInt) throws {
        guard code == SQLITE_OK else {
            let error = bindingError(code)
            resetHandle()
            throw error
        }
        if isWatched { try willStep() }
        isRewound = false
    }

    /// Ends a run that has come to its end.
    ///
    /// - throws: What an observer throws that refuses the transaction.
    package func endDirectRun(on database: Database) throws {
        do {
            try didRun(on: database)
        } catch {
            resetHandle()
            throw error
        }
        sqlite3_reset(sqliteStatement)
        isRewound = true
    }

    /// Ends a run whose last step has failed.
    ///
    /// - parameter arguments: What was bound, for the error.
    /// - returns: The error.
    package func failDirectRun(_ arguments: StatementArguments) -> any Error {
        boundArguments = arguments
        let failure = error()
        boundArguments = StatementArguments()
        resetHandle()
        return didFail(failure)
    }

    /// Ends a run of which no more rows are wanted; a statement that writes runs to its end.
    ///
    /// - throws: A ``DatabaseError``, or what a transaction observer throws.
    package func abandonDirectRun() throws { try finish() }
}
