import CipherStore
import SyncWire

/// A replica of the database, as this one knows it.
public struct ReplicaInformation: Equatable, Sendable {
    /// Why a replica is retired: no other replica waits for it any more.
    public enum Retirement: String, Sendable {
        /// Nothing was heard of it for too long.
        case unseen
        /// Somebody said so.
        case requested
        /// Its file goes on under another identifier.
        case renewed
    }

    /// The replica.
    public let replica: ReplicaID
    /// Whether it is this one.
    public let isLocal: Bool
    /// How it was reached last; empty when it was not reached from here.
    public let name: String
    /// Whether this replica was synchronized with it itself.
    public let isPeer: Bool
    /// The number of its last change that is known here.
    public let sequence: Int64
    /// When anything of it was last heard, in milliseconds of Unix time; nil for this replica.
    public let lastSeenMilliseconds: Int64?
    /// What it is known to know: the numbers of the last changes, by who made them. It may know more by now.
    public let known: [ReplicaID: Int64]
    /// Whether it is known to know everything that is known here.
    public let isUpToDate: Bool
    /// Why it is retired; nil when it is not.
    public let retirement: Retirement?
}

extension Synchronizer {
    /// The replicas of the database that are known here, this one first.
    public func replicas() throws -> [ReplicaInformation] {
        try database.read { db in
            let metadata = try StoreMetadata.require(db)
            guard metadata.format == MetadataSchema.version else { return [] }
            let known = try ReplicaRegister(db: db).knownOfHeldTables(metadata)
            var own = metadata.vector
            let local = try metadata.replicaID()
            own[local] = max(own[local], try RowKnowledge.lastUnfoldedChange(db) ?? 0)
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT p.rid, coalesce(e.name, ''), p.oseq, \(ReplicaRegister.lastHeard), t.reason,
                        p.sid = (SELECT self FROM _sync_state), e.rid IS NOT NULL
                    FROM _sync_replica AS p LEFT JOIN _sync_peer AS e ON e.rid = p.rid
                    LEFT JOIN _sync_retired AS t ON t.sid = p.sid
                    ORDER BY 6 DESC, t.reason IS NOT NULL, 4 DESC, p.sid
                    """)
            return try rows.map { row in
                let replica = try StoreMetadata.identifier(row.decode(atIndex: 0))
                let isLocal: Bool = try row.decode(atIndex: 5)
                var vector = known[replica] ?? VersionVector()
                // What it made it knows, as far as that is known here.
                vector[replica] = max(vector[replica], metadata.vector[replica])
                return ReplicaInformation(
                    replica: replica, isLocal: isLocal, name: try row.decode(atIndex: 1),
                    isPeer: try row.decode(atIndex: 6),
                    sequence: isLocal
                        ? max(own[local], try row.decode(atIndex: 2)) : try row.decode(atIndex: 2),
                    lastSeenMilliseconds: isLocal ? nil : try row.decodeIfPresent(atIndex: 3),
                    known: (isLocal ? own : vector).sequences,
                    isUpToDate: isLocal || vector.covers(own),
                    retirement: Self.retirement(try row.decodeIfPresent(Int64.self, atIndex: 4)))
            }
        }
    }

    private static func retirement(_ reason: Int64?) -> ReplicaInformation.Retirement? {
        guard let reason else { return nil }
        return switch UInt8(exactly: reason).flatMap(ReplicaFacts.Retirement.Reason.init) {
        case .unseen: .unseen
        case .renewed: .renewed
        default: .requested
        }
    }

    /// Says that a replica does not come back, for example because its device was lost. No replica waits for
    /// it any more, and the others learn that when they synchronize. If it does come back, it is refused
    /// until it takes a new identity with ``renewIdentity()``.
    ///
    /// - throws: ``SyncError`` of code `noSuchReplica` when it is not known here, or is this one.
    public func retire(_ replica: ReplicaID) throws {
        try database.write { db in
            let metadata = try FoldedStore.refresh(db, environment).metadata
            guard try metadata.replicaID() != replica else {
                throw SyncError(.noSuchReplica, "a replica can't retire itself; do it from another one")
            }
            guard metadata.replicas.contains(where: { $0.id == replica }) else {
                throw SyncError(.noSuchReplica, "replica \(replica.shortDescription) was never heard of here")
            }
            try ReplicaRegister(db: db).retire(replica, at: environment.milliseconds(), .requested)
        }
    }

    /// Forgets how a retired replica was reached, and what it knew. Its changes stay.
    ///
    /// - throws: ``SyncError`` of code `noSuchReplica` when no such replica is retired.
    public func forget(_ replica: ReplicaID) throws {
        try database.write { db in
            try MetadataSchema.upgrade(db)
            let sid = try Int64.fetchOne(
                db,
                sql: """
                    SELECT p.sid FROM _sync_replica AS p JOIN _sync_retired AS t ON t.sid = p.sid WHERE p.rid = ?
                    """, arguments: [replica.data])
            guard let sid else {
                throw SyncError(.noSuchReplica, "replica \(replica.shortDescription) is not retired here")
            }
            try PeerRegister(db: db).remove(replica)
            try ReplicaRegister(db: db).removeKnown(of: sid)
            try Acknowledgement(db: db).remove(of: sid)
        }
    }

    /// Gives this replica a new identity, and retires the old one, which keeps the changes made so far. This
    /// is the way back for a replica that was retired.
    ///
    /// If the replica that refused this one knows changes under the old identity that this replica never
    /// made, the changes that this replica made beyond the common part move to the new identity and are sent
    /// under it.
    ///
    /// Values that this replica wrote, that another program took away with their column, and that no other replica is
    /// known to have, are given up: their rows go on without them.
    /// So are its rows of a table that another program dropped: where a replica has them after all, they come back from there.
    ///
    /// - returns: The new identity.
    /// - throws: ``SyncError``, `DatabaseError`.
    @discardableResult
    public func renewIdentity() throws -> ReplicaID {
        let (replica, isForked) = try database.write { db in
            try FoldedStore.refresh(db, environment)
            try TableTracking(db: db, environment: environment).abandonUnsentValues()
            let store = try FoldedStore.fold(db, environment)
            let old = try store.metadata.replicaID()
            let forks = try RetirementForks.take(db)
            try ReplicaIdentity.renew(store, forks)
            // Whoever refused it has retired it: no file can use it any more.
            try ReplicaRegister(db: db).retire(old, at: environment.milliseconds(), .renewed)
            return (try store.currentMetadata().replicaID(), !forks.isEmpty)
        }
        // A new identity is another winner of rows of the same moment.
        if isForked { try database.settle(environment, isFull: true) }
        return replica
    }
}
