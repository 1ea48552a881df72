import CipherStore
import SyncWire

/// Keeps the values that lost against a write that did not know them.
final class ConflictJournal {
    /// The tables of the journal that version 3 of the metadata adds.
    static let schema = """
        ALTER TABLE _sync_conflict ADD COLUMN life INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE _sync_conflict ADD COLUMN won_hlc INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE _sync_conflict ADD COLUMN resolved INTEGER;
        ALTER TABLE _sync_conflict ADD COLUMN how TEXT;
        CREATE INDEX _sync_conflict_row ON _sync_conflict (tbl, pk, col, hlc);

        """

    private let db: Database
    private let statement: Statement
    private let at: Int64
    /// Tells of what a policy keeps what was lost.
    var separate: SeparateCells?

    init(_ db: Database, at milliseconds: Int64) throws {
        self.db = db
        at = milliseconds
        // A write loses once, however often a peer tells of it. The rest of a row has no write (0), and each life of the
        // row has its own.
        statement = try db.makeStatement(
            sql: """
                INSERT INTO _sync_conflict (at, tbl, pk, col, val, hlc, sid, won, why, life, won_hlc)
                SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
                WHERE NOT EXISTS (
                    SELECT 1 FROM _sync_conflict WHERE tbl = ?2 AND pk = ?3 AND col = ?4 AND hlc = ?6
                      AND sid = ?7 AND val IS ?5 AND typeof(val) = typeof(?5) AND (hlc <> 0 OR life = ?10))
                """)
    }

    /// Adds the conflicts of a row.
    ///
    /// - returns: How many there were that the journal did not have.
    func append(
        _ plan: MergePlan, _ table: Int64, _ key: RowKey, _ versions: VersionTable
    ) throws -> Int64 {
        let raw = statement.sqliteStatement
        var count: Int64 = 0
        for conflict in separate?.told(plan.conflicts, of: table) ?? plan.conflicts {
            statement.reset()
            _ = RawBinding.int64(raw, 1, at)
            _ = RawBinding.int64(raw, 2, table)
            key.value.bind(raw, 3)
            _ = RawBinding.int64(raw, 4, Int64(conflict.column))
            try conflict.lost.bind(to: statement, 5)
            _ = RawBinding.int64(raw, 6, conflict.lostStamp.timestamp.rawValue)
            _ = RawBinding.int64(raw, 7, try versions.number(of: conflict.lostStamp.replica))
            _ = RawBinding.int64(raw, 8, try versions.number(of: conflict.winner.replica))
            _ = RawBinding.string(raw, 9, conflict.reason.rawValue)
            _ = RawBinding.int64(raw, 10, plan.lostLife)
            _ = RawBinding.int64(raw, 11, conflict.winner.timestamp.rawValue)
            while try statement.step() {}
            statement.reset()
            if conflict.reason != .row { count += Int64(db.changesCount) }
        }
        assert((0...Int64(plan.conflicts.count)).contains(count))
        return count
    }

    /// How many conflicts are open.
    static func openCount(_ db: Database, _ metadata: StoreMetadata) throws -> Int64 {
        // A store that no newer program has written to yet has no column for it.
        let condition = metadata.format < 3 ? "" : "WHERE resolved IS NULL AND why <> 'row'"
        return try Int64.fetchOne(db, sql: "SELECT count(*) FROM _sync_conflict \(condition)") ?? 0
    }
}
