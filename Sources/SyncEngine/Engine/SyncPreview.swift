import CipherStore
import SyncWire

/// What a synchronization would exchange now.
public struct SyncPreview: Equatable, Sendable {
    /// The rows of a table that would be exchanged.
    public struct Table: Equatable, Sendable {
        /// Its name, as the sender calls it.
        public let name: String
        /// How many rows: those that are new, changed or deleted. Of a table that one side holds in part, at most.
        public let rowCount: Int64
    }

    /// What would go, by table; nil when it was not asked for.
    public internal(set) var outgoing: [Table]?
    /// What would come, by table; nil when it was not asked for, or when the remote does not tell.
    public internal(set) var incoming: [Table]?
    /// How many changes would come from a remote that does not tell of tables; a row can have several. nil otherwise.
    public internal(set) var incomingChangeCount: Int64?
}

extension Synchronizer {
    /// Says what a synchronization would exchange now, and exchanges nothing.
    ///
    /// The files of this machine are read and not written to. A server, or a store at the other end of a pipe, is asked
    /// who it is and what it knows: that numbers what was written there, and changes nothing else. Conflicts are not
    /// foretold.
    ///
    /// - throws: ``SyncError`` of code `otherStore`; what the connection throws; ``DatabaseError``.
    public func preview(
        _ direction: SyncDirection = .both, with transport: any Transport
    ) throws -> SyncPreview {
        let remote = try transport.connect(environment)
        defer { remote.close() }
        let other = remote as? StorePeer
        let (here, there) = (try peer.outlook(), try other?.outlook() ?? remote.greet())
        guard here.store == there.store else {
            throw SyncError(.otherStore, "the remote is a replica of another database")
        }
        let tables = try database.read { try ScopeStore(db: $0).tableNames(of: transport.name) }
        func request(_ greeting: Greeting) -> TransferRequest {
            TransferRequest(base: greeting.vector, parts: greeting.facts.parts, tables: tables)
        }
        var preview = SyncPreview()
        if direction != .pull { preview.outgoing = try peer.rowCounts(request(there)) }
        guard direction != .push else { return preview }
        preview.incoming = try other?.rowCounts(request(here))
        if other == nil { preview.incomingChangeCount = Self.changeCount(there.vector, beyond: here.vector) }
        return preview
    }

    /// The same of a shared folder, of which the heads alone are read.
    ///
    /// - throws: As ``preview(_:with:)``; ``StoreError`` of code `wrongPassphrase`.
    public func preview(
        _ direction: SyncDirection = .both, with folder: FolderTransport
    ) throws -> SyncPreview {
        let here = try peer.outlook()
        let contents = try FolderContents(folder, store: here.store)
        var known = VersionVector()
        for bundle in contents.bundles { known.join(bundle.target) }
        var preview = SyncPreview()
        if direction != .pull {
            preview.outgoing = try peer.rowCounts(TransferRequest(base: known))
        }
        if direction != .push {
            preview.incomingChangeCount = Self.changeCount(known, beyond: here.vector)
        }
        return preview
    }

    private static func changeCount(_ vector: VersionVector, beyond known: VersionVector) -> Int64 {
        vector.sequences.reduce(0) { sum, entry in
            sum.addingReportingOverflow(max(0, entry.value - known[entry.key])).partialValue
        }
    }
}

extension StorePeer {
    /// What the replica says of itself, without numbers for what was written since it was last asked.
    func outlook() throws -> Greeting {
        try database.read { db in
            let metadata = try StoreMetadata.require(db)
            return try greeting(db, metadata.vector[metadata.replicaID()], isComparable: false)
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
