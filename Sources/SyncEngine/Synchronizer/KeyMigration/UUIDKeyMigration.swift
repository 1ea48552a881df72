import CipherStore
import Foundation
import SyncWire

/// Gives tables UUIDs as keys, and the rows that refer to them, too.
///
/// A synchronized table needs keys that no two devices give to different rows.
/// This turns integer keys, text keys, keys of several columns and the bare rowid
/// into UUIDs, in one transaction that happens as a whole or not at all:
///
/// ```swift
/// var migration = UUIDKeyMigration(tables: ["note", "tag", "note_tag"])
/// migration.keepsOldKeys = true
/// let report = try synchronizer.convertKeys(migration)   // converts, and tracks
/// ```
///
/// The new keys are derived from a namespace, the table's name and the old key
/// (`Schemas/keys/v1.md`), so two devices that convert copies of one file agree on
/// them. The namespace is the store's identity, which replicas share.
///
/// Two copies that went separate ways may have given one integer to different rows.
/// Such rows get one UUID, and the first synchronization makes one row of them. Nothing
/// in a file tells them from the same row, so the caller must: convert before the copies
/// are written to, or say on each device, by ``rowsOfThisDevice``, which keys were the last that
/// both had.
///
/// In a `DatabaseMigrator` of an app, call ``convert(_:environment:progress:)`` in a migration.
public struct UUIDKeyMigration: Sendable {
    /// How the new keys are stored.
    public enum KeyForm: String, Sendable {
        /// 16 bytes, as `Foundation.UUID` is stored by default.
        case blob
        /// 36 characters in lower case.
        case text
    }

    /// A column that holds keys of another table although no foreign key says so.
    public struct UndeclaredReference: Hashable, Sendable {
        /// The table with the column.
        public let table: String
        /// The column.
        public let column: String
        /// The table whose keys it holds.
        public let parent: String

        /// Makes a reference.
        public init(table: String, column: String, parent: String) {
            self.table = table
            self.column = column
            self.parent = parent
        }
    }

    /// The tables to convert; nil for all whose keys are not UUIDs yet.
    public var tables: [String]?

    /// How the new keys are stored.
    public var keyForm = KeyForm.blob

    /// What copies of the database share and no other database has: nil for the identity of the store.
    ///
    /// A database that is no store yet needs one. It then becomes a store whose identity is
    /// derived from the namespace, so that converted copies of it can be synchronized.
    public var namespace: StoreID?

    /// The name of the column for tables whose key stays what it is beside the new one, or that have none.
    public var newKeyColumn = "id"

    /// Whether the old key stays, in a column `old_` and its name. One that is no integer always does, for it may
    /// mean something.
    public var keepsOldKeys = false

    /// Whether triggers, views, checks and indexes that seem to depend on what the keys were
    /// stay as they are. If not, they stand against the conversion.
    public var acceptsDependents = false

    /// Columns that hold keys of other tables although no foreign key says so.
    public var references: [UndeclaredReference] = []

    /// By table, the last integer key that this copy shares with the others. Rows with greater keys are
    /// this device's own, and get keys that no other device derives.
    public var rowsOfThisDevice: [String: Int64] = [:]

    /// What makes the keys of ``rowsOfThisDevice`` differ from those of other devices; nil for the
    /// replica's identifier.
    public var salt: [UInt8]?

    /// Makes a migration of tables; of all whose keys are not UUIDs yet when nil.
    public init(tables: [String]? = nil) { self.tables = tables }

    /// Finds out what a conversion would change, and changes nothing.
    ///
    /// - throws: ``SyncError`` of code `noSuchTable`, or `keysNotConvertible` with a list of what stands against it, or
    ///   `DatabaseError`. What only ``acceptsDependents`` decides about is in the plan.
    public func plan(_ db: Database) throws -> UUIDKeyPlan {
        try KeyConversionPlanner(db: db, migration: self).plan().summary
    }

    /// Converts the keys of a database, in one transaction.
    ///
    /// - parameters:
    ///     - writer: The database.
    ///     - environment: Where time and randomness come from.
    ///     - progress: Called with the number of keys that were derived, and of all. An error that it throws
    ///       ends the conversion, and nothing has changed.
    /// - throws: ``SyncError``, `DatabaseError`, or the error of `progress`.
    @discardableResult
    public func migrate(
        _ writer: any DatabaseWriter, environment: SyncEnvironment = .system, progress: KeyProgress? = nil
    ) throws -> UUIDKeyPlan {
        try migrate(writer, environment, progress) { _, _ in }
    }

    /// Converts, and does something else in the same transaction.
    func migrate(
        _ writer: any DatabaseWriter, _ environment: SyncEnvironment, _ progress: KeyProgress?,
        finishing: (Database, UUIDKeyPlan) throws -> Void
    ) throws -> UUIDKeyPlan {
        try writer.barrierWriteWithoutTransaction { db in
            var plan: UUIDKeyPlan?
            try db.withoutForeignKeys {
                try db.inTransaction(.immediate) {
                    // Another process may have changed the schema while this one waited for the lock.
                    db.clearSchemaCache()
                    let done = try convert(db, environment: environment, progress: progress)
                    try finishing(db, done)
                    plan = done
                    return .commit
                }
            }
            guard let plan else { throw SyncError(.cancelled, "the conversion did not run") }
            return plan
        }
    }

    /// Converts the keys in the transaction that is open, for migrations of an app.
    ///
    /// Foreign keys must be off, as they are in migrations that check them at the end (the
    /// default of `DatabaseMigrator`).
    ///
    /// - throws: As ``migrate(_:environment:progress:)``. The caller rolls back.
    @discardableResult
    public func convert(
        _ db: Database, environment: SyncEnvironment = .system, progress: KeyProgress? = nil
    ) throws -> UUIDKeyPlan {
        guard db.isInsideTransaction, try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == false else {
            throw SyncError(
                .keysNotConvertible,
                "keys are converted in a transaction, with foreign keys off: in a migration, or by migrate(_:)"
            )
        }
        return try db.withoutReportingSchemaChanges {
            try KeyConversion(db: db, migration: self, environment: environment, progress: progress).run()
        }
    }
}

/// Called with the number of keys that were derived, and of all that are to be.
public typealias KeyProgress = (_ completed: Int64, _ total: Int64) throws -> Void

extension Synchronizer {
    /// Gives tables UUIDs as keys, and tracks them, in one transaction.
    ///
    /// - parameters:
    ///     - migration: What to convert.
    ///     - tracks: Whether the tables are tracked, too.
    ///     - progress: Called with how far it is; an error that it throws ends the whole.
    /// - throws: As ``UUIDKeyMigration/migrate(_:environment:progress:)``, and `track(_:)`.
    @discardableResult
    public func convertKeys(
        _ migration: UUIDKeyMigration, tracks: Bool = true, progress: KeyProgress? = nil
    ) throws -> UUIDKeyPlan {
        let environment = environment
        return try migration.migrate(database, environment, progress) { db, plan in
            guard tracks else { return }
            try db.withoutReportingSchemaChanges {
                try TableTracking(db: db, environment: environment).track(plan.trackableTables)
            }
        }
    }
}
