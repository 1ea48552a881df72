import CSQLCipher

/// One run of a statement, from its first row on.
///
/// A statement has one run at a time. A run that ends, or that nobody needs any
/// longer, resets the statement, so that no lock is held for it.
public final class StatementRun {
    package let statement: Statement
    @usableFromInline package let sqliteStatement: SQLiteStatement

    /// Whether the statement has a current row.
    @exclusivity(unchecked) @usableFromInline var hasRow = false

    private var isNew = true

    /// Whether the statement is in the middle of a step, and has called an SQL function.
    private var isCalling = false

    /// The runs of the connection, which itself may be gone before the run.
    private let runs: StatementRuns

    /// Why the run is over, unless it came to its end.
    private var failure: (any Error)?

    @usableFromInline package init(_ statement: Statement, arguments: StatementArguments?) throws {
        self.statement = statement
        sqliteStatement = statement.sqliteStatement
        runs = statement.watch.runs
        try statement.prepareToRun(arguments)
        statement.begin(self)
        runs.append(self)
    }

    deinit {
        runs.remove(self)
        statement.end(self)
    }

    /// Moves to the next row.
    ///
    /// - returns: Whether there is one.
    /// - throws: A ``DatabaseError``, or what a transaction observer throws, and
    ///   the same error each time after.
    @inlinable
    package func step() throws -> Bool {
        guard hasRow else { return try stepWithoutRow() }
        let result = RawStep.next(sqliteStatement)
        if result == true { return true }
        return try end(failed: result == nil)
    }

    /// The first step, and those after the end.
    @usableFromInline func stepWithoutRow() throws -> Bool {
        if isCalling { throw statement.callingError }
        if let failure { throw failure }
        guard isNew else { return false }
        isNew = false
        hasRow = true
        statement.isRewound = false
        if statement.isWatched { statement.database.willRunWatched(statement) }
        let result = RawStep.next(sqliteStatement)
        guard result == true else { return try end(failed: result == nil) }
        statement.noticeNewColumns()
        return true
    }

    /// Ends the run after a step that came to the end or failed.
    @usableFromInline func end(failed: Bool) throws -> Bool {
        hasRow = false
        // The error is gone once the statement is reset.
        let error = failed ? statement.error() : nil
        statement.end(self)
        do {
            if let error { throw statement.didFail(error) }
            try statement.didRun()
        } catch {
            failure = error
            throw error
        }
        return false
    }

    /// Ends the run when no more rows are wanted: see ``Statement/finish()``.
    @usableFromInline func finish() throws {
        guard hasRow, !statement.isReadonly else { return }
        while try step() {}
    }

    /// Ends the run, if it has begun, because an interruption stopped it.
    fileprivate func isInterrupted() {
        guard hasRow else { return }
        failure = DatabaseError(
            resultCode: .SQLITE_INTERRUPT, message: "interrupted", sql: statement.sql)
        hasRow = false
        statement.end(self)
    }

    /// Ends the run because its connection closes.
    fileprivate func isClosed() {
        guard isNew || hasRow || isCalling else { return }
        failure = Database.closedError(sql: statement.sql)
        hasRow = false
        if !isCalling { statement.end(self) }
    }

    /// Notes that the statement calls a function now, if that is so.
    ///
    /// Without a row, the function's steps don't take the fast way to SQLite.
    fileprivate func beginCall() -> Bool {
        guard hasRow, statement.isCalling else { return false }
        isCalling = true
        hasRow = false
        return true
    }

    fileprivate func endCall() {
        isCalling = false
        hasRow = failure == nil
    }

    /// Throws when the current row lacks a column, because the schema has changed
    /// since the column was looked up.
    @usableFromInline func requireColumn(_ index: CInt) throws {
        guard index >= statement.columnCount else { return }
        throw DatabaseError(
            resultCode: .SQLITE_SCHEMA, message: "the statement has fewer columns than before",
            sql: statement.sql)
    }

    /// Ends the run because the statement is used for something else.
    func isReplaced() {
        guard !isCalling else { return }
        if isNew || hasRow {
            failure = DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "the statement of the cursor was used for something else", sql: statement.sql)
        }
        hasRow = false
    }
}

@available(*, unavailable)
extension StatementRun: Sendable {}

/// The runs of one connection's statements that somebody follows.
final class StatementRuns {
    // A run that goes away removes itself. Nothing is called while the list is changed, so no access needs a check.
    @exclusivity(unchecked) private var runs: [Unmanaged<StatementRun>] = []

    fileprivate func append(_ run: StatementRun) { runs.append(.passUnretained(run)) }

    fileprivate func remove(_ run: StatementRun) {
        let address = Unmanaged.passUnretained(run).toOpaque()
        // The one that began last mostly ends first.
        if let index = runs.lastIndex(where: { $0.toOpaque() == address }) { runs.remove(at: index) }
    }

    /// Ends all of them.
    func interrupt() {
        for run in runs { run.takeUnretainedValue().isInterrupted() }
    }

    /// Ends all of them, because the connection closes.
    func close() {
        for run in runs { run.takeUnretainedValue().isClosed() }
    }

    /// Returns the run whose statement calls a function now, if it has one.
    func beginCall() -> StatementRun? {
        // It is likely the last.
        for run in runs.reversed() {
            let run = run.takeUnretainedValue()
            if run.beginCall() { return run }
        }
        return nil
    }

    func endCall(_ run: StatementRun) { run.endCall() }
}
