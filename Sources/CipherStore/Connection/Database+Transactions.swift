extension Database {
    /// Runs a block in a transaction.
    ///
    /// The block's error, or its `.rollback`, undoes everything it did.
    ///
    /// - parameter kind: The kind of transaction; immediate when nil, deferred
    ///   on read-only connections.
    /// - throws: The block's error, or a ``DatabaseError`` when the transaction
    ///   can't begin or commit.
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
        try execute(sql: "SAVEPOINT cipherstore")
        try finish(
            commit: "RELEASE SAVEPOINT cipherstore",
            rollback: {
                try execute(sql: "ROLLBACK TO SAVEPOINT cipherstore; RELEASE SAVEPOINT cipherstore")
            },
            operations)
    }

    private func finish(
        commit: String, rollback: () throws -> Void, _ operations: () throws -> TransactionCompletion
    ) throws {
        do {
            switch try operations() {
            case .commit: try execute(sql: commit)
            case .rollback: try rollback()
            }
        } catch {
            // SQLite may have rolled back by itself (disk full, for one); the
            // first error is the one that explains.
            if isInsideTransaction { try? rollback() }
            throw error
        }
    }

    /// Begins a transaction.
    public func beginTransaction(_ kind: TransactionKind? = nil) throws {
        let kind = kind ?? (configuration.readonly ? .deferred : .immediate)
        try execute(sql: "BEGIN \(kind.rawValue) TRANSACTION")
    }

    /// Rolls the transaction back. Does nothing when none is open.
    public func rollback() throws {
        if isInsideTransaction { try execute(sql: "ROLLBACK TRANSACTION") }
    }

    /// Commits the transaction.
    public func commit() throws {
        try execute(sql: "COMMIT TRANSACTION")
    }

    /// Runs a block that must not write, in a snapshot of the database, and ends
    /// it with the check that ``Configuration/verifiesReads`` describes.
    func readSnapshot<T>(_ body: (Database) throws -> T) throws -> T {
        try checkFileIdentity()
        try withoutTracing { try execute(sql: "BEGIN DEFERRED TRANSACTION") }
        do {
            try withoutTracing { try execute(sql: "PRAGMA query_only = 1") }
            let value = try body(self)
            try withoutTracing {
                try verifyReads()
                try endSnapshot()
            }
            return value
        } catch {
            withoutTracing {
                try? rollback()
                try? execute(sql: "PRAGMA query_only = 0")
            }
            throw error
        }
    }

    private func endSnapshot() throws {
        if isInsideTransaction { try execute(sql: "COMMIT TRANSACTION") }
        try execute(sql: "PRAGMA query_only = 0")
    }

    /// Throws when a page that was read in the open transaction is not authentic.
    package func verifyReads() throws {
        guard encryptionKey != nil && configuration.verifiesReads else { return }
        do {
            let statement = try cachedStatement(sql: Self.probeSQL)
            try statement.execute()
        } catch let error as DatabaseError {
            throw error.with(
                storeError: StoreError(
                    .damaged, "a page that was read is not authentic; nothing of this read can be trusted",
                    path: path))
        }
    }

    /// Throws when another file is now at the path, because writes to the old
    /// one would be lost with it.
    func checkFileIdentity() throws {
        guard let fileIdentity, fileIdentity != FileIdentity(path: path) else { return }
        throw StoreError(
            .replaced, "the file was replaced or removed while it was open; open it again", path: path)
    }
}
