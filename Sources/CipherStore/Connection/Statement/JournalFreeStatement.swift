import CSQLCipher

/// A statement that means the same as another one, and for which SQLite keeps no statement journal.
///
/// A statement that may change several rows, or has a trigger, can fail in its middle. Within a transaction, SQLite keeps
/// the pages as they were before such a statement, and SQLCipher 3 encrypts each of them for that: an `UPDATE` of a row by
/// its key takes five times as long as without, and an `INSERT` into a tracked table fifteen times (docs/benchmarks.md).
/// Where the statement changes one row at most, and the table has no triggers but those that track it for
/// synchronization, `OR FAIL` does without the journal (see ``SingleRowChange``).
///
/// If something fails all the same after the row was written, because the file is damaged or somebody has changed what the
/// triggers write to, the transaction is rolled back: there is nothing by which the row alone could be undone. SQLite does
/// so itself when the disk is full.
///
/// Related SQLite documentation: <https://www.sqlite.org/tempfiles.html#statement_journal_files>
final class JournalFreeStatement {
    private enum State {
        /// It has not run in a transaction yet. Statements that run once are not worth another one.
        case new
        case hasRun
        /// What was decided for the schema of a generation; nil for not to be used.
        case decided(handle: SQLiteStatement?, generation: Int)
    }

    private var state = State.new

    /// Whether the run that has just failed may have left something.
    private var hasFailedLate = false

    /// Whether there may be one, by the first letter of a statement.
    static func canBe(of sql: String) -> Bool {
        guard EngineFeatures.current.encryptsStatementJournals, let letter = sql.utf8.first else {
            return false
        }
        return letter == UInt8(ascii: "I") || letter == UInt8(ascii: "i") || letter == UInt8(ascii: "U")
            || letter == UInt8(ascii: "u")
    }

    deinit {
        if case .decided(let handle, _) = state { sqlite3_finalize(handle) }
    }

    /// Whether it runs when the statement is to run within a transaction.
    var isUsed: Bool {
        if case .decided(.some, _) = state { return true }
        return false
    }

    /// Whether SQLite is in the middle of it.
    var isRunning: Bool {
        guard case .decided(let handle?, _) = state else { return false }
        return sqlite3_stmt_busy(handle) != 0
    }

    /// Decides how the next run will be. To be called before the statement has begun.
    func willRun(_ statement: Statement, _ database: Database) {
        guard sqlite3_get_autocommit(database.handle) == 0 else { return }
        switch state {
        case .new:
            state = .hasRun
            return
        case .hasRun: database.noticeSchemaChange()
        case .decided(let handle, let generation):
            database.noticeSchemaChange()
            // An SQL function that it has called may not take it away.
            guard generation != database.schema.generation, !isRunning else { return }
            sqlite3_finalize(handle)
            state = .hasRun
        }
        guard database.authorizer.restriction == nil else { return }
        let handle = database.withoutTracing { Self.prepare(statement, database) }
        state = .decided(handle: handle, generation: database.schema.generation)
    }

    /// Runs the statement or the other one, to the first row or the end.
    ///
    /// - returns: As ``RawStep/next(_:)`` does.
    func step(_ statement: Statement, _ database: Database) -> Bool? {
        let original = statement.sqliteStatement
        // Who traces sees the statement of the app. What is not trusted was allowed for that one.
        guard case .decided(let handle?, _) = state, sqlite3_get_autocommit(database.handle) == 0, !isRunning,
            database.authorizer.restriction == nil, !database.tracer.isTracing,
            sqlite3_stmt_busy(original) == 0,
            sqlite3_transfer_bindings(original, handle) == SQLITE_OK
        else { return RawStep.next(original) }
        let result = RawStep.next(handle)
        // The error stays on the connection.
        let code = sqlite3_reset(handle)
        hasFailedLate = result == nil && Self.isLate(code, database.handle)
        sqlite3_transfer_bindings(handle, original)
        return result
    }

    /// Whether a failure may have come after the row was written.
    private static func isLate(_ code: CInt, _ connection: SQLiteConnection) -> Bool {
        switch code & 0xFF {
        // The row's own constraints come first. The number is of this run, which has got that far.
        case SQLITE_CONSTRAINT: sqlite3_changes(connection) > 0
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_TOOBIG: true
        // A busy database or a function that throws: nothing was written yet.
        default: false
        }
    }

    /// Whether the run that has failed may have left something. It is told once.
    func takeLateFailure() -> Bool {
        defer { hasFailedLate = false }
        return hasFailedLate
    }

    /// Prepares the statement, or tells by nil that the other one has to run.
    private static func prepare(_ statement: Statement, _ database: Database) -> SQLiteStatement? {
        guard let change = SingleRowChange(sql: statement.sql),
            (try? database.allowsOrFail(change)) == true
        else { return nil }
        var handle: SQLiteStatement?
        let code = database.authorizer.keepingEffects {
            database.authorizer.forgetEffects()
            let code = sqlite3_prepare_v2(database.handle, change.sql, -1, &handle, nil)
            // SQLite does not say again at the first step what the statement changes.
            if database.broker.isActive {
                statement.routes = database.authorizer.takeEffects().map(StatementRoutes.init)
            }
            return code
        }
        guard code == SQLITE_OK else { return nil }
        return handle
    }
}

/// What is known of a table about changes of one row.
struct SingleRowTable {
    /// Whether `OR FAIL` means the same for an `INSERT` of one row, and is faster.
    var allowsInsert = false
    /// The column by which one row is found for whose update the same holds; nil when there is none.
    var key: String?
}

extension Database {
    /// Whether a change is the same with `OR FAIL`, and does without a statement journal then.
    fileprivate func allowsOrFail(_ change: SingleRowChange) throws -> Bool {
        let name = change.table.identifierKey
        let table = try schema.singleRowTables[name] ?? singleRowTable(change.table)
        schema.singleRowTables[name] = table
        guard let columns = change.conditionColumns else { return table.allowsInsert }
        guard let key = table.key else { return false }
        return columns.contains(where: key.isSameIdentifier(as:))
            && !change.assignedNames.contains(where: key.isSameIdentifier(as:))
    }

    private func singleRowTable(_ name: String) throws -> SingleRowTable {
        var table = SingleRowTable()
        let triggers = try String.fetchAll(
            self,
            sql: """
                SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE
                UNION ALL
                SELECT name FROM sqlite_temp_master WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE
                """, arguments: [name])
        let texts = try String.fetchAll(
            self,
            sql: """
                SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = ?1 COLLATE NOCASE
                UNION ALL SELECT 'CONFLICT' FROM sqlite_temp_master WHERE name = ?1 COLLATE NOCASE
                """, arguments: [name])
        // An expression can fail while the entries of the row are written.
        let hasPlainIndexes = try indexes(on: name).allSatisfy { sql in
            let tokens = SQLTokens(sql).tokens
            return tokens.count { $0.isSymbol("(") } == 1 && !tokens.contains { $0.isKeyword("where") }
        }
        // What a table says for its conflicts goes before OR ABORT, and not before OR FAIL. A key that is compared in
        // another way than its index may be that of several rows.
        let words = texts.flatMap { SQLTokens($0).tokens }
        let isPlain =
            !words.isEmpty
            && !words.contains { ["conflict", "collate", "virtual"].contains(where: $0.isKeyword) }
        // The key is asked for first: who knows nothing of the schema does not notice its changes.
        let key = try primaryKey(name, in: "main")
        guard isPlain, hasPlainIndexes, triggers.allSatisfy(SyncNames.contains),
            try triggers.isEmpty || indexes(on: "_sync_log").isEmpty
        else { return table }
        // Without a trigger SQLite keeps no statement journal for it.
        table.allowsInsert = !triggers.isEmpty
        // A column may be called rowid.
        if key.columnInfos?.count == 1, try !isReferred(to: name, besides: key.columns[0]) {
            table.key = key.columns[0]
        }
        return table
    }

    /// The statements that made the indexes on a table.
    private func indexes(on table: String) throws -> [String] {
        try String.fetchAll(
            self,
            sql: """
                SELECT sql FROM main.sqlite_master WHERE type = 'index' AND tbl_name = ? COLLATE NOCASE AND sql NOT NULL
                """, arguments: [table])
    }

    /// Whether a foreign key refers to another column than the primary key. To change that one may change other rows.
    private func isReferred(to table: String, besides key: String) throws -> Bool {
        let names = try String.fetchAll(
            self, sql: "SELECT name FROM main.sqlite_master WHERE type = 'table' AND sql LIKE '%references%'")
        return try names.contains { name in
            try foreignKeys(on: name, in: "main").contains { foreignKey in
                foreignKey.destinationTable.isSameIdentifier(as: table)
                    && !foreignKey.destinationColumns.allSatisfy { $0.isSameIdentifier(as: key) }
            }
        }
    }
}
