import CSQLCipher

/// The statements of texts that are run again and again, so that each is prepared once.
///
/// To prepare a short query takes longer than to run it. Nobody sees these statements: each is run to its end by the
/// library, and has no arguments after that. That of a request is kept only when nobody else has it.
struct RecurringStatements {
    /// The words that statements begin with which are kept. Others act when they are prepared, or are rare, or may
    /// contain a key.
    private static let words: Set<String> = [
        "select", "with", "values", "insert", "replace", "update", "delete", "begin", "commit", "savepoint",
        "release",
    ]

    private static let hashCount = 256

    /// Longer texts take longer to run than to prepare, and too much memory.
    private static let byteCountMax = 4096

    private var cache = StatementCache(capacity: 128)

    /// The hashes of the texts that came last. A text is kept when it comes the second time, so that
    /// those with values in them, which come once, drive out nobody, and stay in no memory.
    private var hashes = [Int](repeating: 0, count: hashCount)

    /// The place of the oldest hash.
    private var oldest = 0

    /// The statement of a text, unless it is not kept, or is running.
    subscript(sql: String) -> Statement? {
        guard let statement = cache[sql], !statement.isLent, !statement.isInUse else { return nil }
        return statement
    }

    /// Hands out the statement of a text, and keeps no more than its place.
    func take(_ sql: String) -> Statement? { self[sql] == nil ? nil : cache.take(sql) }

    /// Takes note of a text that has run, and keeps its statement from the second time on.
    ///
    /// - parameter statement: The only statement of the text.
    mutating func note(_ sql: String, _ statement: Statement) {
        guard sql.utf8.count <= Self.byteCountMax, !statement.isInUse else { return }
        // What was kept goes back to its place, whatever has come since then.
        if cache.putBack(sql, statement) { return statement.emptyParameters() }
        guard hasCome(sql), cache[sql] == nil, let word = SQLText.firstWord(sql), Self.words.contains(word)
        else { return }
        statement.emptyParameters()
        cache[sql] = statement
    }

    /// Whether a text has come lately; if not, it is noted.
    private mutating func hasCome(_ sql: String) -> Bool {
        let hash = sql.hashValue
        // To look at all of them takes far less time than to prepare the text.
        if hashes.contains(hash) { return true }
        hashes[oldest] = hash
        oldest = (oldest + 1) % Self.hashCount
        return false
    }

    mutating func removeAll() { cache.removeAll() }
}

extension Database {
    /// The statement of a text that recurs. While SQL is not trusted, SQLite is asked about each text anew: what the
    /// library may run then, others may not.
    private func recurringStatement(_ sql: String) throws -> Statement? {
        guard authorizer.restriction == nil, let statement = recurringStatements[sql] else { return nil }
        try checkIsOpen(sql)
        return statement
    }

    /// Notes that the only statement of a text has run.
    func noteRun(_ sql: String, _ statement: Statement) {
        if authorizer.restriction == nil, !isClosed { recurringStatements.note(sql, statement) }
    }

    /// Runs a block with the statement of a text, which is prepared unless the text recurs.
    ///
    /// - parameter body: Runs the statement to its end, and keeps it nowhere.
    @usableFromInline func withStatement<T>(sql: String, _ body: (Statement) throws -> T) throws -> T {
        if let statement = try recurringStatement(sql) {
            statement.isLent = true
            defer { statement.isReturned() }
            return try body(statement)
        }
        let statement = try makeStatement(sql: sql)
        let result = try body(statement)
        noteRun(sql, statement)
        return result
    }

    /// Runs the statement of a text, if the text recurs and the arguments are all of that statement.
    ///
    /// - returns: Whether it was run.
    func executeRecurring(_ sql: String, _ arguments: StatementArguments) throws -> Bool {
        guard let statement = try recurringStatement(sql),
            statement.positionalParameterCount(in: arguments) == arguments.values.count
        else { return false }
        statement.isLent = true
        defer { statement.isReturned() }
        try statement.execute(arguments: arguments)
        return true
    }
}

extension Database {
    /// Prepares the statement of a request, unless its text recurs.
    func makeRequestStatement(sql: String) throws -> Statement {
        if authorizer.restriction == nil, let statement = recurringStatements.take(sql) {
            try checkIsOpen(sql)
            statement.isOfRequest = true
            return statement
        }
        let statement = try makeStatement(sql: sql)
        statement.isOfRequest = true
        return statement
    }
}

extension Statement {
    fileprivate func isReturned() {
        isLent = false
        emptyParameters()
    }

    /// Forgets the arguments, and what SQLite has copied of them.
    fileprivate func emptyParameters() {
        guard !parameterNames.isEmpty, !isInUse else { return }
        forgetArguments()
        sqlite3_clear_bindings(sqliteStatement)
    }
}
