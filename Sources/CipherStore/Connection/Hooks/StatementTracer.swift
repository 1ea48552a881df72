import CSQLCipher

/// Passes SQLite's trace events of one connection on.
///
/// It is touched by the thread that uses the connection, only.
final class StatementTracer {
    /// Called with each event and whether descriptions show arguments.
    private var observer: ((Database.TraceEvent) -> Void)?
    private var options: Database.TracingOptions = []
    private var showsArguments = false

    /// Whether an export is running that must not find a tracer.
    private var isSuspended = false

    /// The statements that export, by themselves or by a view or trigger.
    private var exporting: Set<SQLiteStatement> = []

    /// The statement that runs, until it ends or another one is prepared. SQLite may prepare it again in its first step.
    private weak var running: Statement?

    /// Whether SQLite has told that the statement started.
    private var hasStarted = false

    /// Whether the statement that is being prepared exports.
    private var preparesExport = false

    /// Whether somebody sees the statements that run.
    var isTracing: Bool { observer != nil }

    /// How many blocks that must not be traced are running.
    var muteCount = 0

    /// Sets what is traced on a connection. The tracer must outlive the
    /// connection, or be removed with no options.
    func install(
        on handle: SQLiteConnection, options: Database.TracingOptions, showsArguments: Bool,
        _ observer: ((Database.TraceEvent) -> Void)?
    ) {
        self.observer = options.isEmpty ? nil : observer
        self.options = options
        self.showsArguments = showsArguments
        isSuspended = false
        guard self.observer != nil else { return Self.uninstall(from: handle) }
        install(on: handle)
    }

    private func install(on handle: SQLiteConnection) {
        var mask: CInt = 0
        if options.contains(.statement) || EngineFeatures.current.exportLosesTracer {
            mask |= SQLITE_TRACE_STMT
        }
        if options.contains(.profile) { mask |= SQLITE_TRACE_PROFILE }
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_trace_v2(
            handle, CUnsignedInt(mask),
            { kind, context, statement, detail in
                if let context, let statement {
                    Unmanaged<StatementTracer>.fromOpaque(context).takeUnretainedValue()
                        .receive(CInt(kind), OpaquePointer(statement), detail)
                }
                return 0
            }, context)
    }

    /// Stops tracing a connection.
    static func uninstall(from handle: SQLiteConnection) {
        sqlite3_trace_v2(handle, 0, nil, nil)
    }

    /// Traces a connection again after a statement that was run without the tracer, unless one still runs.
    func resume(on handle: SQLiteConnection) {
        guard isSuspended, !exporting.contains(where: { sqlite3_stmt_busy($0) != 0 }) else { return }
        isSuspended = false
        install(on: handle)
    }

    // MARK: Exports

    /// A statement is about to be prepared.
    func willPrepare() {
        running = nil
        preparesExport = false
    }

    /// A statement was prepared.
    func didPrepare(_ statement: Statement) {
        if preparesExport { add(statement) }
    }

    /// A statement is about to run.
    func willRun(_ statement: Statement) {
        running = statement
        hasStarted = false
    }

    /// A statement has run.
    func didRun() { running = nil }

    /// A statement that exports goes.
    func forget(_ statement: SQLiteStatement) { exporting.remove(statement) }

    /// SQLite prepares a statement that exports: for the first time, or again, in its first step.
    func noticeExport(on handle: SQLiteConnection) {
        guard let running else {
            preparesExport = true
            return
        }
        add(running)
        // Its start is not told a second time.
        if hasStarted { suspend(on: handle) }
    }

    private func add(_ statement: Statement) {
        statement.exports = true
        exporting.insert(statement.sqliteStatement)
    }

    private func suspend(on handle: SQLiteConnection) {
        isSuspended = true
        Self.uninstall(from: handle)
    }

    // MARK: Events

    private func receive(_ kind: CInt, _ statement: SQLiteStatement, _ detail: UnsafeMutableRawPointer?) {
        if kind == SQLITE_TRACE_STMT { suspendForExport(statement) }
        guard muteCount == 0, let observer else { return }
        guard options.contains(kind == SQLITE_TRACE_STMT ? .statement : .profile) else { return }
        // SQLite gives the text of a trigger or of an inner statement as a comment.
        let comment = kind == SQLITE_TRACE_STMT ? detail.map(Self.text) : nil
        let traced = TracedStatement(statement, comment: comment?.hasPrefix("--") == true ? comment : nil)
        defer { traced.end() }
        let event = Database.TraceEvent.Statement(traced: traced, showsArguments: showsArguments)
        if kind == SQLITE_TRACE_PROFILE {
            let nanoseconds = detail?.loadUnaligned(as: Int64.self) ?? 0
            observer(.profile(statement: event, duration: Double(nanoseconds) / 1e9))
        } else {
            observer(.statement(event))
        }
    }

    /// Takes the tracer away from a statement that exports, where that would end the process: SQLCipher 3 sets the
    /// function to nil while it exports, and calls it all the same.
    private func suspendForExport(_ statement: SQLiteStatement) {
        guard EngineFeatures.current.exportLosesTracer, let handle = sqlite3_db_handle(statement) else {
            return
        }
        if statement == running?.sqliteStatement { hasStarted = true }
        if exporting.contains(statement) || Self.namesExport(statement) { suspend(on: handle) }
    }

    /// Whether the text of a statement, which another library may have prepared, names the function.
    private static func namesExport(_ statement: SQLiteStatement) -> Bool {
        sqlite3_sql(statement).map { sqlite3_strlike("%sqlcipher_export%", $0, 0) == 0 } ?? false
    }

    private static func text(_ pointer: UnsafeMutableRawPointer) -> String {
        String(cString: pointer.assumingMemoryBound(to: CChar.self))
    }
}

/// A statement while it is traced. Its texts are made when they are asked for.
final class TracedStatement {
    private var statement: SQLiteStatement?

    /// The SQL, without keys, and without values that are there for want of arguments.
    let sql: String

    /// Whether the SQL held a key.
    private let hasKey: Bool
    private let isComment: Bool

    init(_ statement: SQLiteStatement, comment: String?) {
        self.statement = statement
        let text = comment ?? sqlite3_sql(statement).map { String(cString: $0) } ?? ""
        let redacted = KeyRedaction.redacted(text)
        hasKey = redacted != nil
        isComment = comment != nil
        let keyless = redacted ?? text
        sql = (ValueRedaction.redacted(keyless) ?? keyless).trimmedSQL
    }

    /// The SQL with arguments, or without them when it takes a key or is no
    /// longer being traced.
    var expandedSQL: String {
        guard let statement, !hasKey, !isComment, let text = sqlite3_expanded_sql(statement) else {
            return sql
        }
        defer { sqlite3_free(text) }
        return String(cString: text).trimmedSQL
    }

    /// The statement may be gone from now on.
    func end() { statement = nil }
}
