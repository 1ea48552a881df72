/// A run of a statement, which the caller steps.
@usableFromInline struct DirectRun {
    let database: Database
    let entry: StatementIndex.Entry
    @usableFromInline let sqliteStatement: SQLiteStatement
    let bindings: [QueryBinding]

    var statement: CipherStore.Statement { entry.statement }

    /// Finds the statement, binds its values and starts it.
    init(_ database: Database, _ fragment: QueryFragment) throws {
        try self.init(database, fragment, database.entry(of: fragment))
    }

    init(_ database: Database, _ fragment: QueryFragment, _ entry: StatementIndex.Entry) throws {
        self.database = database
        self.entry = entry
        let statement = entry.statement
        sqliteStatement = statement.sqliteStatement
        bindings = fragment.bindings
        try statement.beginDirectRun(on: database)
        try statement.startDirectRun(bind(to: statement))
    }

    private func bind(to statement: CipherStore.Statement) throws -> CInt {
        var binder = statement.parameterBinder
        if let values = entry.values {
            for value in values { try bindings[value].bind(to: &binder) }
        } else {
            guard bindings.count == statement.parameterCount else { throw countError }
            for binding in bindings { try binding.bind(to: &binder) }
        }
        return binder.code
    }

    private var countError: DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: """
                the statement has \(statement.parameterCount) parameters and \(bindings.count) values: \
                write values as \\(bind:)
                """, sql: statement.sql)
    }

    /// Moves to the next row.
    @inlinable @inline(__always)
    func step() throws -> Bool {
        let result = RawStep.next(sqliteStatement)
        if result == true { return true }
        try end(failed: result == nil)
        return false
    }

    /// Moves to the first row of a run to the end.
    func start() throws -> Bool {
        let result = statement.firstStep(on: database)
        if result == true { return true }
        try end(failed: result == nil)
        return false
    }

    /// Ends the run after a step that gave no row.
    @usableFromInline func end(failed: Bool) throws {
        if failed { throw statement.failDirectRun(arguments) }
        try statement.endDirectRun(on: database)
    }

    /// Ends the run when no more rows are wanted. A statement that writes runs to its end.
    @usableFromInline func abandon() throws {
        try statement.abandonDirectRun()
    }

    /// Ends the run because a row could not be read, and says which column it was.
    @usableFromInline func fail(_ error: any Error, at index: CInt, rowType: Any.Type) -> any Error {
        let described = (error as? QueryDecodingError).map {
            QueryDecodingFailure($0, at: index, rowType: rowType, statement: statement)
        }
        do {
            try statement.abandonDirectRun()
        } catch let failureToEnd {
            return failureToEnd
        }
        return described ?? error
    }

    /// Throws unless rows have as many columns as the type.
    @usableFromInline func requireColumns(_ count: Int, _ rowType: Any.Type) throws {
        guard Int(RawColumn.count(sqliteStatement)) != count, !readsAnyColumns(rowType) else { return }
        throw QueryDecodingError.columnCount(expected: count, found: Int(RawColumn.count(sqliteStatement)))
    }

    private var arguments: StatementArguments {
        let used = entry.values.map { $0.map { bindings[$0] } } ?? bindings
        return StatementArguments(used.map { (try? $0.databaseValue()) ?? .null })
    }
}

/// Whether a type reads columns in its own way: neither a row nor a single value, it need not say how many there are.
func readsAnyColumns(_ rowType: Any.Type) -> Bool {
    guard let type = rowType as? any QueryRepresentable.Type, type.columnWidth == 1 else { return false }
    return !(type is any Table.Type) && !(type is any QueryBindable.Type)
        && (type as? any QueryExpression.Type) == nil
}

extension Database {
    /// Runs a fragment, or gives nil when it is empty, as the statement for no rows is.
    @usableFromInline func directRun(_ fragment: QueryFragment) throws -> DirectRun? {
        guard !fragment.isEmpty else { return nil }
        return try DirectRun(self, fragment)
    }

    /// Runs a fragment to its end.
    @usableFromInline func executeFragment(_ fragment: QueryFragment) throws {
        guard !fragment.isEmpty else { return }
        if try ChangeEmulation.run(self, fragment, read: nil) { return }
        let entry = try entry(of: fragment)
        if entry.statement.changesSchema {
            let bindings = entry.values.map { $0.map { fragment.bindings[$0] } } ?? fragment.bindings
            return try entry.statement.execute(
                arguments: StatementArguments(bindings.map { try $0.databaseValue() }))
        }
        let run = try DirectRun(self, fragment, entry)
        if try run.start() { while try run.step() {} }
    }
}
