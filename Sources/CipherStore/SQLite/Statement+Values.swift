import CSQLCipher

extension Statement {
    /// Runs a statement that gives no rows, with one value for each parameter.
    ///
    /// The statement does not remember the values, except in an error.
    ///
    /// - throws: A ``DatabaseError``, or what a transaction observer throws.
    func execute(values: [DatabaseValue]) throws {
        try database.checkMayRun(sql)
        reset()
        if watch.isOn { willStep() }
        guard values.count == parameterNames.count,
            argumentBuffer.bind(values, to: sqliteStatement) == SQLITE_OK,
            RawStep.next(sqliteStatement) != nil
        else {
            boundArguments = StatementArguments(values)
            let failure = error()
            boundArguments = StatementArguments()
            sqlite3_reset(sqliteStatement)
            throw didFail(failure)
        }
        try didRun()
        sqlite3_reset(sqliteStatement)
    }
}
