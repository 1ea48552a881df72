import CipherStore
import SyncWire

/// Forgets deletions that every replica knows.
///
/// The floor is the vector of the changes that all replicas know that are not retired.
/// It is found by a compaction, goes to others with bundles, and only grows. Every deletion
/// up to the floor is gone from `_sync_row`, in all files that know the floor: so a row that
/// is inserted again after that begins at its first life everywhere.
///
/// That a row of an old write is missing means that it was deleted: the vector covers the
/// write, so the row was here once (see ``isForgotten``). And a replica that does not know
/// all changes up to the floor gets all rows instead of the changes since its vector; what it
/// has and does not get was deleted (see ``Resync``).
struct Tombstones {
    let db: Database

    /// The changes that all replicas know, by what is known here of what they know. It is
    /// nothing as long as there is a replica that was never heard of, or that is known to have written more than is here:
    /// it may have edited a row before it heard of the row's deletion. Once the deletion is forgotten, only what is known
    /// tells such an edit from one of a row that is inserted again.
    ///
    /// Based on: Wuu and Bernstein, "Efficient Solutions to the Replicated Log and
    /// Dictionary Problems", 1984.
    ///
    /// - parameter vector: What is known here: of all tables, or of one.
    func commonVector(_ metadata: StoreMetadata, within vector: VersionVector) throws -> VersionVector {
        let retired = Set(try ReplicaRegister(db: db).retirements().map(\.replica))
        let own = try metadata.replicaID()
        let known = try ReplicaRegister(db: db).knownOfHeldTables(metadata)
        let heard = try heardOf(metadata)
        var common = vector
        for replica in metadata.replicas where replica.id != own && !retired.contains(replica.id) {
            // What it never said it knows is not assumed, not even its own changes: they were made with others in mind, and
            // a floor that has them without those others would not know the rows that they deleted.
            let known = known[replica.id] ?? VersionVector()
            guard known[replica.id] <= max(vector[replica.id], heard[replica.id]) else {
                return VersionVector()
            }
            for (origin, sequence) in common.sequences where known[origin] < sequence {
                common[origin] = known[origin]
            }
            assert(known.covers(common), "a deletion would be forgotten that a replica does not know")
        }
        assert(vector.covers(common), "what is not known here can't be common")
        return common
    }

    /// The changes that are here of replicas that hold some tables only. Those of their other tables never come.
    private func heardOf(_ metadata: StoreMetadata) throws -> VersionVector {
        let reach = try Coverage.load(db, metadata).reach
        return VersionVector(
            try Acknowledgement(db: db).others(metadata).reduce(into: [:]) { $0[$1.key] = reach[$1.key] })
    }

    /// The replicas without which the floor would be higher.
    func laggards(_ metadata: StoreMetadata) throws -> [ReplicaID] {
        let retired = Set(try ReplicaRegister(db: db).retirements().map(\.replica))
        let own = try metadata.replicaID()
        let known = try ReplicaRegister(db: db).knownOfHeldTables(metadata)
        // Only deletions wait, so only what lies above a deletion counts.
        let last = try Row.fetchAll(
            db, sql: "SELECT sid, max(oseq) FROM _sync_row WHERE NOT cl & 1 GROUP BY sid")
        let names = Dictionary(
            metadata.replicas.map { ($0.sid, $0.id) }, uniquingKeysWith: { first, _ in first })
        let reach = try Coverage.load(db, metadata).reach
        var needed = VersionVector()
        for row in last {
            if let origin = names[try row.decode(atIndex: 0)] { needed[origin] = try row.decode(atIndex: 1) }
        }
        return metadata.replicas.map(\.id).filter { replica in
            guard replica != own, !retired.contains(replica) else { return false }
            let vector = known[replica] ?? VersionVector()
            return vector[replica] > reach[replica] || !vector.covers(needed)
        }
    }

    /// Lowers the floor to what is common to two files that wrote under one replica id.
    func setBackFloor(of sid: Int64, to common: Int64) throws {
        try db.execute(
            sql: "UPDATE _sync_floor SET oseq = min(oseq, ?) WHERE sid = ?",
            arguments: [common, sid])
    }

    /// Takes numbers of changes that no replica reaches out of the floor.
    ///
    /// - returns: How many there were.
    func removeImplausibleFloor() throws -> Int64 {
        try db.execute(sql: "DELETE FROM main.\(ImplausibleMetadata.beyond("_sync_floor"))")
        return Int64(db.changesCount)
    }

    /// Raises the floor, and forgets what lies below.
    ///
    /// - returns: How many deletions were forgotten.
    @discardableResult
    func raiseFloor(to vector: VersionVector, _ metadata: StoreMetadata) throws -> Int64 {
        let floor = try ReplicaRegister(db: db).floor(metadata)
        guard !floor.covers(vector) else { return 0 }
        let numbers = Dictionary(
            metadata.replicas.map { ($0.id, $0.sid) }, uniquingKeysWith: { first, _ in first })
        for (origin, sequence) in vector.sequences where sequence > floor[origin] {
            guard let sid = numbers[origin] else { continue }
            try db.execute(
                sql: "INSERT OR REPLACE INTO _sync_floor (sid, oseq) VALUES (?, ?)",
                arguments: [sid, sequence])
        }
        let count = try VersionTable.forgetDeletions(db)
        try LastRows.removeStrays(db)
        try OriginalValues.removeStale(db)
        return count
    }

    /// The same for one table, of which more is known than of all.
    ///
    /// - parameter coverage: What is known.
    /// - returns: How many deletions were forgotten.
    @discardableResult
    func raiseFloor(ofTable table: Int64, to vector: VersionVector, _ coverage: Coverage) throws -> Int64 {
        guard !coverage[table].floor.covers(vector) else { return 0 }
        try coverage.raise(
            db, [(table, Coverage.Part(known: coverage[table].known, floor: vector))],
            StoreMetadata.require(db))
        let count = try VersionTable.forgetDeletions(db, of: table)
        try LastRows.removeStrays(db)
        try OriginalValues.removeStale(db)
        return count
    }
}

/// What a bundle says of rows that are not here because their deletion was forgotten.
struct ForgottenRows {
    /// For each replica of the bundle, the last change of which is certain that its row was
    /// here once.
    private let bounds: [Int64]
    /// Whether any deletion was ever forgotten here.
    let exist: Bool

    init() {
        bounds = []
        exist = false
    }

    /// - parameter vector: What was known here before the bundle.
    init(_ header: BundleHeader, floor: VersionVector, vector: VersionVector) {
        bounds = header.replicas.map { min(floor[$0], vector[$0]) }
        exist = !floor.sequences.isEmpty
    }

    /// Whether a row with this base, if it is not here, was deleted.
    @inline(__always)
    func covers(_ base: WireStamp) -> Bool {
        assert(!exist || bounds.indices.contains(base.replica))
        return exist && base.sequence <= bounds[base.replica]
    }
}
