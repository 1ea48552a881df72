import CipherStore
import SyncWire

/// Values as their authors wrote them, where a column here made others of them.
///
/// Replicas may declare a column with different types: "5" is 5 in an INTEGER column. What is sent on under the
/// author's stamp has to be what the author wrote, or two replicas would hold two values of one write and never know.
/// An entry counts for as long as the write that it belongs to is the last one of its column, so a local edit, a merge
/// or a deletion ends it without knowing of it.
final class OriginalValues {
    /// The table of the metadata.
    static let schema = """
        CREATE TABLE _sync_original (
            r INTEGER NOT NULL,
            col INTEGER NOT NULL,
            hlc INTEGER NOT NULL,
            sid INTEGER NOT NULL,
            val,
            PRIMARY KEY (r, col)
        ) WITHOUT ROWID;

        """

    /// Whether the write of an entry o of a row r is the last one of its column c.
    private static let isValid = "o.hlc = coalesce(c.hlc, r.hlc) AND o.sid = coalesce(c.sid, r.sid)"

    private let db: Database
    private let table: Int64
    private let selection: Statement
    private let recording: Statement

    /// Whether there are any, of any table.
    private(set) var isInUse: Bool

    init(_ db: Database, table: Int64) throws {
        self.db = db
        self.table = table
        isInUse = try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_original)") ?? false
        selection = try db.makeStatement(
            sql: """
                SELECT o.col, o.val FROM _sync_row AS r CROSS JOIN _sync_original AS o ON o.r = r.r
                LEFT JOIN _sync_cell AS c ON c.r = o.r AND c.col = o.col
                WHERE r.tbl = ?1 AND r.pk = ?2 AND r.cl & 1 AND \(Self.isValid)
                """)
        recording = try db.makeStatement(
            sql: """
                INSERT OR REPLACE INTO _sync_original (r, col, hlc, sid, val)
                SELECT r.r, ?3, coalesce(c.hlc, r.hlc), coalesce(c.sid, r.sid), ?4
                FROM _sync_row AS r LEFT JOIN _sync_cell AS c ON c.r = r.r AND c.col = ?3
                WHERE r.tbl = ?1 AND r.pk = ?2
                """)
    }

    /// The originals of a row, by column.
    func values(_ key: RowKey) throws -> [Int: OwnedValue] {
        guard isInUse else { return [:] }
        let raw = bind(selection, key)
        defer { selection.reset() }
        var values: [Int: OwnedValue] = [:]
        while try selection.step() {
            values[Int(RawColumn.int64(raw, 0))] = OwnedValue(copying: WireValue(raw, 1))
        }
        return values
    }

    /// Keeps the value of the last write of a column, once its version is there.
    func record(_ value: WireValue, column: Int, _ key: RowKey) throws {
        isInUse = true
        let raw = bind(recording, key)
        defer { recording.reset() }
        _ = RawBinding.int64(raw, 3, Int64(column))
        try value.bind(to: recording, 4)
        while try recording.step() {}
    }

    private func bind(_ statement: Statement, _ key: RowKey) -> SQLiteStatement {
        statement.reset()
        let raw = statement.sqliteStatement
        _ = RawBinding.int64(raw, 1, table)
        key.value.bind(raw, 2)
        return raw
    }

    /// Forgets the entries of a row, by the number of its version.
    static func remove(_ db: Database, row: Int64) throws {
        try db.runCached("DELETE FROM main._sync_original WHERE r = ?", version: row)
    }

    /// Forgets entries that count no longer. Each looks for its write: SQLite has no index for a list of pairs that it is not in.
    static func removeStale(_ db: Database) throws {
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_original)") == true else {
            return
        }
        try db.execute(
            sql: """
                DELETE FROM _sync_original WHERE NOT EXISTS (
                    SELECT 1 FROM _sync_row AS r LEFT JOIN _sync_cell AS c ON c.r = r.r AND c.col = _sync_original.col
                    WHERE r.r = _sync_original.r AND r.cl & 1
                      AND _sync_original.hlc = coalesce(c.hlc, r.hlc) AND _sync_original.sid = coalesce(c.sid, r.sid))
                """)
    }

    /// Lets entries follow the versions of their columns, after all of these changed that count.
    ///
    /// - precondition: Before that, nothing was stale.
    static func followVersions(_ db: Database) throws {
        func current(_ name: String) -> String {
            """
            coalesce((SELECT c.\(name) FROM _sync_cell AS c WHERE c.r = _sync_original.r AND c.col = _sync_original.col),
                (SELECT r.\(name) FROM _sync_row AS r WHERE r.r = _sync_original.r))
            """
        }
        try db.execute(sql: "UPDATE _sync_original SET hlc = \(current("hlc")), sid = \(current("sid"))")
    }

    /// What there is of each column.
    static func counts(_ db: Database) throws -> [(table: Int64, column: Int, type: String, count: Int64)] {
        guard try db.tableExists("_sync_original") else { return [] }
        return try Row.fetchAll(
            db,
            sql: """
                SELECT r.tbl, o.col, typeof(o.val), count(*)
                FROM _sync_original AS o CROSS JOIN _sync_row AS r ON r.r = o.r AND r.cl & 1
                LEFT JOIN _sync_cell AS c ON c.r = o.r AND c.col = o.col WHERE \(isValid)
                GROUP BY r.tbl, o.col, typeof(o.val) ORDER BY r.tbl, o.col, typeof(o.val)
                """
        ).map {
            (
                try $0.decode(atIndex: 0), try $0.decode(atIndex: 1), try $0.decode(atIndex: 2),
                try $0.decode(atIndex: 3)
            )
        }
    }
}
