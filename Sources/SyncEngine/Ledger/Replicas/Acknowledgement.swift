import CipherStore
import SyncWire

/// What replicas that hold some tables only know of all of these. Nobody waits for them in other
/// tables, so their vector, which stands for all tables, would hold back what may be forgotten.
struct Acknowledgement {
    static let schema = """
        CREATE TABLE _sync_acknowledged (
            sid INTEGER NOT NULL,
            origin INTEGER NOT NULL,
            oseq INTEGER NOT NULL,
            PRIMARY KEY (sid, origin)
        ) WITHOUT ROWID;

        """

    let db: Database

    /// What is known here of all tables that are exchanged with anybody; nil when those are all.
    func own(_ coverage: Coverage) throws -> VersionVector? {
        let held = try ScopeStore(db: db).heldTables()
        guard held != nil || !coverage.partials.isEmpty else { return nil }
        var vectors = (held ?? Array(coverage.partials.keys)).map { coverage[$0].known }
        if held == nil { vectors.append(coverage.whole.known) }
        guard var common = vectors.first else { return nil }
        for known in vectors.dropFirst() {
            for (origin, sequence) in common.sequences where known[origin] < sequence {
                common[origin] = known[origin]
            }
        }
        assert(vectors.allSatisfy { $0.covers(common) }, "more is claimed of all tables than of one")
        return common
    }

    /// What others have acknowledged, without those that are retired.
    func others(_ metadata: StoreMetadata) throws -> [ReplicaID: VersionVector] {
        let names = Dictionary(
            metadata.replicas.map { ($0.sid, $0.id) }, uniquingKeysWith: { first, _ in first })
        var acknowledged: [ReplicaID: VersionVector] = [:]
        let statement = try db.cachedStatement(
            sql: """
                SELECT sid, origin, oseq FROM _sync_acknowledged
                WHERE sid <> ? AND sid NOT IN (SELECT sid FROM _sync_retired)
                """)
        let rows = try Row.fetchCursor(statement, arguments: [metadata.selfNumber])
        while let row = try rows.next() {
            guard let replica = names[try row.decodeStrictly(atIndex: 0)],
                let origin = names[try row.decodeStrictly(atIndex: 1)]
            else { continue }
            acknowledged[replica, default: VersionVector()][origin] = try row.decodeStrictly(atIndex: 2)
        }
        return acknowledged
    }

    /// What a peer says of itself and others, and of this replica.
    func facts(_ metadata: StoreMetadata, _ coverage: Coverage) throws -> [ReplicaID: VersionVector] {
        var facts = try others(metadata)
        if let own = try own(coverage) { facts[try metadata.replicaID()] = own }
        return facts
    }

    /// Takes in what a peer says. It only grows.
    ///
    /// What it says of others is not noted beyond a bound, as what is known (see ``ReplicaRegister``).
    func learn(
        _ acknowledged: [ReplicaID: VersionVector], own: ReplicaID, from peer: ReplicaID,
        at milliseconds: Int64
    ) throws {
        guard acknowledged.contains(where: { $0.key != own }) else { return }
        let known = try others(StoreMetadata.require(db))
        let register = ReplicaRegister(db: db)
        let numbers = try register.numbers()
        var (room, hearsayRoom) = (try self.room.forOwnWords(), try self.room.forHearsay())
        for (replica, vector) in acknowledged.sorted(by: { $0.key < $1.key }) where replica != own {
            // What nothing is here of needs no acknowledgement.
            let entries = vector.sequences.compactMap { origin, sequence in
                numbers[origin] != nil || origin == replica ? (origin: origin, sequence: sequence) : nil
            }
            let former = known[replica] ?? VersionVector()
            let news = KnownNews(entries, of: replica, beside: former.sequences)
            let (noted, addedCount) = news.admitted(room: replica == peer ? room : min(room, hearsayRoom))
            guard !noted.isEmpty else { continue }
            room -= addedCount
            if replica != peer { hearsayRoom -= addedCount }
            let sid = try register.number(of: replica, at: milliseconds)
            for (origin, sequence) in noted {
                guard let number = origin == replica ? sid : numbers[origin] else { continue }
                try db.execute(
                    sql: "INSERT OR REPLACE INTO _sync_acknowledged (sid, origin, oseq) VALUES (?, ?, ?)",
                    arguments: [sid, number, sequence])
            }
        }
    }

    /// The room for what replicas have acknowledged.
    var room: KnownRoom { KnownRoom(db: db, table: "_sync_acknowledged") }

    // MARK: Forgetting

    /// Forgets what a replica acknowledged, for nobody waits for it.
    func remove(of sid: Int64) throws {
        try db.execute(sql: "DELETE FROM main._sync_acknowledged WHERE sid = ?", arguments: [sid])
    }

    /// Forgets what retired replicas acknowledged.
    func removeOfRetired() throws {
        try db.execute(
            sql: "DELETE FROM main._sync_acknowledged WHERE sid IN (SELECT sid FROM _sync_retired)")
    }

    /// Forgets that changes of replicas were acknowledged of which nothing is here.
    func removeOfUnheard() throws {
        try db.execute(
            sql: """
                DELETE FROM main._sync_acknowledged WHERE origin IN (
                    SELECT p.sid FROM _sync_replica AS p WHERE \(ImplausibleMetadata.isUnheardOf))
                """)
    }

    /// Forgets that changes were acknowledged which no replica reaches.
    ///
    /// - returns: How many numbers of changes that were.
    func removeImplausible() throws -> Int64 {
        try db.execute(sql: "DELETE FROM main.\(ImplausibleMetadata.beyond("_sync_acknowledged"))")
        return Int64(db.changesCount)
    }
}
