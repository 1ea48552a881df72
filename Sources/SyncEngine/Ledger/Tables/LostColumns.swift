import CipherStore

/// Columns whose values another program took away while their table had no triggers, so that nobody kept them.
///
/// The rows have their versions still, and without a value they count as having none. Where rows are chosen by such a
/// column, that would be said of rows that have a value everywhere else. Values that are written later are here again;
/// those of all the other rows are not, also when the table gets the column back. So a table's note goes with the answer
/// that brings all of its rows again.
enum LostColumns {
    private static func setting(_ table: Int64) -> String { "lost.\(table)" }

    /// The numbers of such columns of a table.
    ///
    /// Any program may write to the metadata. What is no number of a column that the table has, here or elsewhere, names
    /// none, and goes when the note is written again. No more words are read than a table can have columns.
    static func numbers(_ db: Database, of table: Int64) throws -> Set<Int> {
        guard let text = try SyncSetting.text(db, setting(table)) else { return [] }
        let words = text.split(separator: " ", maxSplits: AdmissionLimits.columnCountMax)
        let columns = try Int.fetchSet(
            db, sql: "SELECT col FROM _sync_column WHERE tbl = ?", arguments: [table])
        return columns.intersection(words.compactMap { Int($0) })
    }

    /// Notes that the values of columns are gone.
    static func note(_ db: Database, _ columns: [Int], of table: Int64) throws {
        guard !columns.isEmpty else { return }
        try save(db, numbers(db, of: table).union(columns), of: table)
    }

    private static func save(_ db: Database, _ numbers: Set<Int>, of table: Int64) throws {
        try SyncSetting.set(
            db, setting(table), numbers.sorted().map(String.init).joined(separator: " "))
    }

    /// Lets the note name the column with which one that it names was united.
    static func move(_ db: Database, ofColumn absent: Int, to column: Int, in table: Int64) throws {
        var numbers = try numbers(db, of: table)
        guard numbers.remove(absent) != nil else { return }
        try save(db, numbers.union([column]), of: table)
    }

    /// Forgets it of a table, of which nothing is known any more, or all is here again.
    static func forget(_ db: Database, of table: Int64) throws {
        try SyncSetting.set(db, setting(table), nil as String?)
    }

    // MARK: Rows without their values

    /// Whether a row `r` has its value of a lost column by the write of the whole row, and not here, as SQL.
    static func isMissing(_ column: Int) -> String {
        """
        (NOT EXISTS (SELECT 1 FROM _sync_cell AS c WHERE c.r = r.r AND c.col = \(column))
        AND NOT EXISTS (SELECT 1 FROM _sync_shadow AS s WHERE s.tbl = r.tbl AND s.pk = r.pk AND s.col = \(column)))
        """
    }

    /// The last change of each replica, by its number, that wrote a row or a column of which a value is gone. What is parked
    /// is not gone.
    ///
    /// - parameters:
    ///     - own: The number of this replica.
    ///     - folded: The last of its changes that anybody else can have.
    ///     - replaced: The versions from before the last fold, of which others may have those that a later write hides; nil
    ///       where nothing was folded just before. A row that has begun a new life since needs none of its former values.
    static func lastWrites(
        _ db: Database, of columns: [Int], in table: Int64, own: Int64, upTo folded: Int64,
        replaced: ReplacedVersions? = nil
    ) throws -> [(sid: Int64, sequence: Int64)] {
        let numbers = columns.map(String.init).joined(separator: ", ")
        // One condition for all of them: a chain of a thousand is too deep for SQLite.
        let isAnyGone = """
            EXISTS (SELECT 1 FROM _sync_column AS n WHERE n.tbl = r.tbl AND n.col IN (\(numbers)) AND NOT EXISTS (
                SELECT 1 FROM _sync_shadow AS s WHERE s.tbl = r.tbl AND s.pk = r.pk AND s.col = n.col))
            """
        let hidden = replaced.map { replaced in
            """
            UNION ALL
            SELECT w.sid, w.oseq FROM \(replaced.source) AS w CROSS JOIN _sync_row AS r ON r.r = w.r
            WHERE r.tbl = :table AND r.cl & 1 AND w.col IN (\(numbers)) AND (r.sid <> :own OR r.oseq <= :folded)
              AND NOT EXISTS (
                SELECT 1 FROM _sync_shadow AS s WHERE s.tbl = r.tbl AND s.pk = r.pk AND s.col = w.col)
            """
        }
        return try Row.fetchAll(
            db,
            sql: """
                SELECT sid, max(oseq) FROM (
                    SELECT r.sid AS sid, r.oseq AS oseq FROM _sync_row AS r
                    WHERE r.tbl = :table AND r.cl & 1 AND \(isAnyGone)
                    UNION ALL
                    SELECT w.sid, w.oseq FROM _sync_row AS r CROSS JOIN _sync_cell AS w ON w.r = r.r
                    WHERE r.tbl = :table AND r.cl & 1 AND w.col IN (\(numbers)) AND NOT EXISTS (
                        SELECT 1 FROM _sync_shadow AS s WHERE s.tbl = r.tbl AND s.pk = r.pk AND s.col = w.col)
                    \(hidden ?? ""))
                WHERE sid <> :own OR oseq <= :folded GROUP BY sid
                """, arguments: ["table": table, "own": own, "folded": folded]
        ).map { (sid: try $0.decode(atIndex: 0), sequence: try $0.decode(atIndex: 1)) }
    }
}
