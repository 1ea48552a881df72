import CipherStore
import SyncWire

extension StorePeer {
    /// What the replica says of itself, without numbers for what was written since it was last asked.
    func outlook() throws -> Greeting {
        try database.read { db in
            let metadata = try StoreMetadata.require(db)
            return try greeting(db, metadata, metadata.vector[metadata.replicaID()])
        }
    }

    /// How many rows lie beyond what a receiver knows, by table.
    func rowCounts(_ request: TransferRequest) throws -> [SyncPreview.Table] {
        try database.read { db in
            let metadata = try StoreMetadata.require(db)
            let parts = try ExportedParts(db, metadata, request)
            var counts: [SyncPreview.Table] = []
            for table in parts.tables.sorted(by: { $0.name < $1.name }) {
                guard let group = parts.all.first(where: { $0.tables.contains(table.number) }) else {
                    continue
                }
                let count = try Self.rowCount(db, metadata, table, beyond: group.base)
                if count > 0 { counts.append(.init(name: table.name, rowCount: count)) }
            }
            return counts
        }
    }

    private static func rowCount(
        _ db: Database, _ metadata: StoreMetadata, _ table: SyncedTable, beyond base: VersionVector
    ) throws -> Int64 {
        let known = metadata.replicas.map { "(\($0.sid), \(base[$0.id]))" }.joined(separator: ", ")
        return try Int64.fetchOne(
            db,
            sql: """
                WITH known (sid, oseq) AS (VALUES \(known))
                SELECT count(*) FROM (
                    SELECT s.pk FROM known AS k CROSS JOIN _sync_row AS s ON s.sid = k.sid AND s.oseq > k.oseq
                    WHERE s.tbl = ?1
                    UNION
                    SELECT s.pk FROM known AS k CROSS JOIN _sync_cell AS c ON c.sid = k.sid AND c.oseq > k.oseq
                    CROSS JOIN _sync_row AS s ON s.r = c.r WHERE s.tbl = ?1
                    UNION
                    SELECT pk FROM _sync_log WHERE seq > ?2 AND op <> 0 AND tbl = ?1
                    AND \(TableDefinition.isUUID("pk")))
                """, arguments: [table.number, metadata.folded]) ?? 0
    }
}
