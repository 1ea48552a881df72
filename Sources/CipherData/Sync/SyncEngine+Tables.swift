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
