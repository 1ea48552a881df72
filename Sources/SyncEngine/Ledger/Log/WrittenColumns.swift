import CipherStore

/// The columns that updates in the tail of the log wrote, as SQL that a fold joins its entries with.
///
/// An entry says by a mask which columns it wrote. To hold each column of the table against each entry takes longer, the
/// more columns the table has, than all the rest of a fold. So the columns of each different mask are looked up once.
/// Nearly always a long tail has few masks of few columns, because a statement that writes many rows writes the same columns
/// of all of them, and these stand in the statement. More of them stand in a temporary table. Making one has SQLite prepare
/// each statement of the connection anew, so a short tail is joined with all columns.
struct WrittenColumns {
    /// How many columns all masks together may have without a table. For each entry all of these are passed.
    private static let columnCountMax = 8

    /// How many masks may do without a table.
    private static let maskCountMax = 16

    /// How many entries make a tail long.
    static let longTailCount = 10_000

    private static let name = "_sync_written"

    /// The join of an entry `l` of the log with what it wrote: `c.col`.
    let join: String

    private let db: Database
    private let hasTable: Bool

    /// - parameters:
    ///     - folded: The last entry that is not looked at.
    ///     - operations: Those that count, without the group of the columns: updates, and maybe rewrites.
    ///     - longTailCount: How many entries make a tail long.
    init(
        _ db: Database, after folded: Int64, _ operations: [Int],
        longTailCount: Int = Self.longTailCount
    ) throws {
        self.db = db
        if let masks = try Self.fewMasks(db, after: folded, operations) {
            hasTable = false
            join = masks.isEmpty ? Self.joinWithNothing : Self.join(masks)
        } else if try Self.hasEntries(db, after: folded, count: longTailCount) {
            hasTable = true
            try Self.makeTable(db, after: folded, operations)
            join = "CROSS JOIN temp.\(Self.name) AS c ON c.tbl = l.tbl AND c.op = l.op AND c.mask = l.mask"
        } else {
            hasTable = false
            join = Self.join(operations)
        }
    }

    /// Ends the use of the join.
    func finish() {
        if hasTable { try? db.execute(sql: "DROP TABLE IF EXISTS temp.\(Self.name)") }
    }

    // MARK: Few masks

    private struct Mask {
        var table: Int64
        var operation: Int64
        var bits: Int64
    }

    /// Which entries `_sync_log` count, as SQL.
    private static func counts(_ operations: [Int]) -> String {
        "op & 15 IN (\(operations.map(String.init).joined(separator: ", ")))"
    }

    /// The different masks of the tail; nil when there are more than can do without a table.
    private static func fewMasks(
        _ db: Database, after folded: Int64, _ operations: [Int]
    ) throws -> [Mask]? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT DISTINCT tbl, op, mask FROM _sync_log WHERE seq > ? AND \(counts(operations))
                LIMIT \(maskCountMax + 1)
                """)
        let rows = try Row.fetchAll(statement, arguments: [folded])
        guard rows.count <= maskCountMax else { return nil }
        var masks: [Mask] = []
        for row in rows {
            // Other programs may write to the log. What is no number is left to SQLite's conversions.
            guard case .int64(let table) = row.databaseValues[0].storage,
                case .int64(let operation) = row.databaseValues[1].storage,
                case .int64(let bits) = row.databaseValues[2].storage
            else { return nil }
            masks.append(Mask(table: table, operation: operation, bits: bits))
        }
        return masks.reduce(0) { $0 + $1.bits.nonzeroBitCount } <= columnCountMax ? masks : nil
    }

    private static let joinWithNothing = "CROSS JOIN (SELECT 0 AS col WHERE 0) AS c"

    /// By the masks. The limit keeps SQLite from turning it into the search of all columns that it replaces.
    private static func join(_ masks: [Mask]) -> String {
        let rows = masks.map { "SELECT \($0.table) AS tbl, \($0.operation) AS op, \($0.bits) AS mask" }
        return """
            CROSS JOIN (
                SELECT m.tbl, m.op, m.mask, n.col FROM (\(rows.joined(separator: " UNION ALL "))) AS m
                \(joinOfColumns) LIMIT -1) AS c
            ON c.tbl = l.tbl AND c.op = l.op AND c.mask = l.mask
            """
    }

    /// The join of a mask `m` with its columns `n`.
    private static let joinOfColumns = """
        CROSS JOIN _sync_column AS n ON n.tbl = m.tbl
            AND m.op >> \(ChangeLog.Operation.groupShift) = n.col / \(ChangeLog.columnsPerGroup)
            AND m.mask >> (n.col % \(ChangeLog.columnsPerGroup)) & 1
        """

    // MARK: Many masks

    private static func hasEntries(_ db: Database, after folded: Int64, count: Int) throws -> Bool {
        try Int.fetchOne(
            db, sql: "SELECT 1 FROM _sync_log WHERE seq > ? LIMIT 1 OFFSET ?",
            arguments: [folded, max(0, count - 1)]) != nil
    }

    private static func makeTable(_ db: Database, after folded: Int64, _ operations: [Int]) throws {
        // The types are those of the log, so that whatever another program wrote there compares as it is.
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS temp.\(name);
                CREATE TEMP TABLE \(name) (
                    tbl INTEGER, op INTEGER, mask INTEGER, col INTEGER, PRIMARY KEY (tbl, op, mask, col)) WITHOUT ROWID;
                INSERT OR IGNORE INTO temp.\(name)
                SELECT m.tbl, m.op, m.mask, n.col
                FROM (SELECT DISTINCT tbl, op, mask FROM _sync_log
                      WHERE seq > \(folded) AND typeof(op) = 'integer' AND \(counts(operations))) AS m
                \(joinOfColumns);
                """)
    }

    // MARK: A short tail

    /// By all columns of the table.
    private static func join(_ operations: [Int]) -> String {
        let group = "((c.col / \(ChangeLog.columnsPerGroup)) << \(ChangeLog.Operation.groupShift))"
        let known = operations.map { "\($0) | \(group)" }.joined(separator: ", ")
        return """
            CROSS JOIN _sync_column AS c
            ON c.tbl = l.tbl AND l.op IN (\(known)) AND l.mask >> (c.col % \(ChangeLog.columnsPerGroup)) & 1
            """
    }
}
