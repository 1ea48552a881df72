import CipherStore

/// The columns that updates in the tail of the log wrote, as SQL that a fold joins its entries with.
///
/// An entry says by a mask which columns it wrote. To hold each column of the table against each entry takes longer, the
/// more columns the table has, than all the rest of a fold. But nearly always a long tail has few different masks of few
/// columns, because a statement that writes many rows writes the same columns of all of them. So their columns are looked
/// up once.
struct WrittenColumns {
    /// How many columns all masks together may have. For each entry all of these are passed.
    static let columnCountMax = 8

    /// How many masks are looked at, those of other operations included.
    private static let maskCountMax = 16

    /// The join of an entry `l` of the log with what it wrote: `c.col`.
    let join: String

    /// - parameters:
    ///     - folded: The last entry that is not looked at.
    ///     - operations: Those that count, without the group of the columns: updates, and maybe rewrites.
    init(_ db: Database, after folded: Int64, _ operations: [Int]) throws {
        join =
            if let masks = try Self.fewMasks(db, after: folded, operations) {
                Self.join(masks)
            } else {
                Self.join(operations)
            }
    }

    private struct Mask {
        var table: Int64
        var operation: Int64
        var bits: Int64
    }

    /// The different masks of the tail; nil when there are none, or more than are worth it.
    private static func fewMasks(
        _ db: Database, after folded: Int64, _ operations: [Int]
    ) throws -> [Mask]? {
        let statement = try db.cachedStatement(
            sql: "SELECT DISTINCT tbl, op, mask FROM _sync_log WHERE seq > ? LIMIT \(maskCountMax + 1)")
        let rows = try Row.fetchAll(statement, arguments: [folded])
        guard rows.count <= maskCountMax else { return nil }
        var masks: [Mask] = []
        for row in rows {
            // Other programs may write to the log. What is no number is left to SQLite's conversions.
            guard case .int64(let table) = row.databaseValues[0].storage,
                case .int64(let operation) = row.databaseValues[1].storage,
                case .int64(let bits) = row.databaseValues[2].storage
            else { return nil }
            if operations.contains(Int(operation & 15)) {
                masks.append(Mask(table: table, operation: operation, bits: bits))
            }
        }
        let columnCount = masks.reduce(0) { $0 + $1.bits.nonzeroBitCount }
        return (1...columnCountMax).contains(columnCount) ? masks : nil
    }

    /// By the masks. The limit keeps SQLite from turning it into the search of all columns that it replaces.
    private static func join(_ masks: [Mask]) -> String {
        let rows = masks.map { "SELECT \($0.table) AS tbl, \($0.operation) AS op, \($0.bits) AS mask" }
        return """
            CROSS JOIN (
                SELECT m.tbl, m.op, m.mask, n.col FROM (\(rows.joined(separator: " UNION ALL "))) AS m
                CROSS JOIN _sync_column AS n ON n.tbl = m.tbl
                    AND m.op >> \(ChangeLog.Operation.groupShift) = n.col / \(ChangeLog.columnsPerGroup)
                    AND m.mask >> (n.col % \(ChangeLog.columnsPerGroup)) & 1
                LIMIT -1) AS c
            ON c.tbl = l.tbl AND c.op = l.op AND c.mask = l.mask
            """
    }

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
