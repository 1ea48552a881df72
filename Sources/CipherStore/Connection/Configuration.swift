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

    /// Whether foreign keys are enforced. The default is true.
    public var foreignKeysEnabled = true

    /// Whether the connection refuses to write. The default is false.
    public var readonly = false

    /// A name for logs and the debugger.
    public var label: String?

    /// What to do when another connection holds a lock. The default is to fail at once.
    public var busyMode: Database.BusyMode = .immediateError

    /// The journal mode. The default leaves the file's mode as it is.
    public var journalMode: JournalModeConfiguration = .default

    /// Whether `DatabaseError.description` shows statement arguments. The default is false.
    public var publicStatementArguments = false

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
    /// the schema in the same transaction.
    public var verifiesReads = true

    /// The most pages that the connection keeps in memory, in KiB. The default
    /// is SQLite's.
    public var cacheKibibytes: Int?

    /// What completes the schema of the database, such as the primary keys of views.
    public var schemaSource: (any DatabaseSchemaSource)?

    private var setups: [@Sendable (Database) throws -> Void] = []

    /// Makes the default configuration.
    public init() {}

    /// Adds a function that runs for each connection that opens, before any
    /// other use of it. Functions run in the order in which they were added.
    public mutating func prepareDatabase(_ setup: @escaping @Sendable (Database) throws -> Void) {
        setups.append(setup)
    }

    /// Opens connections with a passphrase that never was in unprotected memory.
    public mutating func usePassphrase(_ passphrase: borrowing Passphrase) {
        let bytes = passphrase.bytes
        prepareDatabase { try $0.usePassphrase(Passphrase(sharing: bytes)) }
    }

    func setUp(_ db: Database) throws {
        for setup in setups { try setup(db) }
    }
}
