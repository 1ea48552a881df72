import CSQLCipher

extension Statement {
    /// Whether somebody wants to know that the statement runs.
    @inlinable
    var isWatched: Bool { isFollowed ? watch.isOnForChanges : watch.isOn }

    /// Whether a statement can change rows or savepoints, by its first letters; it counts as one that can where these
    /// don't tell.
    static func isFollowed(_ sql: String, isReadonly: Bool) -> Bool {
        var bytes = sql.utf8.makeIterator()
        // What begins with a comment is not known.
        switch bytes.next().map({ $0 | 0x20 }) {
        // BEGIN, which may take a lock, and PRAGMA.
        case UInt8(ascii: "b"), UInt8(ascii: "p"): return false
        // COMMIT, END, EXPLAIN, VALUES, WITH.
        case UInt8(ascii: "c"), UInt8(ascii: "e"), UInt8(ascii: "v"), UInt8(ascii: "w"): return !isReadonly
        // SELECT, and not SAVEPOINT.
        case UInt8(ascii: "s"): return !isReadonly || bytes.next().map({ $0 | 0x20 }) != UInt8(ascii: "e")
        default: return true
        }
    }

    /// Whether somebody is reading the rows of the statement.
    var isInUse: Bool {
        currentRun != nil || sqlite3_stmt_busy(sqliteStatement) != 0 || journalFree?.isRunning == true
    }

    /// Makes the statement ready to run again; its arguments stay.
    ///
    /// Inside of an SQL function that the statement has called, nothing happens.
    public func reset() {
        guard !isCalling else { return }
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
    func resetHandle() {
        let endsEarly = isWriting
        // Otherwise the code repeats the error of the last step.
        let code = sqlite3_reset(sqliteStatement)
        isRewound = true
        if endsEarly { didEndEarly(code) }
    }

    /// Whether the statement has changed something, and has rows left.
    var isWriting: Bool {
        sqlite3_stmt_readonly(sqliteStatement) == 0 && sqlite3_stmt_busy(sqliteStatement) != 0
    }

    /// Tells the connection that the statement was ended before its last row,
    /// and its transaction with it if that was its own.
    private func didEndEarly(_ code: CInt) {
        guard !watch.isClosed else { return }
        guard code == SQLITE_OK else { return Database.log(didFail(error())) }
        if isWatched { database.didRunWatched(self) }
        if let error = database.statementDidEnd() { Database.log(error) }
    }

    /// Ends a statement of which no more rows are wanted.
    ///
    /// One that writes runs to its end: its constraints are checked there, its
    /// transaction is committed there if it is its own, and either can fail.
    ///
    /// - throws: A ``DatabaseError``, or what a transaction observer throws.
    @usableFromInline func finish() throws {
        if isWriting { while try step() {} }
        reset()
    }

    /// Whether SQLite is in the middle of the statement, which has called an SQL function.
    var isCalling: Bool {
        guard watch.functionDepth > 0 else { return false }
        // Between two steps, a statement has a row.
        return sqlite3_stmt_busy(sqliteStatement) != 0 && sqlite3_data_count(sqliteStatement) == 0
            || journalFree?.isRunning == true
    }

    /// Throws when the connection is gone, or the statement is in the middle of a step.
    @usableFromInline func checkMayStep() throws {
        if watch.isClosed { throw Database.closedError(sql: sql) }
        if isCalling { throw callingError }
    }

    /// The error of an SQL function that uses the statement that has called it.
    var callingError: DatabaseError {
        misuse("a statement can't be used by an SQL function that it has called")
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
        if isWatched { try willStep() }
        isRewound = false
        guard let result = RawStep.next(sqliteStatement) else { throw stepError() }
        if !result { try didRun() }
        return result
    }

    /// Tells the connection that the statement starts, if it does.
    @usableFromInline func willStep() throws {
        try checkMayStep()
        guard sqlite3_stmt_busy(sqliteStatement) == 0 else { return }
        if isVacuum { try database.checkMayVacuum(sql) }
        if isAttach { try database.checkMayAttach(self) }
        database.willRunWatched(self)
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
        if changesRows { database.noteWrite() }
        if schemaEffect != .none { database.didRunStatement(schemaEffect) }
        if changesCaches { database.keepTransactionsInMemory(afterAttaching: isAttach) }
        if isWatched { database.didRunWatched(self) }
        if let error = database.statementDidEnd() { throw error }
    }

    /// Tells the connection that the statement has failed, and was reset.
    ///
    /// - returns: The error of the observer that made it fail, or the
    ///   statement's own.
    func didFail(_ error: DatabaseError) -> any Error {
        if watch.losesTracer { database.resumeTracing() }
        if journalFree?.takeLateFailure() == true { database.rollbackAfterPartialChange() }
        database.didFailStatement()
        database.didFailWatched(self)
        return database.statementDidEnd() ?? error
    }

    /// Runs the statement to its end, dropping the rows it makes.
    ///
    /// - parameter arguments: Arguments for this run and the next ones, or nil
    ///   for those that were set.
    /// - throws: A ``DatabaseError``.
    public func execute(arguments: StatementArguments? = nil) throws {
        // The statement may have outlived its connection, which is not to be touched then.
        if watch.isOn { try checkMayStep() }
        if schemaEffect == .change, !database.schema.isReporting, let statement = SchemaStatement(sql: sql) {
            return try database.reporting(statement.change, of: statement.table) { try run(arguments) }
        }
        try run(arguments)
    }

    private func run(_ arguments: StatementArguments?) throws {
        if watch.isOn { try checkMayStep() }
        // Asked for once, because it is not free to see that it still lives.
        let database = database
        journalFree?.willRun(self, database)
        try prepareToRun(arguments, on: database)
        if isWatched { try willStep() }
        try runToEnd(on: database)
        if arguments != nil { clearBindings() }
    }

    /// Moves to the first row of a statement that ``JournalFreeStatement`` may run for: see ``RawStep/next(_:)``.
    @inline(__always)
    package func firstStep(on database: Database) -> Bool? {
        guard let journalFree else { return RawStep.next(sqliteStatement) }
        return journalFree.step(self, database)
    }

    /// Steps to the end, and rewinds.
    @inline(__always)
    func runToEnd(on database: Database) throws {
        isRewound = false
        guard var hasRow = firstStep(on: database) else { throw stepError() }
        while hasRow {
            guard let hasNextRow = RawStep.next(sqliteStatement) else { throw stepError() }
            hasRow = hasNextRow
        }
        try didRun(on: database)
        sqlite3_reset(sqliteStatement)
        isRewound = true
    }

    /// Sets arguments, checks that none is missing, and rewinds.
    func prepareToRun(_ arguments: StatementArguments?) throws {
        if watch.isOn { try checkMayStep() }
        try prepareToRun(arguments, on: database)
    }

    @inline(__always)
    private func prepareToRun(_ arguments: StatementArguments?, on database: Database) throws {
        try database.checkMayRun(sql)
        if isVacuum { try database.checkMayVacuum(sql) }
        if changesRows && database.schema.looksForTracking { database.noticeTracking() }
        try takeArguments(arguments)
        // Which file it is may be known by the arguments only.
        if isAttach { try database.checkMayAttach(self) }
    }

    @inline(__always)
    private func takeArguments(_ arguments: StatementArguments?) throws {
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
        if watch.isClosed { return Database.closedError(sql: sql) }
        return database.lastError(sql: sql, arguments: boundArguments.isEmpty ? nil : boundArguments)
    }
}
