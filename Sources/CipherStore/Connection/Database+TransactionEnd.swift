import Foundation

/// What a connection remembers about its transaction until it ends.
struct TransactionEnd {
    /// Functions to call when the transaction ends.
    struct Handler {
        let onCommit: (Database) -> Void
        let onRollback: (Database) -> Void
    }

    /// What a hook of SQLite has noted since the last statement.
    var seen: Database.TransactionCompletion?

    /// Whether a transaction was open after the last statement.
    var wasInsideTransaction = false

    /// What is to be called.
    var handlers: [Handler] = []

    /// The date of the open transaction, once it was asked for.
    var date: Date?
}

extension Database {
    /// The date of the current transaction: all calls in one transaction give the same.
    ///
    /// Outside of a transaction each call asks ``Configuration/transactionClock``.
    ///
    /// - throws: What the clock throws.
    public var transactionDate: Date {
        get throws {
            guard isInsideTransaction else { return try configuration.transactionClock.now(self) }
            if let date = transactionEnd.date { return date }
            let date = try configuration.transactionClock.now(self)
            transactionEnd.date = date
            return date
        }
    }

    /// Calls a function after the next transaction, or the current one, has
    /// been committed, and another if it was rolled back.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     try db.execute(sql: "DELETE FROM attachment WHERE id = ?", arguments: [id])
    ///     db.afterNextTransaction { _ in try? FileManager.default.removeItem(at: file) }
    /// }
    /// ```
    ///
    /// The functions run in the access that ended the transaction, outside of
    /// any transaction. Both are released then. The end of a savepoint that is
    /// inside of a transaction calls nothing.
    ///
    /// - parameters:
    ///     - onCommit: Called after a commit.
    ///     - onRollback: Called after a rollback.
    public func afterNextTransaction(
        onCommit: @escaping (Database) -> Void, onRollback: @escaping (Database) -> Void = { _ in }
    ) {
        transactionEnd.handlers.append(.init(onCommit: onCommit, onRollback: onRollback))
    }

    /// Notices that a statement began or ended a transaction. This is called
    /// whenever a statement is done, and mostly finds nothing.
    @inline(__always)
    func statementDidEnd() {
        if transactionEnd.seen != nil || isInsideTransaction != transactionEnd.wasInsideTransaction {
            noticeTransaction()
        }
    }

    private func noticeTransaction() {
        let wasInsideTransaction = transactionEnd.wasInsideTransaction
        let seen = transactionEnd.seen
        transactionEnd.wasInsideTransaction = isInsideTransaction
        transactionEnd.seen = nil
        if isInsideTransaction { return }
        // A transaction that wrote nothing is committed without a hook.
        guard let completion = seen ?? (wasInsideTransaction ? .commit : nil) else { return }
        transactionEnd.date = nil
        guard !transactionEnd.handlers.isEmpty else { return }
        let handlers = transactionEnd.handlers
        transactionEnd.handlers = []
        // They are no part of the block that ended the transaction.
        let wasProtected = isProtected
        let neededTransaction = needsTransaction
        isProtected = false
        needsTransaction = false
        defer {
            isProtected = wasProtected
            needsTransaction = neededTransaction
        }
        for handler in handlers {
            switch completion {
            case .commit: handler.onCommit(self)
            case .rollback: handler.onRollback(self)
            }
        }
    }
}
