import CSQLCipher

extension Statement {
    /// The arguments of the statement. Setting arguments that do not fit is a
    /// programming error; ``setArguments(_:)`` throws instead.
    public var arguments: StatementArguments {
        get { boundArguments }
        set {
            do {
                try setArguments(newValue)
            } catch {
                fatalError("\(error)")
            }
        }
    }

    /// Checks that the arguments fit the statement's parameters.
    ///
    /// - throws: A ``DatabaseError`` of code `SQLITE_MISUSE`.
    public func validateArguments(_ arguments: StatementArguments) throws {
        _ = try resolve(arguments)
    }

    /// Sets the arguments after checking that they fit the parameters.
    ///
    /// - throws: A ``DatabaseError`` of code `SQLITE_MISUSE` when they don't.
    ///   The arguments are as before then.
    public func setArguments(_ arguments: StatementArguments) throws {
        // Positional values, the usual case, are bound where they are.
        let isPositional = arguments.namedValues.isEmpty && arguments.values.count == parameterNames.count
        let values = isPositional ? arguments.values : try resolve(arguments)
        // The statement may be reading its arguments.
        if isCalling { throw callingError }
        rewind()
        do {
            try check(bindRewinding { argumentBuffer.bind(values, to: sqliteStatement) }, values)
        } catch {
            // Some parameters have the new values: the next run binds the arguments again.
            if case .current = binding { binding = .cleared }
            throw error
        }
        boundArguments = arguments
        binding = .current
    }

    /// Sets arguments without checking that there is one for each parameter:
    /// those that are not set are NULL.
    ///
    /// A value that is too large to be bound is reported by the next run.
    public func setUncheckedArguments(_ arguments: StatementArguments) {
        if isCalling {
            binding = .failed(callingError)
            return
        }
        rewind()
        sqlite3_clear_bindings(sqliteStatement)
        boundArguments = arguments
        binding = .current
        do {
            // Positional values, the usual case, are bound where they are.
            let isPositional = arguments.namedValues.isEmpty && arguments.values.count <= parameterNames.count
            let values = isPositional ? arguments.values : unchecked(arguments)
            try check(bindRewinding { argumentBuffer.bind(values, to: sqliteStatement) }, values)
        } catch let error as DatabaseError {
            binding = .failed(error)
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// Forgets the arguments, as a statement does that is used for something else.
    func forgetArguments() {
        guard !parameterNames.isEmpty else { return }
        boundArguments = StatementArguments()
        binding = .missing
    }

    /// Empties the parameters after a run that had arguments of its own, so
    /// that their values are not kept. With many parameters it costs more than
    /// it is worth.
    func clearBindings() {
        guard !parameterNames.isEmpty, parameterNames.count <= 20 else { return }
        sqlite3_clear_bindings(sqliteStatement)
        binding = .cleared
    }

    /// How many positional values the statement takes of the arguments.
    func positionalParameterCount(in arguments: StatementArguments) -> Int {
        parameterNames.count { name in
            guard let name else { return true }
            return arguments.namedValues[name] == nil
        }
    }

    /// The value of each parameter.
    func resolve(_ arguments: StatementArguments) throws -> [DatabaseValue] {
        var positional = arguments.values[...]
        var values: [DatabaseValue] = []
        values.reserveCapacity(parameterNames.count)
        for name in parameterNames {
            if let name, let value = arguments.namedValues[name] {
                values.append(value)
            } else if let value = positional.popFirst() {
                values.append(value)
            } else if let name, arguments.values.isEmpty, !arguments.namedValues.isEmpty {
                throw misuse("missing statement argument: \(name)")
            } else {
                throw misuse("wrong number of statement arguments: \(arguments.values.count)")
            }
        }
        guard positional.isEmpty else {
            throw misuse("wrong number of statement arguments: \(arguments.values.count)")
        }
        return values
    }

    /// The values that the parameters have now. Of what is bound through the C API nothing is known.
    var boundValues: [DatabaseValue] {
        guard case .current = binding else { return parameterNames.map { _ in .null } }
        return unchecked(boundArguments)
    }

    private func unchecked(_ arguments: StatementArguments) -> [DatabaseValue] {
        var positional = arguments.values[...]
        return parameterNames.map { name in
            if let name, let value = arguments.namedValues[name] { return value }
            return positional.popFirst() ?? .null
        }
    }

    func misuse(_ message: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_MISUSE, message: message, sql: sql)
    }

    /// The error of a value that was not bound. SQLite does not know of those
    /// whose size it has no number for.
    func bindingError(_ code: CInt) -> DatabaseError {
        let error = error()
        let code = ResultCode(rawValue: code)
        return error.extendedResultCode == code ? error : DatabaseError(resultCode: code, sql: sql)
    }

    private func check(_ code: CInt, _ values: [DatabaseValue]) throws {
        if code == SQLITE_OK { return }
        if code == RawBinding.unencodable {
            for value in values { if let error = value.encodingError(sql: sql) { throw error } }
        }
        throw bindingError(code)
    }
}
