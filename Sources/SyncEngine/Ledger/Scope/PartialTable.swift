import CipherStore
import SyncWire

/// A table of which this replica holds some rows only: those whose scope column has one of some values.
///
/// What is known of it is kept apart from what is known of all tables, which then means all others.
/// `since` says: the rows here are those of the merge of all changes up to there whose value is among
/// the held ones, and this replica's own changes. So it may be exchanged only with a replica that
/// knows all of `since` but own changes itself, and with one that holds all rows.
struct PartialTable {
    /// Where no other table can be told apart from a value, `val` has no key.
    static let schema = """
        CREATE TABLE _sync_partial (
            tbl INTEGER PRIMARY KEY,
            col INTEGER NOT NULL,
            remote TEXT NOT NULL,
            whole INTEGER NOT NULL,
            everything INTEGER NOT NULL,
            swept INTEGER NOT NULL,
            revision INTEGER NOT NULL
        );
        CREATE TABLE _sync_partial_value (
            tbl INTEGER NOT NULL,
            val,
            wanted INTEGER NOT NULL,
            held INTEGER NOT NULL
        );
        CREATE TABLE _sync_partial_known (
            tbl INTEGER NOT NULL,
            sid INTEGER NOT NULL,
            oseq INTEGER NOT NULL,
            seen INTEGER NOT NULL,
            own INTEGER NOT NULL,
            dropped INTEGER NOT NULL,
            PRIMARY KEY (tbl, sid)
        ) WITHOUT ROWID;
        CREATE TABLE _sync_left (
            tbl INTEGER NOT NULL,
            pk NOT NULL,
            PRIMARY KEY (tbl, pk)
        ) WITHOUT ROWID;

        """

    /// The table's number.
    let number: Int64
    /// The scope column's number.
    let column: Int
    /// The remote that the choice was made for.
    let remote: String
    /// Whether all rows are still here that were when the choice was made.
    let isWhole: Bool
    /// Whether all rows are wanted again.
    let wantsEverything: Bool
    /// The end of the log when nothing was left to take out; 0 when there may be something.
    let swept: Int64
    /// Rises with each change of what is asked for.
    let revision: Int64
    /// The values that are wanted.
    let wanted: Set<ScopeValue>
    /// The values of which the rows are here.
    let held: Set<ScopeValue>
    /// Whether rows wait here that left the wanted ones, because they have changes of this replica.
    let hasLeftRows: Bool
    /// The changes that the rows here take into account, but for own ones that came later.
    let since: VersionVector
    /// The changes that the rows here show. It lags behind while rows wait that left: their new
    /// values were never here, and what replaces these did not know them.
    let seen: VersionVector
    /// The changes of this replica, and those of the identities that its file had before.
    let own: VersionVector
    /// The last of them in rows that were taken out.
    let dropped: VersionVector

    /// The changes that are known, of the rows that are here.
    var known: VersionVector {
        var known = since
        known.join(own)
        return known
    }

    /// What a receiver of own changes knows afterwards, that knew `since` before.
    var shown: VersionVector {
        var shown = seen
        shown.join(own)
        return shown
    }

    /// Whether a replica that knows something of the table can be asked for it, and be sent own changes.
    func isDominated(by known: VersionVector) -> Bool {
        known.covers(ReplicaFacts.Partial(names: [], since: since, own: own, dropped: dropped).needed)
    }

    /// Whether rows are missing that are wanted, or wait for somebody to say where they belong.
    var isDue: Bool { wantsEverything || hasLeftRows || !wanted.isSubset(of: held) }

    // MARK: Reading

    static func loadAll(_ db: Database, _ metadata: StoreMetadata) throws -> [Int64: PartialTable] {
        // A store of an older program that nobody has written to yet.
        guard metadata.format == MetadataSchema.version else { return [:] }
        let rows = try Row.fetchAll(
            db,
            sql: "SELECT tbl, col, remote, whole, everything, swept, revision FROM _sync_partial ORDER BY tbl"
        )
        guard !rows.isEmpty else { return [:] }
        let names = Dictionary(
            metadata.replicas.map { ($0.sid, $0.id) }, uniquingKeysWith: { first, _ in first })
        var tables: [Int64: PartialTable] = [:]
        for row in rows {
            let table = try PartialTable(db, row, metadata, names)
            tables[table.number] = table
        }
        return tables
    }

    private init(_ db: Database, _ row: Row, _ metadata: StoreMetadata, _ names: [Int64: ReplicaID]) throws {
        let number: Int64 = try row.decode(atIndex: 0)
        self.number = number
        column = try row.decode(atIndex: 1)
        remote = try row.decode(atIndex: 2)
        isWhole = try row.decode(Int64.self, atIndex: 3) != 0
        wantsEverything = try row.decode(Int64.self, atIndex: 4) != 0
        swept = try row.decode(atIndex: 5)
        revision = try row.decode(atIndex: 6)
        var wanted: Set<ScopeValue> = []
        var held: Set<ScopeValue> = []
        for row in try Row.fetchAll(
            db, sql: "SELECT val, wanted, held FROM _sync_partial_value WHERE tbl = ?", arguments: [number])
        {
            guard let value = ScopeValue(try row.decode(DatabaseValue.self, atIndex: 0)) else {
                throw SyncError(.damagedMetadata, "a scope has a value of no use")
            }
            if try row.decode(Int64.self, atIndex: 1) != 0 { wanted.insert(value) }
            if try row.decode(Int64.self, atIndex: 2) != 0 { held.insert(value) }
        }
        self.wanted = wanted
        self.held = held
        hasLeftRows =
            try Bool.fetchOne(
                db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_left WHERE tbl = ?)", arguments: [number])
            == true
        var vectors = Array(repeating: VersionVector(), count: 4)
        for row in try Row.fetchAll(
            db, sql: "SELECT sid, oseq, seen, own, dropped FROM _sync_partial_known WHERE tbl = ?",
            arguments: [number])
        {
            guard let replica = names[try row.decode(atIndex: 0)] else { continue }
            for index in 0..<4 { vectors[index][replica] = try row.decode(atIndex: index + 1) }
        }
        let replica = try metadata.replicaID()
        vectors[2][replica] = metadata.vector[replica]
        (since, seen, own, dropped) = (vectors[0], vectors[1], vectors[2], vectors[3])
    }

    /// Whether rows were moved here, by changes that no answer has taken into account. Such a row may have
    /// been outside, where nothing new of it came, so it has to come whole.
    func hasMovedRows(_ db: Database) throws -> Bool {
        for replica in try StoreMetadata.require(db).replicas
        where own[replica.id] > since[replica.id] {
            let isMoved = try Bool.fetchOne(
                db,
                sql: """
                    SELECT EXISTS(
                        SELECT 1 FROM _sync_cell AS c CROSS JOIN _sync_row AS s ON s.r = c.r
                        WHERE c.sid = ?1 AND c.oseq > ?2 AND c.col = ?3 AND s.tbl = ?4)
                    """, arguments: [replica.sid, since[replica.id], column, number])
            if isMoved == true { return true }
        }
        return false
    }

    /// Whether a row left the wanted ones, and waits here.
    func hasLeft(_ db: Database, _ key: RowKey) throws -> Bool {
        guard hasLeftRows else { return false }
        let statement = try db.cachedStatement(sql: "SELECT 1 FROM _sync_left WHERE tbl = ? AND pk = ?")
        statement.reset()
        defer { statement.reset() }
        _ = RawBinding.int64(statement.sqliteStatement, 1, number)
        key.value.bind(statement.sqliteStatement, 2)
        return try statement.step()
    }
}
