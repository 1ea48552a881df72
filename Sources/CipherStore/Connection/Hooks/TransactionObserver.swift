/// A type that is told about the changes and transactions of a connection.
///
/// ```swift
/// final class PlayerObserver: TransactionObserver {
///     private var isChanged = false
///
///     func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { eventKind.tableName == "player" }
///
///     func databaseDidChange(with event: DatabaseEvent) {
///         isChanged = true
///         stopObservingDatabaseChangesUntilNextTransaction()
///     }
///
///     func databaseDidCommit(_ db: Database) {
///         if isChanged { print("players have changed") }
///         isChanged = false
///     }
///
///     func databaseDidRollback(_ db: Database) { isChanged = false }
/// }
///
/// dbQueue.add(transactionObserver: observer)
/// ```
///
/// All methods are called on the writing connection, in the access that makes
/// the changes. An observer sees every change that this connection makes to rows of
/// tables, also through triggers and foreign keys. It does not see:
///
/// - changes by other connections or processes, unless they are told by
///   ``Database/notifyChanges(in:)``;
/// - changes of the schema, and of tables that have no rowid;
/// - rows that `INSERT OR REPLACE` removes.
///
/// Changes inside a savepoint are told when the outermost savepoint is
/// released or the transaction is committed, and never when they are rolled
/// back before. A statement that fails half-way may have told changes that it undid.
public protocol TransactionObserver: AnyObject {
    /// Returns whether changes of a kind are to be told.
    ///
    /// The answers are remembered, so they must not change while the observer
    /// observes. The connection must not be used here.
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool

    /// Something has changed that can't be told row by row:
    /// ``Database/notifyChanges(in:)``. By default, nothing happens.
    func databaseDidChange()

    /// A row has changed, in a transaction that is not committed.
    ///
    /// The connection must not be used here: collect what you need, and use it
    /// after the commit.
    func databaseDidChange(with event: DatabaseEvent)

    /// The transaction is about to be committed. An error rolls it back, and is
    /// thrown by the statement that would have committed. By default, nothing happens.
    ///
    /// The connection must not be used here.
    func databaseWillCommit() throws

    /// The transaction was committed. The connection can be used, also for a
    /// new transaction.
    func databaseDidCommit(_ db: Database)

    /// The transaction was rolled back. The connection can be used.
    func databaseDidRollback(_ db: Database)
}

extension TransactionObserver {
    /// Does nothing.
    public func databaseDidChange() {}

    /// Does nothing.
    public func databaseWillCommit() throws {}

    /// Tells the observer about no more changes until the transaction ends.
    ///
    /// It is an error of the program to call this from elsewhere than
    /// `databaseDidChange()` and `databaseDidChange(with:)`.
    public func stopObservingDatabaseChangesUntilNextTransaction() {
        // The change may be made in an access to another database, inside of the one to this.
        guard SerializedDatabase.heldDatabases.contains(where: { $0.broker.stopNotified(self) }) else {
            fatalError(
                """
                stopObservingDatabaseChangesUntilNextTransaction must be called from \
                databaseDidChange() or databaseDidChange(with:)
                """)
        }
    }
}

extension Database {
    /// How long an observer observes.
    public enum TransactionObservationExtent: Sendable {
        /// As long as the observer lives. The connection does not retain it.
        case observerLifetime
        /// Until the current transaction, or the next one, has ended. The
        /// connection retains the observer until then.
        case nextTransaction
        /// As long as the connection lives, which retains the observer.
        case databaseLifetime
    }

    /// Adds an observer, which is told about the changes that follow.
    ///
    /// Observers are called in the order in which they were added.
    public func add(
        transactionObserver: some TransactionObserver,
        extent: TransactionObservationExtent = .observerLifetime
    ) {
        broker.add(TransactionObservation(transactionObserver, extent: extent))
        observationsDidChange()
    }

    /// Removes an observer. It is not called any more.
    public func remove(transactionObserver: some TransactionObserver) {
        broker.remove(transactionObserver)
        observationsDidChange()
    }
}

extension DatabaseWriter {
    /// Adds an observer to the writing connection, which is told about the
    /// changes that follow. It waits for the write that is running, unless it is
    /// called from that write.
    ///
    /// - parameters:
    ///     - transactionObserver: The observer.
    ///     - extent: How long it observes; by default, as long as it lives.
    public func add(
        transactionObserver: some TransactionObserver,
        extent: Database.TransactionObservationExtent = .observerLifetime
    ) {
        unsafeReentrantWrite { $0.add(transactionObserver: transactionObserver, extent: extent) }
    }

    /// Removes an observer from the writing connection. It waits for the write
    /// that is running, unless it is called from that write.
    public func remove(transactionObserver: some TransactionObserver) {
        unsafeReentrantWrite { $0.remove(transactionObserver: transactionObserver) }
    }
}
