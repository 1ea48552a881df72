import CSQLCipher

// SQLite calls these hooks in the middle of a statement, so they leave a note;
// what follows from it is done when the statement has ended. Only changes of
// rows, and the question whether to commit, go to observers at once.

extension Database {
    /// Has SQLite tell this connection about its commits and rollbacks.
    func observeTransactions() {
        // The handle is rid of its hooks before its database goes, so the
        // pointer needs no reference count.
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_commit_hook(
            handle,
            { context in
                guard let context else { return 0 }
                return Unmanaged<Database>.fromOpaque(context).takeUnretainedValue().willCommit() ? 0 : 1
            }, context)
        sqlite3_rollback_hook(
            handle,
            { context in
                guard let context else { return }
                Unmanaged<Database>.fromOpaque(context).takeUnretainedValue().transactionEnd.seen = .rollback
            }, context)
    }

    /// Has each statement ask from time to time whether it must stop.
    func stopWhenCancelled() {
        // Rare enough to cost nothing, and often enough to end a statement within a millisecond.
        sqlite3_progress_handler(
            handle, 4000,
            { context in
                guard let context else { return 0 }
                let database = Unmanaged<Database>.fromOpaque(context)
                return database._withUnsafeGuaranteedRef {
                    $0.interruption.stopsStatement(under: $0.protection) ? 1 : 0
                }
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Notes a commit, unless an observer refuses it.
    private func willCommit() -> Bool {
        transactionEnd.seen = .commit
        guard broker.isActive else { return true }
        do {
            try broker.willCommit()
            return true
        } catch {
            transactionEnd.refusal = error
            return false
        }
    }

    /// Has SQLite tell this connection about each row that changes, or no more.
    func observeUpdates(_ isObserved: Bool) {
        guard isObserved else {
            sqlite3_update_hook(handle, nil, nil)
            return
        }
        sqlite3_update_hook(
            handle,
            { context, kind, databaseName, tableName, rowID in
                guard let context, let databaseName, let tableName,
                    let kind = DatabaseEvent.Kind(rawValue: kind)
                else { return }
                let database = Unmanaged<Database>.fromOpaque(context).takeUnretainedValue()
                database.broker.receive(
                    kind, databaseName, tableName, rowID, recompiled: database.authorizer.takeEffects())
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}

extension SQLiteHandle {
    /// Rids a connection of its hooks, which statements that were not finalized
    /// could call when the database is gone.
    static func removeHooks(_ handle: SQLiteConnection) {
        sqlite3_commit_hook(handle, nil, nil)
        sqlite3_rollback_hook(handle, nil, nil)
        sqlite3_update_hook(handle, nil, nil)
        sqlite3_set_authorizer(handle, nil, nil)
        sqlite3_progress_handler(handle, 0, nil, nil)
    }
}
