import CSQLCipher

/// A raw pointer to an SQLite connection, for use with the C API.
public typealias SQLiteConnection = OpaquePointer

/// A raw pointer to a prepared SQLite statement, for use with the C API.
public typealias SQLiteStatement = OpaquePointer

/// The C calls that work on a connection.
///
/// Together with its neighbours in this folder it is the only code that names
/// the C library, so that a change of engine touches one folder.
enum SQLiteHandle {
    /// Opens a connection. The handle is closed again when opening fails.
    ///
    /// - parameter file: The file as an error names it, if `path` is a URI.
    static func open(
        path: String, readonly: Bool, creates: Bool, isURI: Bool, file: String? = nil
    ) throws -> SQLiteConnection {
        var flags = readonly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        if isURI { flags |= SQLITE_OPEN_URI }
        if creates && !readonly { flags |= SQLITE_OPEN_CREATE }
        // The queue or the pool serializes every access to a connection.
        flags |= SQLITE_OPEN_NOMUTEX
        var handle: SQLiteConnection?
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            let message = handle.map { ResultCode.currentWording(String(cString: sqlite3_errmsg($0))) }
            let errorNumber = handle.map(systemError) ?? 0
            sqlite3_close_v2(handle)
            let error = DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
            guard error.resultCode == .SQLITE_CANTOPEN else { throw error }
            throw error.with(storeError: .unopened(file ?? path, errorNumber: errorNumber))
        }
        sqlite3_extended_result_codes(handle, 1)
        return handle
    }

    /// Closes a connection. Statements that are still open keep it alive until
    /// they are finalized, as `sqlite3_close_v2` documents: it calls nothing of
    /// ours from now on, when they run or when the last of them rolls back.
    static func close(_ handle: SQLiteConnection) {
        // They point to the connection's object, and its last statement may
        // outlive it: SQLite rolls back when that goes.
        StatementTracer.uninstall(from: handle)
        removeHooks(handle)
        sqlite3_busy_handler(handle, nil, nil)
        sqlite3_close_v2(handle)
    }

    /// The SQL of a statement that was not finalized, if there is one.
    ///
    /// The modules of virtual tables, such as full-text search, have statements of their own, which go with the
    /// connection. They name tables as `'main'.'words_content'`, which hardly anybody else does.
    static func firstStatement(_ handle: SQLiteConnection) -> String? {
        var statement = sqlite3_next_stmt(handle, nil)
        while let current = statement {
            let sql = sqlite3_sql(current).map { String(cString: $0) } ?? ""
            if !sql.utf8.contains("'.'".utf8) { return sql }
            statement = sqlite3_next_stmt(handle, current)
        }
        return nil
    }

    /// Whether a statement that writes has begun and not ended.
    static func isWriting(_ handle: SQLiteConnection) -> Bool {
        var statement = sqlite3_next_stmt(handle, nil)
        while let current = statement {
            if sqlite3_stmt_busy(current) != 0 && sqlite3_stmt_readonly(current) == 0 { return true }
            statement = sqlite3_next_stmt(handle, current)
        }
        return false
    }

    /// Rewinds all statements, so that none is active.
    static func resetStatements(_ handle: SQLiteConnection) {
        var statement = sqlite3_next_stmt(handle, nil)
        while let current = statement {
            sqlite3_reset(current)
            statement = sqlite3_next_stmt(handle, current)
        }
    }

    /// Gives the key to the codec. Success says nothing about the key: the
    /// first read of a page does.
    static func key(_ handle: SQLiteConnection, _ bytes: UnsafeRawBufferPointer) -> CInt {
        sqlite3_key_v2(handle, "main", bytes.baseAddress, CInt(bytes.count))
    }

    /// Encrypts all pages anew, in the open transaction. Success says nothing:
    /// SQLCipher reports it also when the transaction can't be committed.
    static func rekey(_ handle: SQLiteConnection, _ bytes: UnsafeRawBufferPointer) -> CInt {
        sqlite3_rekey_v2(handle, "main", bytes.baseAddress, CInt(bytes.count))
    }

    /// Runs statements that return nothing of interest.
    static func execute(_ handle: SQLiteConnection, _ sql: String) -> CInt {
        sqlite3_exec(handle, sql, nil, nil, nil)
    }

    /// Reads the first column of the first row as text, or nil when there is none.
    static func text(_ handle: SQLiteConnection, _ sql: String) -> String? {
        var statement: SQLiteStatement?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW,
            let text = sqlite3_column_text(statement, 0)
        else { return nil }
        return String(cString: text)
    }

    /// The names of the databases that a connection has: `main`, `temp` once it is used, and what is attached.
    static func schemaNames(_ handle: SQLiteConnection) -> [String] {
        var statement: SQLiteStatement?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(handle, "PRAGMA database_list", -1, &statement, nil) == SQLITE_OK else {
            return []
        }
        var names: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            if let name = sqlite3_column_text(statement, 1) { names.append(String(cString: name)) }
        }
        return names
    }

    /// The `errno` of the last call of the system that failed, 0 when there is none.
    static func systemError(_ handle: SQLiteConnection) -> CInt { sqlite3_system_errno(handle) }

    /// The error of the last call on the connection.
    static func lastError(
        _ handle: SQLiteConnection, sql: String? = nil, arguments: StatementArguments? = nil,
        publicArguments: Bool = false
    ) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: sqlite3_extended_errcode(handle)),
            message: ResultCode.currentWording(String(cString: sqlite3_errmsg(handle))), sql: sql,
            arguments: arguments,
            publicStatementArguments: publicArguments)
    }

    /// Reads the first bytes of the database file.
    ///
    /// They are read through SQLite's own file object: closing a descriptor of
    /// our own would drop the POSIX locks that other connections of this
    /// process hold on the file.
    ///
    /// - returns: Fewer bytes when the file is shorter, none when the database
    ///   has no file.
    static func leadingBytes(_ handle: SQLiteConnection, count: Int) -> [UInt8] {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
            let file, let methods = file.pointee.pMethods,
            let fileSize = methods.pointee.xFileSize, let read = methods.pointee.xRead
        else { return [] }
        var size: sqlite3_int64 = 0
        guard fileSize(file, &size) == SQLITE_OK, size > 0 else { return [] }
        let available = min(count, Int(size))
        var bytes = [UInt8](repeating: 0, count: available)
        let code = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, CInt(available), 0) }
        return code == SQLITE_OK ? bytes : []
    }

    /// Whether another file, or none, is at the path of the one that is open.
    static func hasMoved(_ handle: SQLiteConnection) -> Bool {
        var hasMoved: CInt = 0
        let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        return code == SQLITE_OK && hasMoved != 0
    }

    /// Reads the first bytes of a file that other connections of this process may have open; none
    /// when there is no such file.
    static func leadingBytes(ofFile path: String, count: Int) -> [UInt8] {
        guard let handle = try? open(path: path, readonly: true, creates: false, isURI: false) else {
            return []
        }
        defer { close(handle) }
        return leadingBytes(handle, count: count)
    }

    /// Has a connection ask its configuration's callback when it meets a lock.
    static func setBusyCallback(_ handle: SQLiteConnection, _ database: Database) {
        // Closing removes the callback, so the pointer needs no reference count.
        let context = Unmanaged.passUnretained(database).toOpaque()
        sqlite3_busy_handler(
            handle,
            { context, count in
                guard let context else { return 0 }
                let database = Unmanaged<Database>.fromOpaque(context).takeUnretainedValue()
                guard let callback = database.configuration.busyCallback else { return 0 }
                return callback(Int(count)) ? 1 : 0
            }, context)
    }

    static func setBusyTimeout(_ handle: SQLiteConnection, milliseconds: CInt) {
        sqlite3_busy_timeout(handle, milliseconds)
    }

    /// SQLITE_DBCONFIG_DQS_DML and SQLITE_DBCONFIG_DQS_DDL of newer headers.
    static let doubleQuotedStringFlags: [CInt] = [1013, 1014]

    static let enableLoadExtensionFlag = CInt(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION)

    /// SQLITE_DBCONFIG_DEFENSIVE of newer headers: SQL can't damage the file.
    static let defensiveFlag: CInt = 1010

    static func setFlag(_ handle: SQLiteConnection, _ option: CInt, _ value: Bool) {
        // Older libraries answer that they do not know the flag, which is all
        // that can be done there.
        _ = csqlcipher_db_config_flag(handle, option, value ? 1 : 0)
    }

    /// The collation that a column was declared with, or nil when the table has no such column.
    static func collation(
        _ handle: SQLiteConnection, ofColumn column: String, of table: DatabaseObjectID
    ) -> String? {
        var collation: UnsafePointer<CChar>?
        let code = sqlite3_table_column_metadata(
            handle, table.schemaID.name, table.name, column, nil, &collation, nil, nil, nil)
        return code == SQLITE_OK ? collation.map { String(cString: $0) } : nil
    }

    static func maximumParameterCount(_ handle: SQLiteConnection) -> Int {
        Int(sqlite3_limit(handle, SQLITE_LIMIT_VARIABLE_NUMBER, -1))
    }

    static func isInsideTransaction(_ handle: SQLiteConnection) -> Bool {
        sqlite3_get_autocommit(handle) == 0
    }

    static func hasPendingForeignKeyViolations(_ handle: SQLiteConnection) -> Bool {
        var current: CInt = 0
        var highest: CInt = 0
        let code = sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &highest, 0)
        return code == SQLITE_OK && current != 0
    }

    /// The memory of the pages that a connection has in its caches, in bytes.
    static func cacheByteCount(_ handle: SQLiteConnection) -> Int {
        var current: CInt = 0
        var highest: CInt = 0
        let code = sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_USED, &current, &highest, 0)
        return code == SQLITE_OK ? Int(current) : 0
    }

    /// How many pages a connection has read from its files, or nil when SQLite does not say.
    static func readPageCount(_ handle: SQLiteConnection) -> CInt? {
        var current: CInt = 0
        var highest: CInt = 0
        let code = sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_MISS, &current, &highest, 0)
        return code == SQLITE_OK ? current : nil
    }

    static func lastInsertedRowID(_ handle: SQLiteConnection) -> Int64 {
        sqlite3_last_insert_rowid(handle)
    }

    static func changesCount(_ handle: SQLiteConnection) -> Int {
        Int(sqlite3_changes(handle))
    }

    static func totalChangesCount(_ handle: SQLiteConnection) -> Int {
        Int(sqlite3_total_changes(handle))
    }

    static func lastErrorCode(_ handle: SQLiteConnection) -> ResultCode {
        ResultCode(rawValue: sqlite3_errcode(handle))
    }

    static func interrupt(_ handle: SQLiteConnection) {
        sqlite3_interrupt(handle)
    }

    static func releaseMemory(_ handle: SQLiteConnection) {
        sqlite3_db_release_memory(handle)
    }
}
