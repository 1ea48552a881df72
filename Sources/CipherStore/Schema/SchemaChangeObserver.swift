/// A type that is told when the library itself changes the definition of a table.
///
/// The engine that synchronizes stores registers one, so that a table that is
/// tracked keeps its history. Statements that the app executes itself are not
/// reported. All calls are made in the transaction of the change: an error that
/// is thrown undoes it.
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

/// A change of a table's definition.
package enum TableChange: Sendable, Equatable {
    /// A column was added.
    case addColumn(String?)
    /// A column has another name.
    case renameColumn(String, to: String)
    /// A column was dropped.
    case dropColumn(String)
    /// The table has another name.
    case rename(to: String)
    /// The table was dropped.
    case drop
}

extension Database {
    /// Registers an observer, which the connection keeps.
    package func add(schemaChangeObserver observer: any SchemaChangeObserver) {
        schema.observers.append(observer)
    }

    /// Runs a change of a table between the two calls to the observers.
    func reporting(_ change: TableChange, of table: String, _ body: () throws -> Void) throws {
        for observer in schema.observers { try observer.database(self, willAlter: table, by: change) }
        try body()
        for observer in schema.observers { try observer.database(self, didAlter: table, by: change) }
    }
}
