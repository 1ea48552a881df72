/// A statement of the library without arguments, which is prepared once for a connection.
///
/// For what runs at each read: to find it by its text would take as long as to run it.
final class KeptStatement {
    let sql: String
    private var statement: Statement?
    private var isRunning = false

    init(_ sql: String) { self.sql = sql }

    /// Runs the statement to its end.
    ///
    /// - throws: A ``DatabaseError``, or what a transaction observer throws.
    func run(on database: Database) throws {
        // Who is told of the end of a transaction may begin and end another one, before the statement is rewound.
        guard !isRunning else { return try database.makeStatement(sql: sql).execute() }
        isRunning = true
        defer { isRunning = false }
        try prepared(on: database).execute()
    }

    /// The number in the first row, 0 when there is none.
    ///
    /// - throws: A ``DatabaseError``.
    func firstNumber(on database: Database) throws -> Int64 {
        let statement = try prepared(on: database)
        try statement.prepareToRun(nil)
        defer { statement.reset() }
        return try statement.step() ? RawColumn.int64(statement.sqliteStatement, 0) : 0
    }

    private func prepared(on database: Database) throws -> Statement {
        if let statement { return statement }
        let statement = try database.makeStatement(sql: sql)
        self.statement = statement
        return statement
    }

    /// Lets go of the statement, which would keep the connection from closing.
    func forget() { statement = nil }
}

/// The statements by which the library begins, checks and ends a read.
struct ReadStatements {
    let begin = KeptStatement("BEGIN DEFERRED TRANSACTION")

    /// Reports a failed page of the transaction. It asks SQLite for the first page of the schema, and for few others
    /// however large the schema is.
    let check = KeptStatement("SELECT 1 FROM sqlite_master WHERE rowid = 0")

    let commit = KeptStatement("COMMIT TRANSACTION")

    /// Reads the version of the main schema.
    let version = KeptStatement("PRAGMA main.schema_version")

    /// Lets go of all of them.
    func forget() {
        begin.forget()
        check.forget()
        commit.forget()
        version.forget()
    }
}
