import CSQLCipher

/// Learns from SQLite what a statement does, while SQLite prepares it.
///
/// SQLite asks the authorizer about each table and column of a statement. It
/// allows everything, except within a restriction, and pragmas that damage an encrypted database. With nobody who wants
/// to know, the answer costs a load and two comparisons.
///
/// Related SQLite documentation: <https://www.sqlite.org/c3ref/set_authorizer.html>
final class StatementAuthorizer {
    /// Whether nobody wants to know anything.
    private var isIdle = true

    /// What the statement that is being prepared reads, if somebody wants to know.
    private var reads: (region: DatabaseRegion, selectCount: Int)?

    /// Whether there are observers of changes.
    private var isObserved = false

    /// What the statements do that SQLite prepared since this was taken: also
    /// those that it prepares again when they run.
    private var effects = StatementEffects()

    /// What limits the statements of a block, if there is one.
    var restriction: UntrustedSQL?

    /// What becomes of pragmas that say how the database is encrypted, from the moment on in which it has a key.
    var cipherPragmas: CipherPragmas?

    /// Whether set-up functions have used pragmas that say how pages are written, and the key does not follow yet.
    var hasKeyPragmas = false

    /// Whether a statement of the app has set whether SQLite writes, since this was taken.
    private(set) var hasSetQueryOnly = false

    /// Why the last pragma was refused, until its error is made.
    private var refusal: String?

    /// How many blocks run statements of the library within a restriction.
    private var trustCount = 0

    /// The table or view that is being dropped.
    private var droppedName: String?

    /// Whether rows deleted from a table are observed.
    private var observesDeletion: (String) -> Bool = { _ in false }

    /// Called when a statement that exports the database is prepared, where that matters: see ``StatementTracer``.
    private var noticeExport: (() -> Void)?

    private var hasNoListener: Bool {
        !isObserved && reads == nil && restriction == nil && noticeExport == nil
    }

    /// Makes SQLite ask, and prepare all statements again before their next run.
    func install(on database: Database) {
        isObserved = database.broker.isActive
        noticeExport =
            database.watch.losesTracer
            ? { [unowned tracer = database.tracer, handle = database.handle] in
                tracer.noticeExport(on: handle)
            } : nil
        isIdle = hasNoListener
        effects = StatementEffects()
        observesDeletion = { [unowned broker = database.broker] in
            !broker.observations(of: .delete(tableName: $0)).isEmpty
        }
        sqlite3_set_authorizer(
            database.handle,
            { context, action, first, second, schema, trigger in
                guard let context else { return SQLITE_OK }
                let authorizer = Unmanaged<StatementAuthorizer>.fromOpaque(context)
                return authorizer._withUnsafeGuaranteedRef {
                    action == SQLITE_PRAGMA
                        ? $0.receivePragma(first, second, schema: schema, trigger)
                        : $0.isIdle ? SQLITE_OK : $0.receive(action, first, second, trigger)
                }
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Answers whether a pragma may run, whoever runs it: the library itself uses none of those that are refused.
    private func receivePragma(
        _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?, schema: UnsafePointer<CChar>?,
        _ trigger: UnsafePointer<CChar>?
    ) -> CInt {
        refusal = nil
        if trustCount == 0, value != nil, let name, sqlite3_stricmp(name, "query_only") == 0 {
            hasSetQueryOnly = true
        }
        let answer = isIdle ? SQLITE_OK : receive(SQLITE_PRAGMA, name, value, trigger)
        guard answer == SQLITE_OK, let cipherPragmas, let name else { return answer }
        switch cipherPragmas.answer(to: name, value, schema: schema) {
        case .obeyed: return SQLITE_OK
        case .noted:
            hasKeyPragmas = true
            return SQLITE_OK
        case .ignored: return SQLITE_IGNORE
        case .refused(let reason):
            refusal = reason
            return SQLITE_DENY
        }
    }

    /// Returns whether a statement of the app has set whether SQLite writes, since this was called.
    func takeQueryOnly() -> Bool {
        defer { hasSetQueryOnly = false }
        return hasSetQueryOnly
    }

    /// Why the pragma was refused whose error is being made; nil when SQLite denied something else.
    func takeRefusal() -> String? {
        defer { refusal = nil }
        return refusal
    }

    private func receive(
        _ action: CInt, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?,
        _ trigger: UnsafePointer<CChar>?
    ) -> CInt {
        if let restriction, trustCount == 0, !restriction.allows(action, first, second, trigger: trigger) {
            refusal = nil
            return SQLITE_DENY
        }
        switch action {
        case SQLITE_READ where reads != nil:
            if let first, let second {
                reads?.region.insert(column: String(cString: second), of: String(cString: first))
            }
        case SQLITE_SELECT where reads != nil:
            reads?.selectCount += 1
        case SQLITE_UPDATE where isObserved:
            if let first, let second {
                effects.updates[String(cString: first), default: []].insert(String(cString: second))
            }
        case SQLITE_SAVEPOINT where isObserved:
            if let first, let second {
                effects.savepoint = Self.operation(String(cString: first), String(cString: second))
            }
        case SQLITE_DROP_TABLE, SQLITE_DROP_TEMP_TABLE, SQLITE_DROP_VTABLE, SQLITE_DROP_VIEW,
            SQLITE_DROP_TEMP_VIEW:
            droppedName = first.map { String(cString: $0) }
        case SQLITE_FUNCTION where noticeExport != nil:
            if let second, sqlite3_stricmp(second, "sqlcipher_export") == 0 { noticeExport?() }
        case SQLITE_DELETE where isObserved:
            if let first { return deletion(String(cString: first)) }
        default:
            break
        }
        return SQLITE_OK
    }

    private static func operation(_ operation: String, _ name: String) -> SavepointOperation? {
        switch operation {
        case "BEGIN": .begin(name)
        case "RELEASE": .release(name)
        case "ROLLBACK": .rollback(name)
        default: nil
        }
    }

    /// Answers that rows are to be deleted one by one, so that the update hook
    /// is called for each, where an observer wants to know.
    ///
    /// The same answer to the question that follows the one about a dropped
    /// table or view, or for a table of the schema, would make SQLite drop
    /// nothing.
    private func deletion(_ table: String) -> CInt {
        if table == droppedName {
            droppedName = nil
            return SQLITE_OK
        }
        if table.foldedIdentifier.hasPrefix("sqlite_") { return SQLITE_OK }
        return observesDeletion(table) ? SQLITE_IGNORE : SQLITE_OK
    }

    // MARK: Statements

    /// Runs a block whose statements are the library's own.
    func trusting<T>(_ body: () throws -> T) rethrows -> T {
        trustCount += 1
        defer { trustCount -= 1 }
        return try body()
    }

    /// Forgets what statements do that were prepared before.
    func forgetEffects() {
        droppedName = nil
        if !effects.isEmpty { effects = StatementEffects() }
    }

    /// What the statements do that were prepared since this was asked, or nil
    /// when that is nothing to remember.
    func takeEffects() -> StatementEffects? {
        guard !effects.isEmpty else { return nil }
        defer { effects = StatementEffects() }
        return effects
    }

    /// Runs a block in the middle of a statement's preparation, and leaves what
    /// is known of that statement as it is.
    func keepingEffects<T>(_ body: () throws -> T) rethrows -> T {
        let outer = (effects, droppedName)
        defer { (effects, droppedName) = outer }
        return try body()
    }

    /// Runs a block and tells what the statements read that are prepared in it.
    func recordingReads(_ body: () -> Void) -> (region: DatabaseRegion, selectCount: Int) {
        let outer = reads
        let outerEffects = effects
        reads = (DatabaseRegion(), 0)
        isIdle = false
        defer {
            reads = outer
            effects = outerEffects
            isIdle = hasNoListener
        }
        body()
        return reads ?? (.fullDatabase, 0)
    }
}
