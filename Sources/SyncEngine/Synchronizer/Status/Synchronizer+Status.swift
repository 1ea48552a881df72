import CipherStore
import SyncWire

extension Synchronizer {
    /// Reads how the store stands.
    public func status() throws -> SyncStatus { try database.read { try Self.status($0) } }

    static func status(_ db: Database) throws -> SyncStatus {
        let metadata = try StoreMetadata.require(db)
        return SyncStatus(
            store: metadata.store, replica: try metadata.replicaID(), tables: try tables(db),
            peers: try peers(db), remotes: try SyncAttempts.load(db),
            logEntryCount: try count(db, "SELECT count(*) FROM _sync_log WHERE op <> 0"),
            conflictCount: try ConflictJournal.openCount(db, metadata),
            parkedCount: try parkedRowCount(db),
            parked: try parked(db),
            schemaRemarks: try SchemaInspection(db: db).remarks()
                + ConvertedColumn.loadAll(db).map { .init(table: $0.table, text: $0.text) })
    }

    /// How many changes of this store a remote does not have, as far as that is known; 0 for one that it was never synchronized with.
    ///
    /// - parameter name: The name of its transport.
    /// - throws: A `DatabaseError`.
    package func pendingCount(ofRemote name: String) throws -> Int64 {
        try database.read { try Self.peers($0) }.first { $0.name == name }?.pendingCount ?? 0
    }

    /// The rows that wait for their table, column, parent or place.
    static func parkedRowCount(_ db: Database) throws -> Int64 {
        try count(
            db,
            "SELECT count(*) FROM (SELECT DISTINCT tbl, pk FROM _sync_shadow WHERE why <> '\(KeptReason.dropped)')"
        )
    }

    private static func count(_ db: Database, _ sql: String) throws -> Int64 {
        try Int64.fetchOne(db, sql: sql) ?? 0
    }

    private static func tables(_ db: Database) throws -> [SyncStatus.Table] {
        try SchemaInspection(db: db).tables().map { table in
            let name = table.qualifiedName
            let isUUID = TableDefinition.isUUID(table.key.quotedDatabaseIdentifier)
            return SyncStatus.Table(
                name: table.name, rowCount: try count(db, "SELECT count(*) FROM \(name)"),
                unsuitableKeyCount: try count(db, "SELECT count(*) FROM \(name) WHERE NOT \(isUUID)"))
        }
    }

    private static func parked(_ db: Database) throws -> [SyncStatus.Parked] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT t.name, s.why, count(DISTINCT s.pk) FROM _sync_shadow AS s JOIN _sync_table AS t ON t.tbl = s.tbl
                WHERE s.why <> '\(KeptReason.dropped)' GROUP BY t.name, s.why ORDER BY t.name, s.why
                """
        ).map {
            SyncStatus.Parked(
                table: try $0.decode(atIndex: 0), reason: try $0.decode(atIndex: 1),
                rowCount: try $0.decode(atIndex: 2))
        }
    }

    private static func peers(_ db: Database) throws -> [SyncStatus.Peer] {
        try Row.fetchAll(db, sql: "SELECT rid, name, at, acked FROM _sync_peer ORDER BY at DESC").map { row in
            let name: String = try row.decode(atIndex: 1)
            let known: Int64 = try row.decode(atIndex: 3)
            let tables = try ScopeStore(db: db).tables(of: name).map {
                "AND tbl IN (\($0.map(String.init).joined(separator: ", ")))"
            }
            let changes = try Int64.fetchOne(
                db, sql: "SELECT count(*) FROM _sync_log WHERE seq > ? AND op <> 0 \(tables ?? "")",
                arguments: [known])
            let held = try HeldBackRows.count(db, after: known, condition: tables ?? "")
            return SyncStatus.Peer(
                replica: try StoreMetadata.identifier(row.decode(atIndex: 0)), name: name,
                lastContactMilliseconds: try row.decode(atIndex: 2),
                pendingCount: (changes ?? 0).addingSaturated(held))
        }
    }
}
