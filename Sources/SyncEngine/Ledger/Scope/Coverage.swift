import CipherStore
import SyncWire

/// What is known here: of all tables, and beyond that of some.
///
/// A change of a table is known when the vector of all tables covers it, or that of its table.
/// So each table is replicated as a database of its own is: with a vector, and a floor. The
/// vector of all tables stands for every table that has none of its own.
struct Coverage {
    /// What is known of a table.
    struct Part: Hashable {
        /// The changes that are known, those that are known of all tables among them.
        var known: VersionVector
        /// The changes among which deletions are forgotten, likewise.
        var floor: VersionVector

        /// Notes how far a replica's changes are known, and how far deletions among them are forgotten.
        mutating func raise(_ replica: ReplicaID, known: Int64, floor: Int64) {
            self.known[replica] = max(self.known[replica], known)
            self.floor[replica] = max(self.floor[replica], floor)
        }
    }

    /// Only what goes beyond `_sync_replica.oseq` or `_sync_floor.oseq` is here.
    static let schema = """
        CREATE TABLE _sync_coverage (
            tbl INTEGER NOT NULL,
            sid INTEGER NOT NULL,
            oseq INTEGER NOT NULL,
            floor INTEGER NOT NULL,
            PRIMARY KEY (tbl, sid)
        ) WITHOUT ROWID;

        """

    /// What is known of all tables.
    let whole: Part
    /// The tables of which more is known, by number.
    let parts: [Int64: Part]
    /// The tables of which some rows only are held. What is known of all tables says nothing of them.
    let partials: [Int64: PartialTable]

    /// What is known of a table: of one that is held in part, of the rows that are here.
    subscript(table: Int64) -> Part {
        if let partial = partials[table] { return Part(known: partial.known, floor: whole.floor) }
        return parts[table] ?? whole
    }

    /// The last change of each replica of which anything is known.
    var reach: VersionVector {
        let reach = parts.values.reduce(into: whole.known) { $0.join($1.known) }
        return partials.values.reduce(into: reach) { $0.join($1.known) }
    }

    /// Reads what is known.
    static func load(_ db: Database, _ metadata: StoreMetadata) throws -> Coverage {
        let whole = Part(
            known: metadata.vector, floor: try ReplicaRegister(db: db).floor(metadata))
        let rows = try Row.fetchAll(db, sql: "SELECT tbl, sid, oseq, floor FROM _sync_coverage")
        let partials = try PartialTable.loadAll(db, metadata)
        guard !rows.isEmpty else { return Coverage(whole: whole, parts: [:], partials: partials) }
        let names = Dictionary(
            metadata.replicas.map { ($0.sid, $0.id) }, uniquingKeysWith: { first, _ in first })
        var parts: [Int64: Part] = [:]
        for row in rows {
            guard let replica = names[try row.decode(atIndex: 1)] else { continue }
            let (known, floor): (Int64, Int64) = (try row.decode(atIndex: 2), try row.decode(atIndex: 3))
            // In place: a copy of the vectors for each replica takes the square of their number.
            parts[try row.decode(atIndex: 0), default: whole].raise(replica, known: known, floor: floor)
        }
        let coverage = Coverage(
            whole: whole, parts: parts.filter { partials[$0.key] == nil }, partials: partials)
        coverage.assertInvariants()
        return coverage
    }

    /// Checks what holds of the parts, whatever the tables say.
    private func assertInvariants() {
        whole.known.assertInvariants()
        assert(parts.keys.allSatisfy { partials[$0] == nil }, "a table is held as a whole, or in part")
        assert(
            parts.values.allSatisfy { $0.known.covers(whole.known) }, "less is known of a table than of all")
        assert(
            parts.values.allSatisfy { $0.floor.covers(whole.floor) }, "a floor is below that of all tables")
        assert(reach.covers(whole.known))
    }

    /// Notes that more is known of a table, or forgotten. The replicas have numbers.
    static func raise(_ db: Database, _ table: Int64, to part: Part) throws {
        let metadata = try StoreMetadata.require(db)
        try load(db, metadata).raise(db, [(table, part)], metadata)
    }

    /// Notes the same of any number of tables, of which so much was known before. The replicas have numbers.
    func raise(
        _ db: Database, _ raised: [(table: Int64, part: Part)], _ metadata: StoreMetadata
    ) throws {
        for (table, part) in raised {
            let present = self[table]
            for replica in metadata.replicas {
                let (known, floor) = (part.known[replica.id], part.floor[replica.id])
                guard known > present.known[replica.id] || floor > present.floor[replica.id] else { continue }
                // A table that is named twice keeps what it got first.
                try db.execute(
                    sql: """
                        INSERT OR REPLACE INTO _sync_coverage (tbl, sid, oseq, floor)
                        SELECT ?1, ?2, max(?3, coalesce(max(oseq), 0)), max(?4, coalesce(max(floor), 0))
                        FROM _sync_coverage WHERE tbl = ?1 AND sid = ?2
                        """,
                    arguments: [
                        table, replica.sid, max(known, present.known[replica.id]),
                        max(floor, present.floor[replica.id]),
                    ])
            }
        }
        try debugAssert(Self.areKnown(db, raised), "a replica has changes here and no number")
    }

    private static func areKnown(_ db: Database, _ raised: [(table: Int64, part: Part)]) throws -> Bool {
        let coverage = try load(db, StoreMetadata.require(db))
        return raised.allSatisfy { coverage[$0.table].known.covers($0.part.known) }
    }

    /// Notes that the changes of a replica after one of them are no longer known, and are not below a floor.
    static func setBack(_ db: Database, _ sid: Int64, to common: Int64) throws {
        try db.execute(
            sql: "UPDATE _sync_coverage SET oseq = min(oseq, ?1), floor = min(floor, ?1) WHERE sid = ?2",
            arguments: [common, sid])
    }

    /// Forgets what is known of a table beyond what is known of all. Of one whose rows are chosen,
    /// ``PartialTable`` says what is known.
    static func remove(_ db: Database, ofTable table: Int64) throws {
        try db.execute(sql: "DELETE FROM _sync_coverage WHERE tbl = ?", arguments: [table])
    }

    /// Forgets what is known of tables beyond what is known of all.
    ///
    /// - parameter tables: A query that selects their numbers.
    static func removeAll(_ db: Database, ofTables tables: String) throws {
        try db.execute(sql: "DELETE FROM main._sync_coverage WHERE tbl IN (\(tables))")
    }

    /// Forgets numbers of changes that no replica reaches.
    ///
    /// - returns: How many there were.
    static func removeImplausible(_ db: Database) throws -> Int64 {
        try db.execute(sql: "DELETE FROM main.\(ImplausibleMetadata.beyond("_sync_coverage"))")
        return Int64(db.changesCount)
    }

    /// Removes what is known of all tables by now.
    static func normalize(_ db: Database) throws {
        try db.execute(
            sql: """
                DELETE FROM _sync_coverage
                WHERE oseq <= (SELECT p.oseq FROM _sync_replica AS p WHERE p.sid = _sync_coverage.sid)
                  AND floor <= coalesce((SELECT f.oseq FROM _sync_floor AS f WHERE f.sid = _sync_coverage.sid), 0)
                """)
    }

    /// The entries of vectors that a header needs to say what is known of single tables.
    private var entryCount: Int {
        Set(parts.values).reduce(0) { $0 + $1.known.sequences.count + $1.floor.sequences.count }
    }

    /// Throws when there are more of them than a store keeps, and more than before.
    ///
    /// - throws: ``SyncError`` of code `capacityExceeded`.
    static func requireRoom(_ db: Database, before: Coverage?) throws {
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_coverage)") == true else {
            return
        }
        let count = try load(db, StoreMetadata.require(db)).entryCount
        guard count > AdmissionLimits.coverageEntryCountMax, count > before?.entryCount ?? 0 else { return }
        throw SyncError(
            .capacityExceeded,
            """
            of single tables, over \(AdmissionLimits.coverageEntryCountMax) numbers of changes would be known here, which \
            is the most that a store keeps; synchronize all tables with those that have them
            """)
    }

    /// What a greeting says of tables that are held in part.
    func partialFacts(_ db: Database) throws -> [ReplicaFacts.Partial] {
        guard !partials.isEmpty else { return [] }
        let aliases = try NameAliases(db)
        return try SyncedTable.loadAll(db).compactMap { table in
            guard let partial = partials[table.number] else { return nil }
            var facts = ReplicaFacts.Partial(
                names: [table.name] + aliases.names(ofTable: table.number), since: partial.since,
                own: partial.own, dropped: partial.dropped)
            facts.isWhole = partial.isWhole
            facts.isDue = try partial.isDue || partial.hasMovedRows(db)
            facts.wantsEverything = partial.wantsEverything
            return facts
        }
    }

    /// What a greeting says of single tables: those of which the same is known are one part.
    func facts(_ db: Database) throws -> [ReplicaFacts.Part] {
        guard !parts.isEmpty else { return [] }
        let aliases = try NameAliases(db)
        var groups: [Part: [[String]]] = [:]
        for table in try SyncedTable.loadAll(db) {
            guard let part = parts[table.number] else { continue }
            groups[part, default: []].append([table.name] + aliases.names(ofTable: table.number))
        }
        return groups.map {
            ReplicaFacts.Part(tables: $0.value, target: $0.key.known, floor: $0.key.floor)
        }.sorted { ($0.tables.first?.first ?? "") < ($1.tables.first?.first ?? "") }
    }
}
