import CipherStore
import Foundation
import SyncWire

/// What `SyncHTTP` builds on.
extension Synchronizer {
    /// The database.
    package var writer: any DatabaseWriter { database }

    /// Time and randomness.
    package var surroundings: SyncEnvironment { environment }

    /// This store as one side of a synchronization.
    package var localPeer: any SyncPeer { peer }

    /// Which database this is, and which replica of it.
    package func identity() throws -> (store: StoreID, replica: ReplicaID, vector: VersionVector) {
        try database.read { db in
            let metadata = try StoreMetadata.require(db)
            return (metadata.store, try metadata.replicaID(), metadata.vector)
        }
    }

    /// The forks that a greeting shows, whichever side knows more of a replica.
    ///
    /// - returns: The forks, and whether the greeting has this replica among those that were not seen for long.
    package func forks(in greeting: Greeting) throws -> (forks: [Fork], isRetired: Bool) {
        try database.read { db in
            let own = try StoreMetadata.require(db).replicaID()
            let search = ForkSearch(db: db)
            let forks = try search.forks(in: greeting)
            let others = try search.forks(facts: greeting.facts, reach: greeting.reach)
            let isRetired = greeting.facts.retirements.contains {
                $0.replica == own && $0.reason != .requested
            }
            return (forks + others, isRetired)
        }
    }

    /// Whether a replica was heard of here.
    package func knows(_ replica: ReplicaID) throws -> Bool {
        try database.read { db in
            try StoreMetadata.require(db).replicas.contains { $0.id == replica }
        }
    }

    /// Whether both of two replicas are known here, and the second one was first heard of after the other.
    package func knows(_ replica: ReplicaID, since former: ReplicaID) throws -> Bool {
        try database.read { db in
            // They have their numbers in the order in which they were heard of.
            let replicas = try StoreMetadata.require(db).replicas.map(\.id)
            guard let first = replicas.firstIndex(of: former), let second = replicas.firstIndex(of: replica)
            else { return false }
            return first < second
        }
    }

    /// The last change of each replica of which anything is known here, with all local changes folded.
    package func foldedReach() throws -> VersionVector {
        let isFolded = try database.read { try FoldedStore.isFolded($0) }
        if !isFolded { try database.write { _ = try FoldedStore.fold($0, environment) } }
        return try reach().known
    }

    /// The last change of each replica of which anything is known here, and the number of the last local change,
    /// which need not be folded yet.
    package func reach() throws -> (known: VersionVector, lastEntry: Int64) {
        try database.read { db in
            let reach = try Coverage.load(db, StoreMetadata.require(db)).reach
            let last = try Int64.fetchOne(db, sql: "SELECT max(seq) FROM _sync_log") ?? 0
            return (reach, try HeldBackRows.lastEdit(db, upTo: last))
        }
    }

    /// Whether all is known here that a bundle brings, of all tables and of some.
    package func knowsContent(of header: BundleHeader) throws -> Bool {
        try database.read { db in
            let coverage = try Coverage.load(db, StoreMetadata.require(db))
            guard coverage.whole.known.covers(header.target) else { return false }
            let names = TableNames(try SyncedTable.loadAll(db), try NameAliases(db))
            return header.facts.parts.allSatisfy { part in
                part.tables.allSatisfy { table in
                    names.number(of: table).map { coverage[$0].known.covers(part.target) } ?? false
                }
            }
        }
    }

    /// Brings the metadata of an older program to this version, so that the tables are there. A store that can't be written is
    /// left as it is: who reads it has to look whether they are.
    package func upgradeMetadata() throws {
        guard database.writeWithoutTransaction({ $0.canWrite }) else { return }
        try database.write { db in
            try MetadataSchema.upgrade(db)
        }
    }

    /// Writes an archive of the store for a new replica on another device, to where a function brings the bytes: without
    /// the keys, devices and invitations of this file, as any archive.
    ///
    /// The encrypted copy that it is made of is named after the store, so that what a process leaves that is killed
    /// meanwhile is found, and removed by the next one.
    ///
    /// - parameters:
    ///     - lock: Who can open it.
    ///     - progress: Called with how far it is; an error that it throws ends the whole.
    ///     - output: Takes the bytes, in their order. It must not wait for a network: the store can't be written meanwhile.
    /// - throws: ``StoreError``, ``DatabaseError``, what `output` throws.
    package func writeSnapshot(
        lock: ArchiveLock, progress: StoreProgressHandler? = nil, to output: @escaping (Data) throws -> Void
    ) throws {
        let environment = environment
        try database.writeWithoutTransaction { db in
            try StoreArchive.write(
                of: db, lock: lock, preparation: FoldedStore.preparation(environment),
                finishing: Self.forgetSecrets,
                now: Date(timeIntervalSince1970: Double(environment.milliseconds()) / 1000),
                progress: progress, to: output)
        }
    }
}
