import CipherStore
import SyncEngine
import TypedQueries

extension SyncEngine {
    /// Prepares a database, and has its tables tracked.
    ///
    /// ```swift
    /// let syncEngine = try SyncEngine(
    ///     for: database, tables: RemindersList.self, Reminder.self, privateTables: Setting.self,
    ///     transport: transport)
    /// ```
    ///
    /// - parameters:
    ///     - database: An encrypted database.
    ///     - tables: The tables, each with one UUID column as its key.
    ///     - privateTables: More of them, which are not to be shared with other people.
    ///     - transport: How to reach the other replica.
    ///     - options: When to synchronize.
    ///     - startImmediately: Whether it runs from now on.
    ///     - delegate: Who is told what happens.
    ///     - environment: Where time and randomness come from.
    /// - throws: A `SyncError` that names the table; a `DatabaseError`.
    public convenience init<each T: PrimaryKeyedTable, each P: PrimaryKeyedTable>(
        for database: any DatabaseWriter, tables: repeat (each T).Type, privateTables: repeat (each P).Type,
        transport: any Transport, options: Options = Options(), startImmediately: Bool = true,
        delegate: any SyncEngineDelegate = SilentDelegate(), environment: SyncEnvironment = .system
    ) throws {
        var names: [String] = []
        for table in repeat each tables { names.append(table.tableName) }
        var privateNames: [String] = []
        for table in repeat each privateTables { privateNames.append(table.tableName) }
        try self.init(
            for: database, tables: names, privateTables: privateNames, transport: transport, options: options,
            startImmediately: startImmediately, delegate: delegate, environment: environment)
    }
}

extension SyncEngine {
    /// Gives tables UUIDs as keys, as synchronization needs them, in a migration of the app.
    ///
    /// ```swift
    /// migrator.registerMigration("UUIDs as keys") { db in
    ///     try SyncEngine.migratePrimaryKeys(db, tables: RemindersList.self, Reminder.self)
    /// }
    /// ```
    ///
    /// Foreign keys that refer to the tables follow. They have to be off meanwhile, as they are in migrations that check
    /// them at the end, the default. The same integer becomes the same UUID on each device that has a copy of the store.
    ///
    /// - parameters:
    ///     - db: The database, in the transaction of the migration.
    ///     - first: A table.
    ///     - others: More tables.
    ///     - keyForm: How the keys are stored: as text, as SQLiteData does, or as bytes.
    ///     - keepsOldKeys: Whether the old keys stay, in a column of their own.
    ///     - namespace: What all copies of the database have in common. A database that was never synchronized needs one.
    /// - throws: A `SyncError` of code `keysNotConvertible` that lists what stands against it; a `DatabaseError`.
    @discardableResult
    public static func migratePrimaryKeys<First: PrimaryKeyedTable, each Other: PrimaryKeyedTable>(
        _ db: Database, tables first: First.Type, _ others: repeat (each Other).Type,
        keyForm: UUIDKeyMigration.KeyForm = .text, keepsOldKeys: Bool = false, namespace: StoreID? = nil
    ) throws -> UUIDKeyPlan {
        var names = [first.tableName]
        for other in repeat each others { names.append(other.tableName) }
        var migration = UUIDKeyMigration(tables: names)
        migration.keyForm = keyForm
        migration.keepsOldKeys = keepsOldKeys
        migration.namespace = namespace
        return try migration.convert(db)
    }
}
