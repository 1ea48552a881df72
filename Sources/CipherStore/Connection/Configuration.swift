import Dispatch
import Foundation

/// The configuration of a database connection, or of a pool of them.
///
/// ```swift
/// var configuration = Configuration()
/// configuration.prepareDatabase { db in
///     try db.usePassphrase(try loadPassphrase())
/// }
/// let dbQueue = try DatabaseQueue(path: "notes.db", configuration: configuration)
/// ```
public struct Configuration: Sendable {
    /// Whether a connection without a key is allowed.
    public enum Encryption: Sendable {
        /// A database that is opened without a key is plaintext.
        case optional
        /// Opening a database without a key is an error.
        case required
    }

    /// The journal modes that a connection can ask for.
    public enum JournalModeConfiguration: Sendable {
        /// The mode that the file has; a pool asks for WAL.
        case `default`
        /// Write-ahead log.
        case wal
    }

    // MARK: The file

    /// Whether a connection without a key is allowed. The default is `optional`,
    /// as in GRDB and SQLCipher.
    public var encryption: Encryption = .optional

    /// Whether opening fails when the file is missing or has no bytes. The
    /// default is false: a new database is made, as in GRDB.
    public var requiresExistingFile = false

    /// Whether a read of an encrypted database ends with a check that no page
    /// was tampered with. The default is true.
    ///
    /// SQLCipher gives zero bytes, and no error, for the last overflow page of
    /// a value when its MAC is wrong; the error shows only at the next read of
    /// the schema in the same transaction. The check is such a read. A read of a snapshot leaves it out when
    /// all of its pages were in SQLite's cache, and were checked before.
    public var verifiesReads = true

    /// Whether the connection refuses to write. The default is false.
    ///
    /// Such a connection also reads a file on a medium or in a folder that can't be written, or on a full
    /// disk:
    /// - If the files that SQLite needs beside a file in WAL mode exist, or SQLite can make them, it reads as
    ///   always, with locks.
    /// - If it can't, and no `-wal` or `-journal` file has content, the file is read as it is, with SQLite's
    ///   `immutable`: nothing is made beside it, and nothing is locked. If another program has written the
    ///   file before or during a read, the read throws a ``DatabaseError`` of code `SQLITE_BUSY`; open the
    ///   file again then.
    /// - If it can't, and a `-wal` file has content that this process can't read, opening throws a
    ///   ``DatabaseError`` of code `SQLITE_CANTOPEN`: a part of the data would be missing.
    ///
    /// Without this setting, a queue reads in the same way a file that this process may not write. Writes
    /// then throw `SQLITE_READONLY`. A pool throws that already when it is opened.
    public var readonly = false

    /// The journal mode. The default leaves the file's mode as it is, except
    /// that a pool asks for WAL.
    public var journalMode: JournalModeConfiguration = .default

    // MARK: The connection

    /// Whether foreign keys are enforced. The default is true.
    public var foreignKeysEnabled = true

    /// A name for logs and the debugger.
    public var label: String?

    /// Whether a string in double quotes is taken for a text when it names no
    /// column. The default is false. SQLite before 3.29 always does so.
    ///
    /// Related SQLite documentation: <https://www.sqlite.org/quirks.html#dblquote>
    public var acceptsDoubleQuotedStringLiterals = false

    /// What to do when another connection holds a lock. The default is to fail at once. The writer of a pool
    /// waits a tenth of a second even then, since the pool's own readers can hold the lock for a moment.
    public var busyMode: Database.BusyMode = .immediateError

    /// The same for the reading connections of a pool. By default, they wait
    /// for ten seconds: in WAL mode that happens only while another process
    /// recovers or closes the database.
    public var readonlyBusyMode: Database.BusyMode?

    /// The most pages that the connection keeps in memory, in KiB. The default
    /// is SQLite's. Beyond that, up to 256 MiB of an open transaction stay in memory where SQLite could lose
    /// a commit otherwise (before 3.50.2).
    public var cacheKibibytes: Int?

    /// Whether `DatabaseError.description` and trace events show statement
    /// arguments. The default is false: they may be private.
    public var publicStatementArguments = false

    // MARK: Transactions

    /// Whether a transaction may stay open at the end of a database access.
    /// The default is false, and leaving one open is a programming error.
    public var allowsUnsafeTransactions = false

    /// The clock that gives each transaction its ``Database/transactionDate`` when it begins. The
    /// default is the system's.
    public var transactionClock: any TransactionClock = DefaultTransactionClock()

    // MARK: Concurrency

    /// The most reading connections of a pool. The default is 5.
    public var maximumReaderCount = 5

    /// Whether the reading connections of a pool stay open when memory is released.
    /// The default is false.
    public var persistentReadOnlyConnections = false

    /// The quality of service of database accesses. The default is `userInitiated`.
    public var qos: DispatchQoS = .userInitiated

    /// The quality of service of reads in a pool; `qos` when it was not set.
    public var readQoS: DispatchQoS {
        get { ownReadQoS ?? qos }
        set { ownReadQoS = newValue }
    }
    private var ownReadQoS: DispatchQoS?

    /// The quality of service of writes; `qos` when it was not set.
    public var writeQoS: DispatchQoS {
        get { ownWriteQoS ?? qos }
        set { ownWriteQoS = newValue }
    }
    private var ownWriteQoS: DispatchQoS?

    /// The dispatch queue on which the serial queues of the connections run.
    public var targetQueue: DispatchQueue?

    /// The same for connections that write; `targetQueue` when it was not set.
    public var writeTargetQueue: DispatchQueue?

    /// Whether memory is released when the system runs low, or the application
    /// goes to the background. It has an effect on iOS only. The default is true.
    public var automaticMemoryManagement = true

    /// Whether the connection listens to ``Database/suspendNotification`` and
    /// ``Database/resumeNotification``. The default is false.
    ///
    /// Between the two, statements that would take a lock fail with `SQLITE_ABORT`. Observations fetch what they could
    /// not fetch meanwhile when the connection is resumed; one that is started with `.immediate` fails.
    public var observesSuspensionNotifications = false

    /// Whether observations see commits of other processes, and of other connections of this process, to the
    /// same file. The default is true.
    ///
    /// While there is a ``ValueObservation`` of a file, the connection that writes is asked whether others have
    /// committed: soon after something was written in the folder of the file, and once a second in any case, or
    /// ten times a second where the system does not tell of writes. An observation fetches again after such a
    /// commit, whatever it changed: SQLite does not tell. Without observations, nothing is done.
    ///
    /// ``TransactionObserver`` and ``DatabaseRegionObservation`` see the connection's own commits only.
    public var observesOtherConnections = true

    /// What completes the schema of the database, such as the primary keys of views.
    public var schemaSource: (any DatabaseSchemaSource)?

    /// The path of a file for which any key will do: it is made for a moment, and nobody opens it again.
    var pathForAnyKey: String?

    /// Whether to try again when a lock is held and ``busyMode`` says to fail at once.
    var patienceWithReaders: Database.BusyCallback?

    private var setups: [@Sendable (Database) throws -> Void] = []

    /// Makes the default configuration.
    public init() {}

    /// Adds a function that runs for each connection that opens, before any
    /// other use of it. Functions run in the order in which they were added.
    ///
    /// The connections of a pool open when they are needed, so that the
    /// function may run at any time, on any thread.
    public mutating func prepareDatabase(_ setup: @escaping @Sendable (Database) throws -> Void) {
        setups.append(setup)
    }

    /// Opens connections with a passphrase that was never in unprotected memory.
    public mutating func usePassphrase(_ passphrase: borrowing Passphrase) {
        useKeySlot(Secret(passphrase))
    }

    func setUp(_ db: Database) throws {
        for setup in setups { try setup(db) }
    }

    /// Makes the serial queue of a connection.
    func makeDispatchQueue(label: String, isReader: Bool) -> DispatchQueue {
        let isReader = isReader || readonly
        let target = isReader ? targetQueue : writeTargetQueue ?? targetQueue
        let qos = isReader ? readQoS : writeQoS
        guard let target else { return DispatchQueue(label: label, qos: qos) }
        return DispatchQueue(label: label, target: target)
    }
}
