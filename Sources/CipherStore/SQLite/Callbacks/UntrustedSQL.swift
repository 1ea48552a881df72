import CSQLCipher

/// What SQL from outside may do.
///
/// This is a list of what is allowed: what a newer SQLite adds is denied until it is
/// looked at. Related SQLite documentation: <https://www.sqlite.org/c3ref/c_alter_table.html>
struct UntrustedSQL {
    /// Whether rows of ordinary tables may be written.
    let allowsWriting: Bool

    /// The functions that the program added to the connection.
    let functions: RegisteredFunctions

    /// Whether virtual tables may be declared where SQLite asks about that as if the table of the schema were updated.
    ///
    /// With `PRAGMA writable_schema` the answer would allow such updates, too.
    let allowsDeclarations: Bool

    /// Pragmas that tell something, and change nothing whatever their argument is.
    private static let introspection: Set<String> = [
        "collation_list", "compile_options", "database_list", "foreign_key_check", "foreign_key_list",
        "function_list", "index_info", "index_list", "index_xinfo", "integrity_check", "module_list",
        "pragma_list", "quick_check", "table_info", "table_list", "table_xinfo",
    ]

    /// Settings that may be read. With an argument they are changed.
    private static let settings: Set<String> = [
        "application_id", "auto_vacuum", "cache_size", "cipher_version", "data_version", "encoding",
        "foreign_keys", "freelist_count", "journal_mode", "page_count", "page_size", "query_only",
        "recursive_triggers", "schema_version", "synchronous", "user_version",
    ]

    /// The answer to what SQLite asks.
    ///
    /// - parameters:
    ///     - first: The third argument of the authorizer.
    ///     - second: The fourth.
    ///     - trigger: The innermost trigger or view that asks.
    func allows(
        _ action: CInt, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?,
        trigger: UnsafePointer<CChar>?
    ) -> Bool {
        switch action {
        case SQLITE_SELECT, SQLITE_READ, SQLITE_RECURSIVE: true
        case SQLITE_FUNCTION:
            second.map { UntrustedFunctions.allows(String(cString: $0), functions) } ?? false
        case SQLITE_UPDATE where allowsDeclarations && Self.isDeclaration(first, trigger: trigger): true
        case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
            allowsWriting && Self.allowsWriting(first, trigger: trigger)
        case SQLITE_PRAGMA: first.map { Self.allowsPragma(String(cString: $0), second) } ?? false
        default: false
        }
    }

    private static func allowsPragma(_ name: String, _ argument: UnsafePointer<CChar>?) -> Bool {
        let name = name.foldedIdentifier
        return introspection.contains(name) || (settings.contains(name) && argument == nil)
    }

    /// Whether a module declares the columns of its table. SQLite refuses statements that update the table of the
    /// schema before it asks, so none of them gets here.
    private static func isDeclaration(
        _ table: UnsafePointer<CChar>?, trigger: UnsafePointer<CChar>?
    ) -> Bool {
        guard let table, trigger == nil else { return false }
        return String(cString: table) == "sqlite_master"
    }

    /// Tables of SQLite and of the library are written by triggers of the library only.
    private static func allowsWriting(
        _ table: UnsafePointer<CChar>?, trigger: UnsafePointer<CChar>?
    ) -> Bool {
        guard let table else { return false }
        let name = String(cString: table)
        if name.foldedIdentifier.hasPrefix("sqlite_") { return false }
        guard SyncNames.contains(name) else { return true }
        return trigger.map { SyncNames.contains(String(cString: $0)) } ?? false
    }

    /// Limits that hostile SQL meets before memory or the stack ends, where they are lower than the
    /// connection's own.
    static let limits: [(CInt, CInt)] = [
        (SQLITE_LIMIT_LENGTH, 256 << 20), (SQLITE_LIMIT_SQL_LENGTH, 1_000_000),
        (SQLITE_LIMIT_EXPR_DEPTH, 200), (SQLITE_LIMIT_COMPOUND_SELECT, 50),
        (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 10_000), (SQLITE_LIMIT_VDBE_OP, 1_000_000),
        (SQLITE_LIMIT_ATTACHED, 0), (SQLITE_LIMIT_TRIGGER_DEPTH, 100),
    ]

    /// Lowers the limits of a connection.
    ///
    /// - returns: The limits that it had.
    static func lowerLimits(of handle: SQLiteConnection) -> [(CInt, CInt)] {
        limits.map { limit, value in
            let current = sqlite3_limit(handle, limit, -1)
            sqlite3_limit(handle, limit, min(current, value))
            return (limit, current)
        }
    }

    static func restore(_ limits: [(CInt, CInt)], of handle: SQLiteConnection) {
        for (limit, value) in limits { sqlite3_limit(handle, limit, value) }
    }
}
