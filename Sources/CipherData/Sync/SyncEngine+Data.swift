import CipherStore
import Foundation
import SyncEngine
import TypedQueries
import TypedQueriesMacros

/// Writes `$name` beside a static function: the SQL as a condition.
@attached(peer, names: prefixed(`$`))
macro ProjectedSQL(_ sql: String) = #externalMacro(module: "CipherStoreMacros", type: "ProjectedSQLMacro")

extension SyncEngine {
    /// Sends what is to be sent, and takes all rows of the synchronized tables out of this database. The other
    /// replicas keep them.
    ///
    /// The engine is stopped. ``start()`` brings the rows back, and so does a new engine that starts immediately: those that
    /// were chosen before, if the app chose some by ``synchronizer``. Tables that the app chose not to exchange keep
    /// their rows.
    ///
    /// - throws: What a synchronization throws; rows that could not be sent stay here then, and nothing is chosen
    ///   otherwise than before. A `SyncError` of code `unsuitableScope` for a table that has no column besides its key and
    ///   those with a policy of their own.
    public func deleteLocalData() async throws {
        stop()
        let isNew = try synchronizer.setRowsAside(of: tableNames, ofRemote: transport.name)
        do {
            try await syncChanges()
        } catch {
            // Otherwise a later synchronization would take out what nobody asks for any more. If this fails as well, the
            // next start does it.
            if isNew { try? synchronizer.bringRowsBack(ofRemote: transport.name) }
            throw error
        }
    }

    /// Gives tables UUIDs as keys, as synchronization needs them, in one transaction.
    ///
    /// ```swift
    /// try SyncEngine.migratePrimaryKeys(database, tables: ["remindersLists", "reminders"])
    /// ```
    ///
    /// Foreign keys that refer to the tables follow. The same integer becomes the same UUID on each device that
    /// has a copy of the store; `UUIDKeyMigration` has more choices.
    ///
    /// - parameters:
    ///     - database: The database.
    ///     - tables: The tables; nil for all whose keys are not UUIDs yet.
    ///     - keyForm: How the keys are stored: as text, as SQLiteData does, or as bytes.
    ///     - keepsOldKeys: Whether the old keys stay, in a column of their own.
    /// - throws: A `SyncError` of code `keysNotConvertible` that lists what stands against it; a `DatabaseError`.
    @discardableResult public static func migratePrimaryKeys(
        _ database: any DatabaseWriter, tables: [String]? = nil, keyForm: UUIDKeyMigration.KeyForm = .text,
        keepsOldKeys: Bool = false
    ) throws -> UUIDKeyPlan {
        var migration = UUIDKeyMigration(tables: tables)
        migration.keyForm = keyForm
        migration.keepsOldKeys = keepsOldKeys
        return try migration.migrate(database)
    }

    /// Whether the transaction that is open writes what another replica has changed.
    ///
    /// Triggers ask by `SyncEngine.$isSynchronizing`, and those in SQL by ``isSynchronizingSQL``:
    ///
    /// ```swift
    /// try Reminder.createTemporaryTrigger(
    ///     after: .insert { new in … } when: { _ in !SyncEngine.$isSynchronizing }
    /// ).execute(db)
    /// ```
    ///
    /// - throws: A `DatabaseError` when the database was never synchronized.
    @ProjectedSQL(isSynchronizingSQL) public static func isSynchronizing(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db, sql: "SELECT \(isSynchronizingSQL)") ?? false
    }

    /// The expression that is true while the changes of another replica are written, for triggers in SQL:
    /// `"CREATE TRIGGER … WHEN NOT \(SyncEngine.isSynchronizingSQL) BEGIN …"`.
    public static let isSynchronizingSQL = RowKnowledge.isApplyingSQL
}
