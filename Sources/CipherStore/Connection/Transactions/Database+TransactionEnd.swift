import Foundation

/// What a connection remembers about its transaction until it ends.
struct TransactionEnd {
    /// Functions to call when the transaction ends.
    struct Handler {
        let onCommit: (Database) -> Void
        let onRollback: (Database) -> Void
        /// Whether it was given where writing is not allowed.
        let isOfRead: Bool
    }

    /// What a hook of SQLite has noted since the last statement.
    var seen: Database.TransactionCompletion?

    /// The error of the observer that refused the commit.
    var refusal: (any Error)?

    /// Whether a transaction was open after the last statement.
    var wasInsideTransaction = false

    /// Whether the transaction began where writing is not allowed, and that block has not ended since.
    var isRead = false

    /// What the last statement has left, if somebody was told of its transaction since.
    var counts: ChangeCounts?

    /// How many ends of transactions are being told now, one inside of the other.
    var toldCount = 0

    /// What is to be called.
    var handlers: [Handler] = []

    /// The date of the open transaction, or why its clock has none.
    var date: Result<Date, any Error>?

    /// Whether transactions have dates: those that set a connection up have none, because the app's
    /// clock may ask the database.
    var hasDates = false
}

extension Database {
    /// The date at which the current transaction began: all calls in one transaction give the same.
    ///
    /// ``Configuration/transactionClock`` is asked when a transaction begins. Outside of a
    /// transaction each call asks it.
    ///
    /// - throws: What the clock throws.
    public var transactionDate: Date {
        get throws {
            guard isInsideTransaction else { return try configuration.transactionClock.now(self) }
            // A transaction that the C API began was not noticed yet.
            if transactionEnd.date == nil { noteTransactionDate() }
            return try transactionEnd.date?.get() ?? configuration.transactionClock.now(self)
        }
    }

    /// Asks the clock for the date of the transaction that has begun.
    private func noteTransactionDate() {
        let clock = configuration.transactionClock
        transactionEnd.date = Result { try clock.now(self) }
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
    /// inside of a transaction calls nothing, nor does the end of a read, unless
    /// they were given in a read.
    ///
    /// - parameters:
    ///     - onCommit: Called after a commit.
    ///     - onRollback: Called after a rollback.
    public func afterNextTransaction(
        onCommit: @escaping (Database) -> Void, onRollback: @escaping (Database) -> Void = { _ in }
    ) {
        transactionEnd.handlers.append(
            .init(onCommit: onCommit, onRollback: onRollback, isOfRead: isReadOnly))
    }

    /// Notices that a statement began or ended a transaction. This is called
    /// whenever a statement is done, and mostly finds nothing.
    ///
    /// - returns: The error of the observer that refused the transaction, if one did.
    @inline(__always)
    func statementDidEnd() -> (any Error)? {
        if transactionEnd.seen != nil || isInsideTransaction != transactionEnd.wasInsideTransaction {
            return noticeTransaction()
        }
        return nil
    }

    private func noticeTransaction() -> (any Error)? {
        let wasInsideTransaction = transactionEnd.wasInsideTransaction
        let seen = transactionEnd.seen
        var refusal = transactionEnd.refusal
        transactionEnd.wasInsideTransaction = isInsideTransaction
        schema.isVerifiedInTransaction = false
        schema.looksForTracking = !schema.isTrackingSettled
        transactionEnd.seen = nil
        transactionEnd.refusal = nil
        if isInsideTransaction {
            if !wasInsideTransaction { transactionEnd.isRead = isReadOnly }
            if !wasInsideTransaction && transactionEnd.hasDates { noteTransactionDate() }
            return refusal
        }
        // A transaction that wrote nothing is committed without a hook.
        guard var completion = seen ?? (wasInsideTransaction ? .commit : nil) else { return refusal }
        // A single statement that failed before it changed anything was no transaction.
        if completion == .rollback && !wasInsideTransaction && !broker.hasNews { return refusal }
        let isObserved = broker.isActive && !configuration.readonly && !isEndOfRead
        if seen == nil && isObserved {
            do {
                try broker.willCommit()
            } catch {
                refusal = error
                completion = .rollback
            }
        }
        transactionEnd.date = nil
        if transactionCache.isKnown { shrinkCache() }
        if seen == .commit && completion == .commit { countCommit() }
        endTransaction(completion, isObserved: isObserved)
        return refusal
    }

    /// Whether the open transaction is a read, which has changed nothing.
    var isInsideRead: Bool { isInsideTransaction && isReadOnly && transactionEnd.isRead }

    /// Whether a transaction that has ended was a read. One that began as a write may end where writing is not allowed.
    private var isEndOfRead: Bool { isReadOnly && transactionEnd.isRead }

    /// Counts a commit, after it was made and before anybody is told.
    func countCommit() { commits.value.add(1, ordering: .releasing) }

    /// Takes the functions to call for the transaction that has ended: of a read, those that were given in one.
    /// The others could not write in its access.
    private func takeHandlers() -> [TransactionEnd.Handler] {
        let handlers = transactionEnd.handlers
        guard !handlers.isEmpty else { return [] }
        let isRead = isEndOfRead
        transactionEnd.handlers = isRead ? handlers.filter { !$0.isOfRead } : []
        return isRead ? handlers.filter(\.isOfRead) : handlers
    }

    /// Tells everybody how the transaction ended.
    ///
    /// - parameter isObserved: Whether there are observers.
    private func endTransaction(_ completion: TransactionCompletion, isObserved: Bool) {
        let handlers = takeHandlers()
        let observations = isObserved ? takeObservations() : []
        if !isObserved && broker.isActive { broker.resetTransaction() }
        // Most observers have nothing to do with most transactions.
        if observations.isEmpty && handlers.isEmpty { return }
        if completion == .commit {
            for observation in observations { observation.noteCommit() }
        }
        tell(completion, observations, handlers)
    }

    /// Takes the observers that are to be told of the transaction.
    private func takeObservations() -> [TransactionObservation] {
        let count = broker.observations.count
        let observations = broker.endObservationsOfTransaction()
        if broker.observations.count != count || broker.hasEndedObservation { observationsDidChange() }
        return observations
    }

    /// Tells how the transaction ended. Who is told may begin another one.
    private func tell(
        _ completion: TransactionCompletion, _ observations: [TransactionObservation],
        _ handlers: [TransactionEnd.Handler]
    ) {
        let counts = ChangeCounts(self)
        // They are no part of the block that ended the transaction.
        let outerProtection = protection
        let neededTransaction = needsTransaction
        protection = .none
        needsTransaction = false
        transactionEnd.toldCount += 1
        defer {
            transactionEnd.toldCount -= 1
            protection = outerProtection
            needsTransaction = neededTransaction
            transactionEnd.counts = counts.told(self)
            watch.keepsCounts = true
            // What they have read outside of a snapshot was not checked.
            if mode != .ordinary { readOnlyBlocks.verifiedPages = nil }
        }
        for observer in observations.lazy.compactMap(\.observer) {
            switch completion {
            case .commit: observer.databaseDidCommit(self)
            case .rollback: observer.databaseDidRollback(self)
            }
        }
        // The routes of statements may still lead to them.
        for observation in observations where observation.extent == .nextTransaction {
            observation.end()
        }
        for handler in handlers {
            switch completion {
            case .commit: handler.onCommit(self)
            case .rollback: handler.onRollback(self)
            }
        }
    }
}
