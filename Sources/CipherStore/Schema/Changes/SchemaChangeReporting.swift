import Foundation

/// Finds the engine that synchronizes stores, if the program has it.
private enum SyncEngineModule {
    /// CipherStore does not import the engine, and an app may migrate a store before
    /// it has called any of the engine's functions, which could register themselves
    /// only then. So its class is looked up by name.
    static var tracker: (any StoreSchemaTracker.Type)? {
        NSClassFromString("SyncEngine.TrackedSchema") as? any StoreSchemaTracker.Type
    }
}

extension Database {
    /// Registers an observer, which the connection keeps.
    package func add(schemaChangeObserver observer: any SchemaChangeObserver) {
        schema.observers.append(observer)
    }

    /// Registers a tracker, in the place of the one that the connection has.
    package func use(schemaTracker tracker: any StoreSchemaTracker) {
        schema.observers.removeAll { $0 is any StoreSchemaTracker }
        schema.observers.append(tracker)
    }

    /// Runs a block whose changes of tables are not reported.
    package func withoutReportingSchemaChanges<T>(_ body: () throws -> T) rethrows -> T {
        let wasReporting = schema.isReporting
        schema.isReporting = true
        defer { schema.isReporting = wasReporting }
        return try body()
    }

    /// The observers, with the tracker when the store has sync metadata.
    ///
    /// A program without the engine changes the tables of a tracked store unobserved.
    /// The triggers that track a table say which column is which, and the engine
    /// finds the changes when it runs next.
    func schemaObservers() throws -> [any SchemaChangeObserver] {
        guard !schema.observers.contains(where: { $0 is any StoreSchemaTracker }),
            let tracker = SyncEngineModule.tracker
        else { return schema.observers }
        let isTracked = try withoutTracing {
            try Bool.fetchOne(
                self, sql: "SELECT EXISTS(SELECT 1 FROM main.sqlite_master WHERE name = ? COLLATE NOCASE)",
                arguments: [SyncNames.state])
        }
        if isTracked == true { schema.observers.append(tracker.init()) }
        return schema.observers
    }

    /// Runs a change of a table between the two calls to the observers.
    func reporting(_ change: TableChange, of table: String, _ body: () throws -> Void) throws {
        guard !schema.isReporting else { return try body() }
        let observers = try schemaObservers()
        guard !observers.isEmpty, let object = try find(.table, table), object.schemaID == .main else {
            return try body()
        }
        try inSavepoint {
            try withoutReportingSchemaChanges {
                for observer in observers { try observer.database(self, willAlter: object.name, by: change) }
                try body()
                for observer in observers { try observer.database(self, didAlter: object.name, by: change) }
            }
            return .commit
        }
    }
}
