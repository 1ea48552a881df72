import CipherStore
import Foundation
import SyncWire

/// The few facts of a store's metadata that every operation needs, as one
/// transaction sees them.
struct StoreMetadata {
    /// A replica that is known here.
    struct Replica {
        let sid: Int64
        let id: ReplicaID
        let sequence: Int64
    }

    /// The version of the metadata's tables.
    let format: Int64
    let store: StoreID
    /// The local number of this replica.
    let selfNumber: Int64
    /// The last timestamp that was given or adopted.
    let clock: HybridTimestamp
    /// The last log entry that has versions.
    let folded: Int64
    let replicas: [Replica]

    /// Reads the metadata.
    ///
    /// - returns: nil when the database has none.
    /// - throws: ``SyncError`` when it was made by a newer program.
    static func load(_ db: Database) throws -> StoreMetadata? {
        guard try db.tableExists("_sync_state") else { return nil }
        let sql = "SELECT format, store, self, clock, folded FROM _sync_state"
        guard let row = try Row.fetchOne(db, sql: sql) else {
            throw SyncError(.damagedMetadata, "the sync metadata has no state")
        }
        let format: Int64 = try row.decode(atIndex: 0)
        guard format <= MetadataSchema.version else {
            throw SyncError(
                .metadataTooNew,
                "the sync metadata has version \(format), and this program knows version \(MetadataSchema.version)"
            )
        }
        let replicas = try db.rows("SELECT sid, rid, oseq FROM _sync_replica ORDER BY sid") {
            Replica(
                sid: try $0.decodeStrictly(atIndex: 0),
                id: try Self.identifier($0.decodeStrictly(atIndex: 1)),
                sequence: try $0.decodeStrictly(atIndex: 2))
        }
        return try StoreMetadata(
            format: format, store: identifier(row.decode(atIndex: 1)), selfNumber: row.decode(atIndex: 2),
            clock: HybridTimestamp(rawValue: row.decode(atIndex: 3)), folded: row.decode(atIndex: 4),
            replicas: replicas)
    }

    /// Reads the metadata that must be there.
    static func require(_ db: Database) throws -> StoreMetadata {
        guard let metadata = try load(db) else {
            throw SyncError(
                .notSynchronized, "the store has no sync metadata; it was not made for synchronization")
        }
        return metadata
    }

    static func identifier(_ data: Data) throws -> Identifier128 {
        guard let identifier = data.withUnsafeBytes({ Identifier128(bytes: $0) }) else {
            throw SyncError(.damagedMetadata, "an identifier of the sync metadata is not 16 bytes long")
        }
        return identifier
    }

    /// The identity of this replica.
    func replicaID() throws -> ReplicaID {
        guard let replica = replicas.first(where: { $0.sid == selfNumber }) else {
            throw SyncError(.damagedMetadata, "the sync metadata does not name this replica")
        }
        return replica.id
    }

    /// The same without the changes of this replica after one of them.
    func upTo(_ last: Int64) -> StoreMetadata {
        let part = StoreMetadata(
            format: format, store: store, selfNumber: selfNumber, clock: clock, folded: folded,
            replicas: replicas.map {
                $0.sid == selfNumber
                    ? Replica(sid: $0.sid, id: $0.id, sequence: min($0.sequence, last)) : $0
            })
        assert(vector.covers(part.vector))
        return part
    }

    /// Whether the clock is where no timestamp follows that other stores take in. A program before 29 November 2026 took it
    /// there by a machine's clock, or any other one wrote it.
    var isClockBeyond: Bool { clock.rawValue >= AdmissionLimits.timestampMax }

    /// The first timestamp that a change can get. A clock that is beyond all of them says nothing: what is written then
    /// would stay beyond for good.
    var nextTimestamp: Int64 { isClockBeyond ? 0 : clock.next.rawValue }

    /// What this replica knows.
    var vector: VersionVector {
        VersionVector(Dictionary(replicas.map { ($0.id, $0.sequence) }, uniquingKeysWith: max))
    }
}

extension Identifier128 {
    /// The 16 bytes.
    var data: Data { Data(bytes) }
}
