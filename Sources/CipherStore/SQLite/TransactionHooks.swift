import CSQLCipher

// SQLite calls these hooks in the middle of a statement, so they only leave a
// note; what follows from it is done when the statement has ended.

extension Database {
    /// Has SQLite tell this connection about its commits and rollbacks.
    func observeTransactions() {
        // Closing removes the hooks, so the pointer needs no reference count.
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_commit_hook(
            handle,
            { context in
                guard let context else { return 0 }
                Unmanaged<Database>.fromOpaque(context).takeUnretainedValue().transactionEnd.seen = .commit
                return 0
            }, context)
        sqlite3_rollback_hook(
            handle,
            { context in
                guard let context else { return }
                Unmanaged<Database>.fromOpaque(context).takeUnretainedValue().transactionEnd.seen = .rollback
            }, context)
    }
}
