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
    let schemaEffect: SchemaEffect

    /// Whether it is a `VACUUM`: see ``Database/checkMayVacuum(_:)``.
    let isVacuum: Bool

    /// Whether it is an `ATTACH`: see ``Database/checkMayAttach(_:)``.
    let isAttach: Bool

    /// Whether it attaches a file, or can give one pages of another size: see
    /// ``Database/keepTransactionsInMemory(afterAttaching:)``.
    let changesCaches: Bool

    /// Whether it changes the file, and is not what begins a transaction or makes a setting.
    let changesRows: Bool

    /// Whether observers may have to know that it runs: it can change rows, or do something to a savepoint. The other
    /// statements of a transaction, which may be most of them, cost the same beside a thousand observers as without any.
    @usableFromInline let isFollowed: Bool

    /// Where SQLite kept the first name when the names were read, and how often it had prepared the statement
    /// again, where it counts that.
    private var firstName: UnsafePointer<CChar>?
    private var preparationCount: CInt = 0

    /// Whether somebody watches what runs on the connection. The statement has
    /// its own reference, so that each step costs no more than a load.
    @usableFromInline let watch: ConnectionWatch

    /// What it is known to do to tables and savepoints, and who is told, once it
    /// has run on a connection with observers.
    var routes: StatementRoutes?

    /// Tells the region of the request that made the statement, of what the statement reads.
    var requestRegion: ((StatementReads) throws -> DatabaseRegion)?

    /// What runs for it within transactions, where that is faster and means the same.
    let journalFree: JournalFreeStatement?

    /// Whether it is run by the library, and others have to wait: see ``RecurringStatements``.
    var isLent = false

    /// Whether it takes the tracer away: see ``StatementTracer``.
    var exports = false

    /// Whether the library has made it for a request.
    var isOfRequest = false

    /// What it reads, once somebody has asked.
    private var knownReads: StatementReads?

    /// The run that a cursor follows. A run that goes away removes itself.
    @exclusivity(unchecked) unowned(unsafe) var currentRun: StatementRun?

    /// Whether it was rewound since its last step. To rewind it once more would
    /// have SQLite look at all registers of its program for nothing.
    @exclusivity(unchecked) @usableFromInline var isRewound = true

    /// The names of the parameters, without their prefix; nil for those without a name.
    let parameterNames: [String?]
    let argumentBuffer: ArgumentBuffer
    @exclusivity(unchecked) var boundArguments = StatementArguments()
    @exclusivity(unchecked) var binding: Binding

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
        try ErrorLog.preparing(sql) { try prepareNext(database, sql, &offset) }
    }

    private static func prepareNext(
        _ database: Database, _ sql: String, _ offset: inout Int
    ) throws -> Statement? {
        var sql = sql
        let isObserved = database.broker.isActive
        return try sql.withUTF8 { utf8 in
            while offset < utf8.count {
                let rest = UnsafeBufferPointer(rebasing: utf8[offset...])
                var handle: SQLiteStatement?
                var consumed = 0
                if isObserved { database.authorizer.forgetEffects() }
                if database.authorizer.hasKeyPragmas {
                    try database.applyKeyPragmas(before: String(decoding: rest, as: UTF8.self))
                }
                let losesTracer = database.watch.losesTracer
                if losesTracer { database.tracer.willPrepare() }
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
                guard consumed >= rest.count || rest[consumed] != 0 else {
                    sqlite3_finalize(handle)
                    throw Self.unreadable(rest)
                }
                // Nothing is prepared for a lone semicolon.
                offset += max(consumed, 1)
                if let handle {
                    let text = String(decoding: rest.prefix(consumed).trimmedSQL, as: UTF8.self)
                    let statement = Statement(database: database, handle: handle, sql: text)
                    if losesTracer { database.tracer.didPrepare(statement) }
                    try KeyRedaction.refuseExplanation(ofKeyIn: text)
                    if isObserved {
                        statement.routes = database.authorizer.takeEffects().map(StatementRoutes.init)
                    }
                    return statement
                }
            }
            return nil
        }
    }

    /// The error for a text in which SQLite came to an end before the text did.
    ///
    /// What follows a NUL would be another statement, that nobody sees who prints the text.
    private static func unreadable(_ sql: UnsafeBufferPointer<UInt8>) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_ERROR,
            message: "a NUL character in the SQL; texts that contain one are given as arguments",
            sql: String(decoding: sql, as: UTF8.self))
    }

    private init(database: Database, handle: SQLiteStatement, sql: String) {
        self.database = database
        watch = database.watch
        self.sqliteStatement = handle
        self.sql = sql
        schemaEffect = SchemaEffect(sql: sql)
        let firstWord = schemaEffect == .change ? SQLText.firstWord(sql) : nil
        isVacuum = firstWord == "vacuum"
        isAttach = firstWord == "attach"
        changesCaches = isVacuum || isAttach || firstWord == "pragma"
        changesRows = sqlite3_stmt_readonly(handle) == 0 && !"BbPp".utf8.contains(sql.utf8.first ?? 0)
        isFollowed = Self.isFollowed(sql, isReadonly: sqlite3_stmt_readonly(handle) != 0)
        journalFree = JournalFreeStatement.canBe(of: sql) ? JournalFreeStatement() : nil
        let parameterCount = sqlite3_bind_parameter_count(handle)
        parameterNames = (0..<parameterCount).map { index in
            guard let name = sqlite3_bind_parameter_name(handle, index + 1) else { return nil }
            return name[0] == CChar(UInt8(ascii: "?")) ? nil : String(cString: name + 1)
        }
        argumentBuffer = ArgumentBuffer(capacity: parameterCount > 0 ? 1024 : 0)
        binding = parameterCount > 0 ? .missing : .current
        if isVacuum || isAttach { watch.countDangerous(1) }
    }

    deinit {
        if isWriting { resetHandle() }
        if isVacuum || isAttach { watch.countDangerous(-1) }
        if exports && !watch.isClosed { database.tracer.forget(sqliteStatement) }
        sqlite3_finalize(sqliteStatement)
    }

    /// Whether the statement makes no direct change to the database file.
    public var isReadonly: Bool { sqlite3_stmt_readonly(sqliteStatement) != 0 }

    /// The leftmost column of a name, compared without case.
    public func index(ofColumn name: String) -> Int? {
        names.position(of: name)
    }

    private static func preparationCount(_ handle: SQLiteStatement) -> CInt {
        // SQLITE_STMTSTATUS_REPREPARE, which older headers lack, and of which older libraries know nothing.
        EngineFeatures.current.countsPreparations ? sqlite3_stmt_status(handle, 5, 0) : 0
    }

    private func readNames() -> ColumnNames {
        firstName = sqlite3_column_name(sqliteStatement, 0)
        preparationCount = Self.preparationCount(sqliteStatement)
        return ColumnNames(
            (0..<sqlite3_column_count(sqliteStatement)).map { index in
                sqlite3_column_name(sqliteStatement, index).map { String(cString: $0) } ?? ""
            })
    }

    /// Reads the names of the columns again when the schema has changed.
    ///
    /// SQLite prepares a statement again at its first step after a change of
    /// the schema, by this connection or another, and `SELECT *` may give other
    /// columns then. An engine that does not count that allocates the new names before
    /// it frees the old ones, so that their address differs; after the second time it may
    /// be the first one again.
    @usableFromInline func noticeNewColumns() {
        // Names that nobody has read are read when they are asked for.
        guard let firstName else { return }
        guard
            firstName != sqlite3_column_name(sqliteStatement, 0)
                || preparationCount != Self.preparationCount(sqliteStatement)
                || names.names.count != Int(sqlite3_column_count(sqliteStatement))
        else { return }
        names = readNames()
        knownReads = nil
    }

    /// What the statement reads.
    var reads: StatementReads {
        if let knownReads { return knownReads }
        // Whether they still hold is known by the names.
        _ = names
        // What a closed connection would read is nobody's business any longer.
        guard !watch.isClosed else { return StatementReads(region: .fullDatabase, selectCount: 0) }
        let reads = StatementReads(database: database, sql: sql)
        knownReads = reads
        return reads
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
