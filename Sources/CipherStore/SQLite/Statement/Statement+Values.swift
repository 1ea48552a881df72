import CSQLCipher

extension Statement {
    /// Runs a statement that gives no rows, with one value for each parameter.
    ///
    /// The statement does not remember the values, except in an error.
    ///
    /// - throws: A ``DatabaseError``, or what a transaction observer throws.
    func execute(values: [DatabaseValue]) throws {
        if watch.isOn { try checkMayStep() }
        try database.checkMayRun(sql)
        reset()
        if watch.isOn { try willStep() }
        let code = argumentBuffer.bind(values, to: sqliteStatement)
        guard values.count == parameterNames.count, code == SQLITE_OK, RawStep.next(sqliteStatement) != nil
        else {
            boundArguments = StatementArguments(values)
            let failure = code == SQLITE_OK ? error() : bindingError(code)
            boundArguments = StatementArguments()
            sqlite3_reset(sqliteStatement)
            throw didFail(failure)
        }
        try didRun()
        sqlite3_reset(sqliteStatement)
    }
}
