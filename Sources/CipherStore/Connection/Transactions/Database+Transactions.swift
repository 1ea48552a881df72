extension Database {
    /// Runs a block in a transaction.
    ///
    /// The block's error, or its `.rollback`, undoes everything it did.
    ///
    /// - parameter kind: The kind of transaction; immediate when nil, deferred
    ///   where writing is not allowed.
    /// - parameter operations: What is done in the transaction.
    /// - throws: The block's error, or a ``DatabaseError`` when the transaction
    ///   can't begin or commit, or SQLite has already rolled it back
    ///   (`SQLITE_ABORT`).
    public func inTransaction(
        _ kind: TransactionKind? = nil, _ operations: () throws -> TransactionCompletion
    ) throws {
        try beginTransaction(kind)
        try finish(commit: "COMMIT TRANSACTION", rollback: rollback, operations)
    }

    /// Runs a block in a savepoint, which can be nested.
    ///
    /// - throws: The block's error, or a ``DatabaseError``.
    public func inSavepoint(_ operations: () throws -> TransactionCompletion) throws {
        // The outermost savepoint is a transaction, so that it takes the write
        // lock at its start and not in its middle.
        guard isInsideTransaction else { return try inTransaction(nil, operations) }
        try execute(sql: "SAVEPOINT grdb")
        try finish(
            commit: "RELEASE SAVEPOINT grdb",
            rollback: {
                try executeProtected("ROLLBACK TRANSACTION TO SAVEPOINT grdb")
                try executeProtected("RELEASE SAVEPOINT grdb")
            },
            operations)
    }

    private func finish(
        commit: String, rollback: () throws -> Void, _ operations: () throws -> TransactionCompletion
    ) throws {
        let neededTransaction = needsTransaction
        needsTransaction = true
        defer { needsTransaction = neededTransaction }
        do {
            switch try operations() {
            case .commit:
                try checkMayRun(commit)
                try protected { try execute(sql: commit) }
            case .rollback: if isInsideTransaction { try rollback() }
            }
        } catch {
            // SQLite may have rolled back by itself (disk full, for one); the
            // first error is the one that explains.
            if isInsideTransaction { try? rollback() }
            throw error
        }
    }

    /// Begins a transaction.
    ///
    /// - parameter kind: The kind of transaction; immediate when nil, deferred
    ///   where writing is not allowed.
    /// - throws: A ``DatabaseError``, of code `SQLITE_READONLY` for a
    ///   transaction that would write where that is not allowed.
    public func beginTransaction(_ kind: TransactionKind? = nil) throws {
        let kind = kind ?? (isReadOnly ? .deferred : .immediate)
        if isReadOnly && kind != .deferred {
            throw DatabaseError(
                resultCode: .SQLITE_READONLY, message: "attempt to write a readonly database",
                sql: "BEGIN \(kind.rawValue) TRANSACTION")
        }
        forgetDoubtfulPages()
        if kind == .deferred { return try runKept(readStatements.begin) }
        try execute(sql: "BEGIN \(kind.rawValue) TRANSACTION")
        // With the lock, nobody else can change the schema any more.
        noticeSchemaChange()
    }

    /// Rolls the transaction back. Does nothing when none is open. Nothing
    /// stops a rollback, neither an interruption nor a cancelled task.
    ///
    /// - throws: A ``DatabaseError``.
    public func rollback() throws {
        if isInsideTransaction { try executeProtected("ROLLBACK TRANSACTION") }
    }

    /// Rolls the transaction back because a statement has failed and left a change.
    func rollbackAfterPartialChange() {
        do {
            try rollback()
        } catch {
            Self.log(error)
        }
    }

    /// Commits the transaction.
    ///
    /// - throws: A ``DatabaseError``; the transaction is still open then.
    public func commit() throws {
        try execute(sql: "COMMIT TRANSACTION")
    }

    // MARK: Reading

    /// Runs a statement of the library itself, which nothing can stop.
    func bookkeeping(_ sql: String) throws {
        try checkIsOpen(sql)
        try protected {
            try authorizer.trusting {
                try withoutTracing {
                    var code = SQLiteHandle.execute(handle, sql)
                    if ResultCode(rawValue: code) == .SQLITE_INTERRUPT && resetStatements() {
                        code = SQLiteHandle.execute(handle, sql)
                    }
                    if ResultCode(rawValue: code) != .SQLITE_OK { throw lastError(sql: sql) }
                }
            }
        }
    }

    /// Runs a block that must not write, in a snapshot of the database, and ends
    /// it with the check that ``Configuration/verifiesReads`` describes.
    func readSnapshot<T>(_ body: (Database) throws -> T) throws -> T {
        try readOnly {
            try beginTransaction(.deferred)
            noticeSchemaChange()
            return try finishingSnapshot { try body(self) }
        }
    }

    /// Ends the snapshot that was begun, whatever the block does.
    func finishingSnapshot<T>(_ body: () throws -> T) throws -> T {
        let neededTransaction = needsTransaction
        needsTransaction = true
        defer { needsTransaction = neededTransaction }
        do {
            let value = try body()
            try protected {
                try withoutTracing { try verifySnapshot() }
                // From here on the access has succeeded, and a cancellation comes too late.
                currentAccess?.finish()
                guard isInsideTransaction else { return }
                let commit = readStatements.commit
                try throughInterruption(commit.sql) { try runKept(commit) }
            }
            return value
        } catch {
            // It may have read a page that is not authentic, and was not checked.
            readOnlyBlocks.verifiedPages = nil
            try? rollback()
            // Pages of two moments do not fit together, which looks like damage.
            try requireUnchangedFile()
            throw error
        }
    }

    /// Runs a statement that begins or ends a transaction. While SQL is not trusted, SQLite is asked about it each time.
    private func runKept(_ statement: KeptStatement) throws {
        guard authorizer.restriction == nil else { return try execute(sql: statement.sql) }
        try statement.run(on: self)
    }

    /// Whether a row refers to nothing by a foreign key that is checked at the end of the transaction, and would make that fail.
    ///
    /// SQLite counts these only while it enforces foreign keys.
    package var hasPendingForeignKeyViolations: Bool {
        isInsideTransaction && SQLiteHandle.hasPendingForeignKeyViolations(handle)
    }

    private var isVerifying: Bool { encryptionKey != nil && configuration.verifiesReads }

    /// Throws when a page that a snapshot has read is not authentic.
    ///
    /// The MAC of a page is compared when SQLite reads the page from the file, and SQLite counts these. When it has read
    /// none since the last check, and nothing but snapshots was read meanwhile, that check still holds. A page that was
    /// not authentic then is not kept: SQLite empties the cache when a transaction with an error ends, and where it does
    /// not, ``forgetDoubtfulPages()`` does.
    private func verifySnapshot() throws {
        let mark = pageMark
        if let mark, mark == readOnlyBlocks.verifiedPages { return try requireUnchangedFile() }
        readOnlyBlocks.verifiedPages = nil
        try verifyReads()
        // The check may have read pages itself, so the mark is that before it.
        readOnlyBlocks.verifiedPages = mark
    }

    /// Empties the cache of a file that is read as it is, unless the last use of the connection was a read whose pages are
    /// known to be authentic.
    ///
    /// Such a file SQLite treats as a temporary one, whose cache it keeps after an error. A page that is not authentic would
    /// be there as zeros, and no MAC is compared of what is there. Called before a transaction whose end is checked.
    func forgetDoubtfulPages() {
        guard mode != .ordinary, isVerifying, !isClosed, !isInsideTransaction,
            readOnlyBlocks.verifiedPages == nil
        else { return }
        SQLiteHandle.releaseMemory(handle)
    }

    /// The mark of the pages that were read until now, nil where it would not tell all of them.
    private var pageMark: PageMark? {
        guard isVerifying, !isClosed, readOnlyBlocks.areOfSnapshot, readOnlyBlocks.countsPages,
            !authorizer.hasSetQueryOnly, let count = SQLiteHandle.readPageCount(handle)
        else { return nil }
        return PageMark(pageCount: count, generation: schema.generation)
    }

    /// Throws when a page that was read in the open transaction is not authentic.
    package func verifyReads() throws {
        try requireUnchangedFile()
        guard isVerifying else { return }
        do {
            let check = readStatements.check
            do {
                try check.run(on: self)
            } catch let error as DatabaseError where error.isInterruptionError && resetStatements() {
                // An interruption of the block is still in effect while one of its cursors lives.
                try check.run(on: self)
            }
        } catch let error as DatabaseError {
            throw error.with(
                storeError: StoreError(
                    .damaged, "a page that was read is not authentic; nothing of this read can be trusted",
                    path: path))
        }
    }
}
