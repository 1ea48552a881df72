import Foundation

extension Database {
    /// Makes the connection ready: what needs no page first, then the key, then
    /// the proof that the key opens the file.
    func setUp() throws {
        defer { setUpSecret = nil }
        waitForLocks()
        harden()
        addBuiltInFunctions()
        do {
            try configuration.setUp(self)
        } catch let error as DatabaseError where error.isOfUnprovenKey && !isKeyProven {
            throw explain(
                error, advice: "; what reads comes after the passphrase and the pragmas about the key")
        }
        try applyKeyPragmas()
        if configuration.encryption == .required && encryptionKey == nil {
            throw StoreError(.keyRequired, "a passphrase is required, and none was given", path: path)
        }
        try withoutTracing {
            try proveKey()
            try useSettingsThatNeedTheKey()
        }
    }

    /// Waits for locks as the configuration says.
    func waitForLocks() {
        switch configuration.busyMode {
        case .immediateError:
            if configuration.patienceWithReaders == nil { return waitForLocks(seconds: 0) }
            SQLiteHandle.setBusyCallback(handle, self)
        case .timeout(let seconds): waitForLocks(seconds: seconds)
        case .callback: SQLiteHandle.setBusyCallback(handle, self)
        }
    }

    /// Waits for locks for a time.
    func waitForLocks(seconds: Double) {
        SQLiteHandle.setBusyTimeout(handle, milliseconds: CInt(max(0, min(seconds * 1000, 3_600_000))))
    }

    /// Settings that keep data out of temporary files and hostile schemas harmless.
    private func harden() {
        var pragmas = [
            "PRAGMA foreign_keys = \(configuration.foreignKeysEnabled ? "ON" : "OFF")",
            "PRAGMA temp_store = MEMORY",
            "PRAGMA cell_size_check = ON",
            // Debian's builds have it on; those of others must not keep deleted content either.
            "PRAGMA secure_delete = ON",
        ]
        if EngineFeatures.current.supportsTrustedSchema { pragmas.append("PRAGMA trusted_schema = OFF") }
        for pragma in pragmas { _ = SQLiteHandle.execute(handle, pragma) }
        SQLiteHandle.setFlag(handle, SQLiteHandle.enableLoadExtensionFlag, false)
        setDefensive(true)
        for flag in SQLiteHandle.doubleQuotedStringFlags {
            SQLiteHandle.setFlag(handle, flag, configuration.acceptsDoubleQuotedStringLiterals)
        }
    }

    /// Sets whether SQL can't do what damages the file, where the library has that mode.
    func setDefensive(_ isDefensive: Bool) {
        // Older libraries need a writable schema to drop a column.
        guard EngineFeatures.current.supportsDropColumn else { return }
        SQLiteHandle.setFlag(handle, SQLiteHandle.defensiveFlag, isDefensive)
    }

    /// Reads the schema: the first read of a page derives and uses the key.
    private func proveKey() throws {
        do {
            if isNewFile && !configuration.readonly { try writeFirstPage() }
            _ = try Int.fetchOne(self, sql: Self.probeSQL)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_NOTADB {
            throw explain(error)
        }
    }

    /// Writes the first page of a new file, and with it the salt: another
    /// connection that opens the file from now on derives the same key.
    private func writeFirstPage() throws {
        try inTransaction(.immediate) {
            try execute(sql: "PRAGMA user_version = 0")
            return .commit
        }
    }

    /// A statement that reads the schema.
    static let probeSQL = "SELECT count(*) FROM sqlite_master"

    /// The error of the key with what it is about.
    ///
    /// - parameter advice: What else may be wrong, as the end of a sentence.
    private func explain(_ error: DatabaseError, advice: String = "") -> DatabaseError {
        switch StoreFile(leadingBytes: SQLiteHandle.leadingBytes(handle, count: 512)) {
        case .plaintext:
            error.with(storeError: StoreError(.plaintext, "the database is not encrypted", path: path))
        case .truncated:
            error.with(
                storeError: StoreError(.damaged, "the file is too short for a database", path: path))
        default:
            if encryptionKey == nil {
                error.with(
                    storeError: StoreError(
                        .keyRequired,
                        "the file is encrypted, or no database, and no key was given" + advice, path: path))
            } else if isNewFile {
                error.with(
                    storeError: StoreError(
                        .busy, "another connection made the file at the same moment; open it again",
                        path: path))
            } else if isKeyProven {
                error.with(storeError: StoreError(.damaged, "the database is damaged", path: path))
            } else {
                error.with(
                    storeError: StoreError(
                        .wrongPassphrase,
                        "the passphrase does not open it, or its first page is damaged" + adviceOnDefaults
                            + advice,
                        path: path))
            }
        }
    }

    /// How much of a transaction is kept in memory where writing it earlier could lose the commit: 256 MiB.
    static let keptKibibytes = 262_144

    private func useSettingsThatNeedTheKey() throws {
        try execute(sql: "PRAGMA mmap_size = 0")
        if let kibibytes = configuration.cacheKibibytes {
            try execute(sql: "PRAGMA cache_size = -\(kibibytes)")
        }
        if configuration.journalMode == .wal && !configuration.readonly && mode == .ordinary
            && DatabasePath(path).isFile
        {
            // The change is made when the statement ends, after its row, so it runs to its end.
            try execute(sql: "PRAGMA journal_mode = WAL")
            let mode = try String.fetchOne(self, sql: "PRAGMA journal_mode")
            if mode == "wal" { try execute(sql: "PRAGMA synchronous = NORMAL") }
        }
        try keepTransactionsInMemory()
        try useRecursiveTriggersIfTracked()
    }

    /// Keeps pages in memory until the commit where SQLite could lose it otherwise: in WAL mode, which a statement or another
    /// process can turn on later.
    private func keepTransactionsInMemory() throws {
        guard EngineFeatures.current.losesCommitsAfterPartialRollback, !configuration.readonly,
            DatabasePath(path).isFile
        else { return }
        try execute(sql: "PRAGMA cache_spill = -\(Self.keptKibibytes)")
    }

    /// Does the same for the files that are attached, whose caches are others, once a statement has attached one or has
    /// changed the size of pages, in which SQLite counts.
    ///
    /// - parameter isAttached: Whether a file was attached, so that the main one stays as it is.
    func keepTransactionsInMemory(afterAttaching isAttached: Bool) {
        guard EngineFeatures.current.losesCommitsAfterPartialRollback, !configuration.readonly,
            // Old engines read a page to list what is attached, and the key may not be the right one yet.
            isAttached || isSetUp
        else { return }
        withoutTracing {
            authorizer.trusting {
                for schema in SQLiteHandle.schemaNames(handle)
                where schema != "temp" && !(isAttached && schema == "main") {
                    let name = schema.quotedDatabaseIdentifier
                    _ = SQLiteHandle.execute(
                        handle, "PRAGMA \(name).cache_spill = -\(Self.keptKibibytes)")
                }
            }
        }
    }
}

extension DatabaseError {
    /// Whether a set-up function has read the file before its key was the right one. What it attaches is another file.
    fileprivate var isOfUnprovenKey: Bool {
        resultCode == .SQLITE_NOTADB && storeError == nil && sql.flatMap(SQLText.firstWord) != "attach"
    }
}
