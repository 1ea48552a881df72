import CSQLCipher

/// A prepared statement.
///
/// ```swift
/// try dbQueue.write { db in
///     let statement = try db.makeStatement(sql: "INSERT INTO player (name) VALUES (?)")
///     try statement.execute(arguments: ["Arthur"])
///     try statement.execute(arguments: ["Barbara"])
/// }
/// ```
///
/// A statement belongs to its connection and must be used in its access block.
/// Related SQLite documentation: <https://www.sqlite.org/c3ref/stmt.html>
public final class Statement {
    /// The raw statement, for use with the C API.
    public let sqliteStatement: SQLiteStatement

    /// The SQL of the statement, without blanks and semicolons around it.
    public let sql: String

    /// The connection the statement belongs to.
    @usableFromInline unowned let database: Database

    /// The number of columns of its rows.
    public var columnCount: Int { names.names.count }

    /// The names of its columns.
    public var columnNames: [String] { names.names }

    /// The names of its columns, and their positions by name.
    private(set) lazy var names = readNames()

    /// What running it can do to the schema.
    private let schemaEffect: SchemaEffect

    /// Where SQLite kept the first name when the names were read, which tells
    /// when it has prepared the statement again.
    private var firstName: UnsafePointer<CChar>?

    /// Whether somebody watches what runs on the connection. The statement has
    /// its own reference, so that each step costs no more than a load.
    @usableFromInline let watch: ConnectionWatch

    /// What it is known to do to tables and savepoints, and who is told, once it
    /// has run on a connection with observers.
    var routes: StatementRoutes?

    /// The region of the requests that follow the statement when it has rows.
    var followingRegion: (() throws -> DatabaseRegion)?

    /// What it reads, once somebody has asked.
    private var knownReads: StatementReads?

    /// The run that a cursor follows. A run that goes away removes itself.
    private unowned(unsafe) var currentRun: StatementRun?

    /// The names of the parameters, without their prefix; nil for those without a name.
    let parameterNames: [String?]
    let argumentBuffer: ArgumentBuffer
    var boundArguments = StatementArguments()
    var binding: Binding

    /// What the parameters of a statement hold.
    enum Binding {
        /// The arguments.
        case current
        /// Nothing, because no arguments were given.
        case missing
        /// Nothing, because the arguments were for one run.
        case cleared
        /// Not the arguments, because of an error that the next run reports.
        case failed(DatabaseError)
    }

    /// Prepares the first statement of `sql`, from `offset` on.
    ///
    /// - returns: nil when there is nothing but blanks, comments and semicolons.
    static func prepare(
        database: Database, sql: String, offset: inout Int
    ) throws -> Statement? {
        try database.checkIsOpen(sql)
        return try prepareUnchecked(database: database, sql: sql, offset: &offset)
    }

    static func prepareUnchecked(
        database: Database, sql: String, offset: inout Int
    ) throws -> Statement? {
        var sql = sql
        let isObserved = database.broker.isActive
        return try sql.withUTF8 { utf8 in
            while offset < utf8.count {
                let rest = UnsafeBufferPointer(rebasing: utf8[offset...])
                var handle: SQLiteStatement?
                var consumed = 0
                if isObserved { database.authorizer.forgetEffects() }
                // The count of the bytes, not a terminator, ends the text.
                let code = rest.withMemoryRebound(to: CChar.self) { rest in
                    guard rest.count <= Int(CInt.max), let start = rest.baseAddress else {
                        return SQLITE_TOOBIG
                    }
                    var tail: UnsafePointer<CChar>?
                    let code = sqlite3_prepare_v2(
                        database.handle, start, CInt(rest.count), &handle, &tail)
                    consumed = tail.map { start.distance(to: $0) } ?? rest.count
                    return code
                }
                guard code == SQLITE_OK else {
                    throw database.lastError(sql: String(decoding: rest, as: UTF8.self).trimmedSQL)
                }
                // Nothing is prepared for a lone semicolon.
                offset += max(consumed, 1)
                if let handle {
                    let text = String(decoding: rest.prefix(consumed).trimmedSQL, as: UTF8.self)
                    let statement = Statement(database: database, handle: handle, sql: text)
                    if isObserved {
                        statement.routes = database.authorizer.takeEffects().map(StatementRoutes.init)
                    }
                    return statement
                }
            }
            return nil
        }
    }

    private init(database: Database, handle: SQLiteStatement, sql: String) {
        self.database = database
        watch = database.watch
        self.sqliteStatement = handle
        self.sql = sql
        self.schemaEffect = SchemaEffect(sql: sql)
        let parameterCount = sqlite3_bind_parameter_count(handle)
        parameterNames = (0..<parameterCount).map { index in
            guard let name = sqlite3_bind_parameter_name(handle, index + 1) else { return nil }
            return name[0] == CChar(UInt8(ascii: "?")) ? nil : String(cString: name + 1)
        }
        argumentBuffer = ArgumentBuffer(capacity: parameterCount > 0 ? 1024 : 0)
        binding = parameterCount > 0 ? .missing : .current
    }

    deinit {
        sqlite3_finalize(sqliteStatement)
    }

    /// Whether the statement makes no direct change to the database file.
    public var isReadonly: Bool { sqlite3_stmt_readonly(sqliteStatement) != 0 }

    /// The leftmost column of a name, compared without case.
    public func index(ofColumn name: String) -> Int? {
        names.position(of: name)
    }

    private func readNames() -> ColumnNames {
        firstName = sqlite3_column_name(sqliteStatement, 0)
        return ColumnNames(
            (0..<sqlite3_column_count(sqliteStatement)).map { index in
                sqlite3_column_name(sqliteStatement, index).map { String(cString: $0) } ?? ""
            })
    }

    /// Reads the names of the columns again when the schema has changed.
    ///
    /// SQLite prepares a statement again at its first step after a change of
    /// the schema, by this connection or another, and `SELECT *` may give other
    /// columns then. The new names are allocated before the old ones are freed,
    /// so that their address differs.
    @usableFromInline func noticeNewColumns() {
        // Names that nobody has read are read when they are asked for.
        guard let firstName, firstName != sqlite3_column_name(sqliteStatement, 0) else { return }
        names = readNames()
        knownReads = nil
    }

    /// What the statement reads.
    var reads: StatementReads {
        if let knownReads { return knownReads }
        // Whether they still hold is known by the names.
        _ = names
        let reads = StatementReads(database: database, sql: sql)
        knownReads = reads
        return reads
    }

    // MARK: Running

    /// Whether somebody is reading the rows of the statement.
    var isInUse: Bool { currentRun != nil || sqlite3_stmt_busy(sqliteStatement) != 0 }

    /// Makes the statement ready to run again; its arguments stay.
    public func reset() {
        // The code of a reset repeats the error of the last step.
        sqlite3_reset(sqliteStatement)
        if let run = currentRun {
            currentRun = nil
            run.isReplaced()
        }
    }

    /// Moves to the next row.
    ///
    /// - returns: Whether there is one.
    /// - throws: A ``DatabaseError``, or what a transaction observer throws; the
    ///   statement is reset.
    @inlinable
    public func step() throws -> Bool {
        if watch.isOn { willStep() }
        guard let result = RawStep.next(sqliteStatement) else { throw stepError() }
        if !result { try didRun() }
        return result
    }

    /// Tells the connection that the statement starts, if it does.
    @usableFromInline func willStep() {
        if sqlite3_stmt_busy(sqliteStatement) == 0 { database.willRunWatched(self) }
    }

    @usableFromInline func stepError() -> any Error {
        let error = self.error()
        sqlite3_reset(sqliteStatement)
        return didFail(error)
    }

    /// Tells the connection that the statement has come to its end.
    ///
    /// - throws: What an observer throws that refuses the transaction.
    @usableFromInline func didRun() throws {
        if schemaEffect != .none { database.didRunStatement(schemaEffect) }
        if watch.isOn { database.didRunWatched(self) }
        if let error = database.statementDidEnd() { throw error }
    }

    /// Tells the connection that the statement has failed, and was reset.
    ///
    /// - returns: The error of the observer that made it fail, or the
    ///   statement's own.
    func didFail(_ error: DatabaseError) -> any Error {
        database.didFailStatement()
        database.broker.fail()
        return database.statementDidEnd() ?? error
    }

    /// Runs the statement to its end, dropping the rows it makes.
    ///
    /// - parameter arguments: Arguments for this run and the next ones, or nil
    ///   for those that were set.
    /// - throws: A ``DatabaseError``.
    public func execute(arguments: StatementArguments? = nil) throws {
        if schemaEffect == .change, !database.schema.isReporting, let statement = SchemaStatement(sql: sql) {
            return try database.reporting(statement.change, of: statement.table) { try run(arguments) }
        }
        try run(arguments)
    }

    private func run(_ arguments: StatementArguments?) throws {
        try prepareToRun(arguments)
        while try step() {}
        sqlite3_reset(sqliteStatement)
        if arguments != nil { clearBindings() }
    }

    /// Sets arguments, checks that none is missing, and rewinds.
    func prepareToRun(_ arguments: StatementArguments?) throws {
        try database.checkMayRun(sql)
        // Setting arguments rewinds too.
        if let arguments { return try setArguments(arguments) }
        switch binding {
        case .current: reset()
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
        sqlite3_reset(sqliteStatement)
    }

    /// The error of a step that was made through ``RawStep``.
    package var failure: DatabaseError { error() }

    func error() -> DatabaseError {
        database.lastError(sql: sql, arguments: boundArguments.isEmpty ? nil : boundArguments)
    }
}

@available(*, unavailable)
extension Statement: Sendable {}

extension Statement: CustomStringConvertible {
    /// The SQL of the statement.
    public var description: String { sql }
}

extension Slice<UnsafeBufferPointer<UInt8>> {
    /// The bytes of a statement without the blanks and semicolons around them.
    fileprivate var trimmedSQL: Self {
        func isKept(_ byte: UInt8) -> Bool {
            !(byte == 0x20 || (byte >= 0x09 && byte <= 0x0D) || byte == UInt8(ascii: ";"))
        }
        guard let first = firstIndex(where: isKept), let last = lastIndex(where: isKept) else {
            return self[startIndex..<startIndex]
        }
        return self[first...last]
    }
}
