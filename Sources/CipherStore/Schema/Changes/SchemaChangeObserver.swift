/// A type that is told when a connection changes the definition of a table.
///
/// The engine that synchronizes stores has one, so that a table that is tracked
/// keeps its history. Changes of tables of the main schema are reported, those of
/// `ALTER TABLE`, `DROP TABLE` and `CREATE TRIGGER` that the app executes itself included. What
/// other programs do to the file is not. All calls are made in one savepoint with
/// the change: an error that is thrown undoes all of it.
package protocol SchemaChangeObserver: AnyObject {
    /// A migration is about to run.
    func databaseWillMigrate(_ db: Database, identifier: String) throws

    /// A migration ran, and is about to be committed.
    func databaseDidMigrate(_ db: Database, identifier: String) throws

    /// A table is about to be changed.
    func database(_ db: Database, willAlter table: String, by change: TableChange) throws

    /// A table was changed.
    func database(_ db: Database, didAlter table: String, by change: TableChange) throws
}

/// The observer that keeps the sync metadata of a store in step with its tables.
///
/// A connection makes one by itself at the first change of a table of a tracked
/// store (see ``Database/schemaObservers()``), so it is there for an app that
/// migrates before it begins to synchronize.
package protocol StoreSchemaTracker: SchemaChangeObserver {
    /// Makes a tracker that uses the system's clock.
    init()
}
