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

    /// The SQL of the statement.
    public let sql: String

    /// The connection the statement belongs to.
    @usableFromInline unowned let database: Database

    /// The number of columns of its rows.
    public let columnCount: Int

    /// The names of its columns.
    public private(set) lazy var columnNames: [String] = (0..<CInt(columnCount)).map {
        sqlite3_column_name(sqliteStatement, $0).map { String(cString: $0) } ?? ""
    }

    private lazy var columnIndexes = ColumnIndexes(columnNames)

    private let parameterNames: [String?]
    private let argumentBuffer: ArgumentBuffer
    private var boundArguments = StatementArguments()
    private var needsArguments: Bool

    /// Prepares the first statement of `sql`, from `offset` on.
    ///
    /// - returns: nil when there is nothing but blanks and comments.
    static func prepare(
        database: Database, sql: String, offset: inout Int
    ) throws -> Statement? {
        try database.checkIsOpen(sql)
        return try prepareUnchecked(database: database, sql: sql, offset: &offset)
    }

    static func prepareUnchecked(
        database: Database, sql: String, offset: inout Int
    ) throws -> Statement? {
        var handle: SQLiteStatement?
        var text = ""
        var sql = sql
        let start = offset
        var end = start
        let code = sql.withUTF8 { utf8 -> CInt in
            // The count of the remaining bytes, not a terminator, ends the text.
            let rest = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(utf8)[start...])
            guard let base = rest.baseAddress, !rest.isEmpty else { return SQLITE_OK }
            guard rest.count <= Int(CInt.max) else { return SQLITE_TOOBIG }
            let characters = base.assumingMemoryBound(to: CChar.self)
            var tail: UnsafePointer<CChar>?
            let code = sqlite3_prepare_v2(database.handle, characters, CInt(rest.count), &handle, &tail)
            let consumed = tail.map { characters.distance(to: $0) } ?? rest.count
            text = String(decoding: rest.prefix(consumed), as: UTF8.self)
            end = start + consumed
            return code
        }
        guard code == SQLITE_OK else { throw database.lastError(sql: sql) }
        offset = end
        return handle.map { Statement(database: database, handle: $0, sql: text) }
    }

    private init(database: Database, handle: SQLiteStatement, sql: String) {
        self.database = database
        self.sqliteStatement = handle
        self.sql = sql
        self.columnCount = Int(sqlite3_column_count(handle))
        let parameterCount = sqlite3_bind_parameter_count(handle)
        self.parameterNames = (0..<parameterCount).map { index in
            sqlite3_bind_parameter_name(handle, index + 1).map { String(cString: $0 + 1) }
        }
        self.argumentBuffer = ArgumentBuffer(capacity: parameterCount > 0 ? 1024 : 0)
        self.needsArguments = parameterCount > 0
    }

    deinit {
        sqlite3_finalize(sqliteStatement)
    }

    /// Whether the statement makes no direct change to the database file.
    public var isReadonly: Bool { sqlite3_stmt_readonly(sqliteStatement) != 0 }

    /// The leftmost column of a name, compared without case.
    public func index(ofColumn name: String) -> Int? {
        columnIndexes.index(of: name)
    }

    // MARK: Arguments

    /// The arguments of the statement. Setting arguments that do not fit is a
    /// programming error; ``setArguments(_:)`` throws instead.
    public var arguments: StatementArguments {
        get { boundArguments }
        set {
            do {
                try setArguments(newValue)
            } catch {
                preconditionFailure("\(error)")
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
    public func setArguments(_ arguments: StatementArguments) throws {
        // Positional values, the usual case, are bound where they are.
        let isPositional = arguments.namedValues.isEmpty && arguments.values.count == parameterNames.count
        let values = isPositional ? arguments.values : try resolve(arguments)
        reset()
        try check(argumentBuffer.bind(values, to: sqliteStatement))
        boundArguments = arguments
        needsArguments = false
    }

    /// Sets positional arguments without checking that there is one for each
    /// parameter: those that are not set are NULL.
    public func setUncheckedArguments(_ arguments: StatementArguments) throws {
        reset()
        sqlite3_clear_bindings(sqliteStatement)
        try check(argumentBuffer.bind(arguments.values, to: sqliteStatement))
        if !arguments.namedValues.isEmpty {
            for (index, name) in parameterNames.enumerated() {
                guard let name, let value = arguments.namedValues[name] else { continue }
                try check(value.bind(to: sqliteStatement, at: CInt(index + 1)))
            }
        }
        boundArguments = arguments
        needsArguments = false
    }

    /// How many positional values the statement takes of the arguments.
    func positionalParameterCount(in arguments: StatementArguments) -> Int {
        parameterNames.count { name in
            guard let name else { return true }
            return arguments.namedValues[name] == nil
        }
    }

    private func resolve(_ arguments: StatementArguments) throws -> [DatabaseValue] {
        var positional = arguments.values[...]
        var values: [DatabaseValue] = []
        values.reserveCapacity(parameterNames.count)
        for name in parameterNames {
            if let name, let value = arguments.namedValues[name] {
                values.append(value)
            } else if let value = positional.popFirst() {
                values.append(value)
            } else if let name {
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

    private func misuse(_ message: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_MISUSE, message: message, sql: sql)
    }

    private func check(_ code: CInt) throws {
        guard code == SQLITE_OK else { throw error() }
    }

    // MARK: Running

    /// Makes the statement ready to run again; its arguments stay.
    public func reset() {
        // The code of a reset repeats the error of the last step.
        sqlite3_reset(sqliteStatement)
    }

    /// Moves to the next row.
    ///
    /// - returns: Whether there is one.
    /// - throws: A ``DatabaseError``; the statement is reset.
    @inlinable
    public func step() throws -> Bool {
        guard let result = RawStep.next(sqliteStatement) else { throw stepError() }
        if !result { database.noticeStatementEnd() }
        return result
    }

    @usableFromInline func stepError() -> DatabaseError {
        let error = self.error()
        reset()
        database.statementDidEnd()
        return error
    }

    /// Runs the statement to its end, dropping the rows it makes.
    ///
    /// - throws: A ``DatabaseError``.
    public func execute(arguments: StatementArguments? = nil) throws {
        try prepareToRun(arguments)
        while try step() {}
        reset()
    }

    /// Sets arguments, checks that none is missing, and rewinds.
    func prepareToRun(_ arguments: StatementArguments?) throws {
        try database.checkMayRun(sql)
        // Setting arguments rewinds too.
        if let arguments { return try setArguments(arguments) }
        if needsArguments { _ = try resolve(boundArguments) }
        reset()
    }

    /// The error of a step that was made through ``RawStep``.
    package var failure: DatabaseError { error() }

    func error() -> DatabaseError {
        database.lastError(sql: sql, arguments: boundArguments.isEmpty ? nil : boundArguments)
    }
}

/// The positions of columns by name, without case.
///
/// It is a class so that its one variable is read and written without a check
/// for overlapping accesses, which would cost more than the search.
private final class ColumnIndexes {
    private let indexes: [String: Int]
    /// The names as they are, or none when two are the same.
    private let names: [String]
    /// The column after the one that was found last: rows are mostly read from left to right.
    private var likelyIndex = 0

    init(_ names: [String]) {
        indexes = Dictionary(
            names.enumerated().map { ($1.lowercased(), $0) }, uniquingKeysWith: { leftmost, _ in leftmost })
        self.names = indexes.count == names.count ? names : []
    }

    /// The leftmost column of a name.
    func index(of name: String) -> Int? {
        var index = likelyIndex
        if index >= names.count || names[index] != name {
            guard let found = indexes[name] ?? indexes[name.lowercased()] else { return nil }
            index = found
        }
        likelyIndex = index + 1 < names.count ? index + 1 : 0
        return index
    }
}

extension Statement: CustomStringConvertible {
    /// The SQL of the statement.
    public var description: String { sql }
}
