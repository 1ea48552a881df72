import CSQLCipher

extension Statement {
    /// Runs a statement that gives no rows, with the values of a record, one for
    /// each parameter.
    ///
    /// The statement does not remember the values, except in an error. SQLite
    /// reads texts and blobs where the record has put them, so nobody may step
    /// the statement again before it has got other values: it must not be handed out.
    ///
    /// - throws: A ``DatabaseError``, or what a transaction observer throws.
    func execute(_ values: PersistenceContainer.Storage) throws {
        if watch.isOn { try checkMayStep() }
        let database = database
        try database.checkMayRun(sql)
        journalFree?.willRun(self, database)
        rewind()
        if isWatched { try willStep() }
        let code = bindRewinding { values.bind(to: sqliteStatement) }
        isRewound = false
        guard values.count == parameterNames.count, code == SQLITE_OK, firstStep(on: database) != nil
        else { throw failure(code, values) }
        try didRun(on: database)
        sqlite3_reset(sqliteStatement)
        isRewound = true
    }

    private func failure(_ code: CInt, _ values: PersistenceContainer.Storage) -> any Error {
        boundArguments = StatementArguments(values.values)
        let failure = code == SQLITE_OK ? error() : bindingError(code)
        boundArguments = StatementArguments()
        sqlite3_reset(sqliteStatement)
        isRewound = true
        return didFail(failure)
    }
}

extension PersistenceContainer.Storage {
    /// Binds the values to the first parameters of a statement.
    ///
    /// - returns: An SQLite result code.
    fileprivate func bind(to statement: SQLiteStatement) -> CInt {
        for index in 0..<count {
            let value = self[index]
            let parameter = CInt(truncatingIfNeeded: index &+ 1)
            let code =
                switch value.kind {
                case .null: sqlite3_bind_null(statement, parameter)
                case .int64: sqlite3_bind_int64(statement, parameter, value.int64)
                case .double: sqlite3_bind_double(statement, parameter, value.double)
                case .text: bindText(value, to: statement, at: parameter)
                case .blob: bindBlob(value, to: statement, at: parameter)
                }
            if code != SQLITE_OK { return code }
        }
        return SQLITE_OK
    }

    @inline(__always)
    private func bindText(_ value: EncodedValue, to statement: SQLiteStatement, at parameter: CInt) -> CInt {
        guard value.count <= Int(CInt.max) else { return SQLITE_TOOBIG }
        return csqlcipher_bind_static_text(
            statement, parameter, memory + value.offset, CInt(truncatingIfNeeded: value.count))
    }

    @inline(__always)
    private func bindBlob(_ value: EncodedValue, to statement: SQLiteStatement, at parameter: CInt) -> CInt {
        guard value.count > 0 else { return sqlite3_bind_zeroblob(statement, parameter, 0) }
        guard value.count <= Int(CInt.max) else { return SQLITE_TOOBIG }
        return csqlcipher_bind_static_blob(
            statement, parameter, memory + value.offset, CInt(truncatingIfNeeded: value.count))
    }
}
