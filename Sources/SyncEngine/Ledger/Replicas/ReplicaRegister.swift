import CipherStore
import SyncWire

/// What is known about replicas: what each of them knows, which of them nobody waits for,
/// and how far all the others have come.
struct ReplicaRegister {
    static let schema = """
        CREATE TABLE _sync_known (
            sid INTEGER NOT NULL,
            origin INTEGER NOT NULL,
            oseq INTEGER NOT NULL,
            PRIMARY KEY (sid, origin)
        ) WITHOUT ROWID;
        CREATE TABLE _sync_floor (
            sid INTEGER PRIMARY KEY,
            oseq INTEGER NOT NULL
        );
        CREATE TABLE _sync_retired (
            sid INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,
            reason INTEGER NOT NULL
        );

        """

    /// When a replica `p` of `_sync_replica` was last heard of, with what `_sync_peer` has of it as `e`, in SQL. One that
    /// has nothing new to say is met all the same.
    static let lastHeard = "coalesce(max(p.seen, e.at), p.seen, e.at)"

    let db: Database

    // MARK: Telling

    /// What to tell a peer.
    ///
    /// - parameters:
    ///     - base: What the peer knows; nil when that is not known.
    ///     - coverage: What it is told to be known here.
    func facts(
        _ metadata: StoreMetadata, peer base: VersionVector?, _ coverage: Coverage
    ) throws -> ReplicaFacts {
        var facts = ReplicaFacts()
        facts.chains = try ReplicaChain(db: db).points(metadata, upTo: coverage.reach, peer: base)
        facts.floor = try floor(metadata)
        facts.known = try known(metadata)
        facts.acknowledged = try Acknowledgement(db: db).facts(metadata, coverage)
        facts.retirements = try retirements()
        assert(facts.chains.values.allSatisfy { !$0.isEmpty })
        FactBudget(own: try metadata.replicaID(), rotation: metadata.folded).trim(&facts)
        return facts
    }

    /// What other replicas are known to know, without those that are retired.
    func known(_ metadata: StoreMetadata) throws -> [ReplicaID: VersionVector] {
        let names = Self.names(metadata)
        var known: [ReplicaID: VersionVector] = [:]
        let statement = try db.cachedStatement(
            sql: """
                SELECT sid, origin, oseq FROM main._sync_known
                WHERE sid <> ? AND sid NOT IN (SELECT sid FROM _sync_retired)
                """)
        let rows = try Row.fetchCursor(statement, arguments: [metadata.selfNumber])
        while let row = try rows.next() {
            guard let replica = names[try row.decodeStrictly(atIndex: 0)],
                let origin = names[try row.decodeStrictly(atIndex: 1)]
            else { continue }
            known[replica, default: VersionVector()][origin] = try row.decodeStrictly(atIndex: 2)
        }
        return known
    }

    /// The same of the tables that they hold, which is more for those that hold some only.
    func knownOfHeldTables(_ metadata: StoreMetadata) throws -> [ReplicaID: VersionVector] {
        try known(metadata).merging(Acknowledgement(db: db).others(metadata)) { known, acknowledged in
            var vector = known
            vector.join(acknowledged)
            return vector
        }
    }

    /// The changes that all replicas know that are not retired, as of the last compaction
    /// anywhere: deletions among them may be forgotten.
    func floor(_ metadata: StoreMetadata) throws -> VersionVector {
        let names = Self.names(metadata)
        var floor = VersionVector()
        let rows = try Row.fetchCursor(db.cachedStatement(sql: "SELECT sid, oseq FROM _sync_floor"))
        while let row = try rows.next() {
            guard let replica = names[try row.decodeStrictly(atIndex: 0)] else { continue }
            floor[replica] = try row.decodeStrictly(atIndex: 1)
        }
        return floor
    }

    /// The replicas that are retired.
    func retirements() throws -> [ReplicaFacts.Retirement] {
        try db.rows(
            """
            SELECT p.rid, t.at, t.reason FROM _sync_retired AS t JOIN _sync_replica AS p ON p.sid = t.sid
            ORDER BY p.rid
            """
        ) {
            ReplicaFacts.Retirement(
                replica: try StoreMetadata.identifier($0.decodeStrictly(atIndex: 0)),
                milliseconds: try $0.decodeStrictly(atIndex: 1),
                reason: ReplicaFacts.Retirement.Reason(rawValue: try $0.decodeStrictly(atIndex: 2))
                    ?? .requested)
        }
    }

    private static func names(_ metadata: StoreMetadata) -> [Int64: ReplicaID] {
        Dictionary(metadata.replicas.map { ($0.sid, $0.id) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Learning

    /// Takes in what a peer says, except its floor (see ``Tombstones``).
    ///
    /// - parameter vector: What the peer itself knows.
    func learn(
        _ facts: ReplicaFacts, from peer: ReplicaID, knowing vector: VersionVector, at milliseconds: Int64
    ) throws {
        let metadata = try StoreMetadata.require(db)
        let own = try metadata.replicaID()
        let strangers = try strangers(of: facts, metadata)
        let numbers = Dictionary(
            metadata.replicas.map { ($0.id, $0.sid) }, uniquingKeysWith: { first, _ in first })
        if peer != own { try note(vector, of: peer, at: milliseconds, numbers) }
        var room = facts.known.isEmpty ? 0 : try self.room.forHearsay()
        for (replica, vector) in facts.known.sorted(by: { $0.key < $1.key })
        where replica != own && replica != peer && !strangers.contains(replica) {
            room -= try note(vector, of: replica, at: milliseconds, numbers, room: room)
        }
        try Acknowledgement(db: db).learn(
            facts.acknowledged.filter { !strangers.contains($0.key) }, own: own, from: peer, at: milliseconds)
        for retirement in facts.retirements
        where retirement.replica != own && !strangers.contains(retirement.replica) {
            try retire(retirement.replica, at: retirement.milliseconds, retirement.reason)
        }
    }

    /// The replicas of which a peer says something, which are not known here, and for which there is no room: what it
    /// says of these is not kept. It is said again at each synchronization.
    private func strangers(of facts: ReplicaFacts, _ metadata: StoreMetadata) throws -> Set<ReplicaID> {
        let known = Set(metadata.replicas.map(\.id))
        let named = Set(facts.known.keys).union(facts.acknowledged.keys).union(
            facts.retirements.map(\.replica))
        let new = named.subtracting(known).sorted()
        let room = min(AdmissionLimits.strangerCountMax, AdmissionLimits.replicaCountMax - known.count)
        let strangers = Set(new.dropFirst(max(0, room)))
        assert(strangers.isDisjoint(with: known))
        return strangers
    }

    /// Notes that a replica knows something, and that it was heard of if that is news. What it knows of replicas that
    /// are not known here is not noted: nothing of theirs is here yet.
    ///
    /// - parameters:
    ///     - numbers: Those of the replicas that are known here, when they were read.
    ///     - room: How many entries there may be more, of what somebody else says; nil for what the replica says itself.
    /// - returns: How many entries there are more.
    @discardableResult
    func note(
        _ vector: VersionVector, of replica: ReplicaID, at milliseconds: Int64,
        _ numbers: [ReplicaID: Int64]? = nil, room: Int? = nil
    ) throws -> Int {
        let numbers = try numbers ?? self.numbers()
        let sid = try numbers[replica] ?? number(of: replica, at: milliseconds)
        var known: [Int64: Int64] = [:]
        let statement = try db.cachedStatement(sql: "SELECT origin, oseq FROM main._sync_known WHERE sid = ?")
        let rows = try Row.fetchCursor(statement, arguments: [sid])
        while let row = try rows.next() {
            known[try row.decode(atIndex: 0)] = try row.decode(atIndex: 1)
        }
        let entries = vector.sequences.compactMap { origin, sequence in
            (origin == replica ? sid : numbers[origin]).map { (origin: $0, sequence: sequence) }
        }
        let news = KnownNews(entries, of: sid, beside: known)
        guard !news.isEmpty else { return 0 }
        let (noted, addedCount) = try news.admitted(
            room: room ?? (news.needsRoom ? self.room.forOwnWords() : 0))
        // Who speaks is there, whatever is noted of it. What somebody else says again, because there was no room for it, is
        // no sign of life; only of a replica of which nothing could be noted nobody knows better.
        if room == nil || !noted.isEmpty || known.isEmpty {
            try db.execute(
                sql: "UPDATE _sync_replica SET seen = ? WHERE sid = ?", arguments: [milliseconds, sid])
        }
        let insertion = try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO main._sync_known (sid, origin, oseq) VALUES (?, ?, ?)")
        for (origin, sequence) in noted {
            try insertion.execute(arguments: [sid, origin, min(sequence, AdmissionLimits.sequenceMax)])
        }
        return addedCount
    }

    /// The room for what replicas know.
    var room: KnownRoom { KnownRoom(db: db, table: "_sync_known") }

    /// The local numbers of all replicas.
    func numbers() throws -> [ReplicaID: Int64] {
        var numbers: [ReplicaID: Int64] = [:]
        let rows = try Row.fetchCursor(db.cachedStatement(sql: "SELECT rid, sid FROM _sync_replica"))
        while let row = try rows.next() {
            numbers[try StoreMetadata.identifier(row.decodeStrictly(atIndex: 0))] = try row.decodeStrictly(
                atIndex: 1)
        }
        return numbers
    }

    /// The local number of a replica, which it gets if it has none.
    func number(of replica: ReplicaID, at milliseconds: Int64) throws -> Int64 {
        let statement = try db.cachedStatement(sql: "SELECT sid FROM _sync_replica WHERE rid = ?")
        if let sid = try Int64.fetchOne(statement, arguments: [replica.data]) { return sid }
        try db.execute(
            sql: "INSERT INTO _sync_replica (rid, seen) VALUES (?, ?)",
            arguments: [replica.data, milliseconds])
        let number = db.lastInsertedRowID
        try Capacity.requireRoomForReplicas(db)
        return number
    }

    /// Retires a replica. The first retirement counts, unless somebody asks for one later.
    func retire(
        _ replica: ReplicaID, at milliseconds: Int64, _ reason: ReplicaFacts.Retirement.Reason
    ) throws {
        let sid = try number(of: replica, at: milliseconds)
        let statement = try db.cachedStatement(sql: "SELECT reason FROM _sync_retired WHERE sid = ?")
        let known = try Int64.fetchOne(statement, arguments: [sid])
        guard known == nil || (reason == .requested && known != Int64(reason.rawValue)) else { return }
        // Others refuse what is said by a clock that is beyond all timestamps.
        try db.execute(
            sql: "INSERT OR REPLACE INTO _sync_retired (sid, at, reason) VALUES (?, ?, ?)",
            arguments: [sid, min(milliseconds, AdmissionLimits.millisecondsMax), Int64(reason.rawValue)])
    }
}
