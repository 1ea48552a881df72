import CipherStore
import SyncWire

/// A replica that tells how its tables are made.
package protocol DefiningPeer: SyncPeer {
    /// How the tables are made that it exchanges.
    func definitions() throws -> [SharedTable]
}

extension StorePeer: DefiningPeer {
    func definitions() throws -> [SharedTable] { try database.read { try SharedTable.loadAll($0) } }
}

extension Synchronizer {
    /// How the tables of a remote are made that it exchanges.
    ///
    /// - throws: ``SyncError``: `notComparable` for one that does not tell, `otherStore` for a replica of another database;
    ///   what its connection throws.
    package func definitions(from transport: any Transport) throws -> [SharedTable] {
        let remote = try transport.connect(environment)
        defer { remote.close() }
        let own = try database.read { try StoreMetadata.require($0).store }
        // A file is not written to for that, and a greeting would.
        let other = try (remote as? StorePeer)?.store() ?? remote.greet().store
        guard other == own else {
            throw SyncError(.otherStore, "the remote is a replica of another database")
        }
        guard let peer = remote as? any DefiningPeer else {
            throw SyncError(.notComparable, "\(transport.name) does not tell how its tables are made")
        }
        return try peer.definitions()
    }

    /// Which tables of this store definitions of a remote mean, by all names that both know.
    ///
    /// - parameter definitions: How tables of the remote are made.
    /// - returns: One for each definition, in their order.
    /// - throws: ``SyncError``, ``DatabaseError``.
    package func find(_ definitions: [SharedTable]) throws -> [FoundTable] {
        try database.read { try OwnTables($0).find(definitions) }
    }

    /// Makes the tables that a remote has and this store lacks, with the remote's definitions, and tracks
    /// them. Rows of these tables that waited here are written; the others come with the next
    /// synchronization. A table that was renamed, here or there, is not missing.
    ///
    /// - returns: The names of the tables that were made.
    /// - throws: ``SyncError``: `notComparable` for a remote that does not tell how its tables are made; `invalidBundle` for
    ///   definitions that do anything else, `otherStore` for a replica of another database. `DatabaseError` for a
    ///   definition that this SQLite can't carry out. No table is made then.
    public func createTables(from transport: any Transport) throws -> [String] {
        try makeTables(from: transport).names
    }

    /// The same, and how many rows that had waited found their place.
    ///
    /// - throws: As ``createTables(from:)``.
    package func makeTables(
        from transport: any Transport
    ) throws -> (names: [String], shownRowCount: Int64) {
        let definitions = try definitions(from: transport)
        let waiting = try database.read { try Self.parkedRowCount($0) }
        let names = try make(definitions)
        guard !names.isEmpty else { return ([], 0) }
        return (names, max(0, waiting - (try database.read { try Self.parkedRowCount($0) })))
    }

    /// How tables are made, as far as this store has them.
    ///
    /// - parameter numbers: The tables; nil for all.
    package func definitions(ofTables numbers: [Int64]?) throws -> [SharedTable] {
        try database.read { try SharedTable.loadAll($0, numbers: numbers) }
    }

    /// Makes a new replica of a database in an empty file: with some tables, and without rows.
    ///
    /// - throws: ``SyncError``, ``DatabaseError``.
    package convenience init(
        newReplicaOf store: StoreID, _ database: any DatabaseWriter, tables: [SharedTable],
        environment: SyncEnvironment
    ) throws {
        try database.write { db in
            try MetadataSchema.create(db, store: store, replica: environment.identifier())
            for table in tables { try table.create(db) }
        }
        try self.init(database, tables: tables.map(\.name), environment: environment)
    }
}
