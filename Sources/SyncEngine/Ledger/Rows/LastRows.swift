import CipherStore
import SyncWire

/// The last values of rows that were deleted, for as long as somebody may send an edit that did not know the deletion.
///
/// A peer sends the columns that it changed, and the deletion took the others: without them the row could not be
/// restored as a whole. The triggers keep what a program deletes (see ``CaptureTriggers``), and the application of
/// bundles keeps what peers deleted.
final class LastRows {
    /// Values are text, so that a trigger keeps a row by one insertion: see ``encoding(_:)``.
    ///
    /// The table has rowids, although its key is another one: entries are long, and come in another order than that of
    /// their keys. They are appended so, and only the short entries of the index go all over the file.
    static let schema = "\(definition);\n\n"
    /// The table as it was before 28 November 2026.
    static let formerSchema = "\(definition) WITHOUT ROWID;\n\n"

    private static let definition = """
        CREATE TABLE _sync_last (
            r INTEGER NOT NULL,
            life INTEGER NOT NULL,
            part INTEGER NOT NULL,
            at INTEGER NOT NULL,
            size INTEGER NOT NULL,
            vals TEXT NOT NULL,
            PRIMARY KEY (r, life, part)
        )
        """

    /// How long a row is kept, how many parts of rows, and how much of them.
    private static let (ageMax, countMax, sizeMax): (Int64, Int64, Int64) = (
        90 * 24 * 3600 * 1000, 10_000, 64 << 20
    )
    /// Entries of the log after these, since the last fold, keep nothing.
    static let logCountMax = 50_000
    /// A part of a row that is larger than that is not kept.
    static let partSizeMax: Int64 = 1 << 20
    /// The part with the bases and shares of counters, which stand in the place of what the counters show.
    static let separatePart = -1

    /// Makes the table where a program of this version, but from before it, made the store, and makes it anew where it
    /// has no rowids. The next refresh makes the triggers anew then, because the schema was changed.
    static func bringUpToDate(_ db: Database) throws {
        let isFormer = try Bool.fetchOne(
            db, sql: "SELECT sql LIKE '% WITHOUT ROWID' FROM main.sqlite_master WHERE name = '_sync_last'")
        guard let isFormer else { return try db.execute(sql: schema) }
        guard isFormer else { return }
        let columns = "r, life, part, at, size, vals"
        // SQLite 3.26 and later would write another name into the triggers, were the table renamed.
        try db.execute(
            sql: """
                CREATE TEMP TABLE _sync_last_moved AS SELECT \(columns) FROM main._sync_last ORDER BY at;
                DROP TABLE main._sync_last;
                \(schema)
                INSERT INTO main._sync_last (\(columns)) SELECT \(columns) FROM temp._sync_last_moved;
                DROP TABLE temp._sync_last_moved;
                """)
    }

    private let db: Database
    /// Whether rows were kept since this object was made, so that there may be too many.
    private(set) var hasKept = false

    init(_ db: Database) { self.db = db }

    /// A value as text without commas, in SQL.
    static func encoding(_ value: String) -> String {
        "CASE typeof(\(value)) WHEN 'text' THEN 't' || hex(\(value)) ELSE quote(\(value)) END"
    }

    // MARK: Keeping

    /// The statement by which a trigger keeps a row, if others know it. Of two deletions between two folds the first one
    /// counts.
    ///
    /// `LIMIT` keeps SQLite from computing the size twice. The values are computed of rows only that are kept.
    ///
    /// - parameters:
    ///     - conflictClause: What the insertion does when a constraint fails, as SQL; empty for what the outer statement says.
    ///     - key: The key of the row, as SQL.
    ///     - part: The number of the part of the row.
    ///     - isFirst: Whether nothing was inserted since the entry of the log that tells the deletion.
    ///     - milliseconds: The time, as SQL.
    ///     - size: How many bytes the part has, as SQL.
    ///     - values: The values of the part, each behind its number and in its ``encoding(_:)``, as SQL.
    static func keepingStatement(
        _ conflictClause: String, _ table: Int64, key: String, part: Int, isFirst: Bool,
        at milliseconds: String, size: String, values: String
    ) -> String {
        // A part that was kept has a rowid, too.
        let entry = isFirst ? "last_insert_rowid()" : ChangeLog.lastNumber
        return """
            INSERT\(conflictClause) INTO _sync_last (r, life, part, at, size, vals)
            SELECT d.r, d.life, \(part), \(milliseconds), d.size, \(values)
            FROM (SELECT r.r, r.cl AS life, \(size) AS size FROM _sync_row AS r
                WHERE \(entry) - (SELECT folded FROM _sync_state) <= \(logCountMax)
                AND r.tbl = \(table) AND r.pk = +\(key) AND r.cl & 1 LIMIT 1) AS d
            WHERE d.size <= \(partSizeMax)
            AND NOT EXISTS (SELECT 1 FROM _sync_last AS l WHERE l.r = d.r AND l.life = d.life AND l.part = \(part));
            """
    }

    /// A trigger of deletions as programs made it on 28 November 2026, which took the number of the part before for that
    /// of the entry.
    static func formerTrigger(_ trigger: String) -> String {
        trigger.replacing(ChangeLog.lastNumber, with: "last_insert_rowid()")
    }

    /// Keeps a row that a peer deleted.
    func keep(_ values: [Int: WireValue], row: Int64, life: Int64, at milliseconds: Int64) throws {
        assert(life & 1 == 1, "a row that is gone has no values")
        hasKept = true
        var texts: [String] = []
        var size: Int64 = 0
        let statement = try db.cachedStatement(sql: "SELECT \(Self.encoding("?1"))")
        defer { statement.reset() }
        for (column, value) in values.sorted(by: { $0.key < $1.key }) {
            if case .text(let bytes) = value { size += Int64(bytes.count) }
            if case .blob(let bytes) = value { size += Int64(bytes.count) }
            guard size <= Self.partSizeMax else { return }
            statement.reset()
            value.bind(statement.sqliteStatement, 1)
            guard try statement.step() else { continue }
            let text = String(decoding: RawColumn.text(statement.sqliteStatement, 0), as: UTF8.self)
            texts.append("\(column)=\(text)")
        }
        try db.execute(
            sql:
                "INSERT OR REPLACE INTO _sync_last (r, life, part, at, size, vals) VALUES (?, ?, 0, ?, ?, ?)",
            arguments: [row, life, milliseconds, size, texts.joined(separator: ",")])
    }

    /// Keeps the bases and shares of rows whose life ends with a fold, unless they are too large: peers send any.
    func keepSeparate(at milliseconds: Int64) throws {
        func size(_ row: String) -> String { "total(length(CAST(\(row).val AS BLOB)))" }
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO _sync_last (r, life, part, at, size, vals)
                SELECT f.r, f.cl, \(Self.separatePart), \(milliseconds), \(size("p")),
                    group_concat(p.col || '=' || \(Self.encoding("p.val")), ',')
                FROM temp._sync_fold AS f JOIN _sync_part AS p ON p.r = f.r
                WHERE f.turns > 0 AND f.cl & 1
                    AND (SELECT \(size("q")) FROM _sync_part AS q WHERE q.r = f.r) <= \(Self.partSizeMax)
                GROUP BY f.r, f.cl
                """)
    }

    // MARK: Reading

    /// The values of a row in one of its lives, by column; empty when they were not kept.
    ///
    /// - parameter separate: The columns of its table whose values policies keep.
    func values(row: Int64, life: Int64, _ separate: SeparateColumns?) throws -> [Int: OwnedValue] {
        let parts = try Row.fetchAll(
            db, sql: "SELECT part, vals FROM _sync_last WHERE r = ? AND life = ? ORDER BY part DESC",
            arguments: [row, life])
        var values: [Int: OwnedValue] = [:]
        for part in parts {
            let (number, text): (Int, String) = (try part.decode(atIndex: 0), try part.decode(atIndex: 1))
            if number == Self.separatePart { Self.removeCounters(of: text, separate, from: &values) }
            for entry in text.split(separator: ",") {
                guard let equals = entry.firstIndex(of: "="), let column = Int(entry[..<equals]) else {
                    throw damaged
                }
                values[column] = try value(entry[entry.index(after: equals)...])
            }
        }
        return values
    }

    private func value(_ text: Substring) throws -> OwnedValue {
        if text == "NULL" { return OwnedValue(copying: .null) }
        if text.first == "t" { return try copy(hex: text.dropFirst(), as: "CAST(?1 AS TEXT)") }
        if text.hasPrefix("X'") { return try copy(hex: text.dropFirst(2).dropLast(), as: "?1") }
        if let number = Int64(text) { return OwnedValue(copying: .integer(number)) }
        guard let number = Double(String(text)) else { throw damaged }
        return OwnedValue(copying: .real(number))
    }

    /// SQLite makes text of the bytes, which are in the encoding of the database.
    private func copy(hex: Substring, as sql: String) throws -> OwnedValue {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(hex.utf8.count / 2)
        var high: UInt8?
        for digit in hex.utf8 {
            guard let number = Character(Unicode.Scalar(digit)).hexDigitValue else { throw damaged }
            guard let first = high else {
                high = UInt8(number)
                continue
            }
            bytes.append(first << 4 | UInt8(number))
            high = nil
        }
        let statement = try db.cachedStatement(sql: "SELECT \(sql)")
        statement.reset()
        defer { statement.reset() }
        return try bytes.withUnsafeBytes { bytes in
            WireValue.blob(bytes).bind(statement.sqliteStatement, 1)
            guard try statement.step() else { throw damaged }
            return OwnedValue(copying: WireValue(statement.sqliteStatement, 0))
        }
    }

    private var damaged: SyncError {
        SyncError(.damagedMetadata, "an entry of _sync_last is none that the triggers make")
    }

    // MARK: Completing

    /// A plan that discards an edit of a life that ended here, with the rest of the row beside what was edited.
    ///
    /// - parameters:
    ///     - own: This replica, which stands for the unknown writers of the rest.
    ///     - owned: Keeps the values.
    func complete(
        _ plan: MergePlan, row: Int64, _ table: Int64, _ key: RowKey, own: ReplicaID,
        _ separate: SeparateColumns?, _ owned: inout [OwnedValue]
    ) throws -> MergePlan {
        assert(plan.lostLife < plan.life && plan.action == .keep, "the edit is of a life that goes on")
        let values = try values(row: row, life: plan.lostLife, separate)
        guard !values.isEmpty, let winner = plan.conflicts.first?.winner else { return plan }
        var known = Set(plan.conflicts.map(\.column))
        known.formUnion(try journaled(table, key, plan.lostLife))
        let stamp = Stamp(timestamp: HybridTimestamp(rawValue: 0), replica: own, sequence: 0)
        var plan = plan
        for (column, value) in values where !known.contains(column) {
            owned.append(value)
            plan.conflicts.append(
                .init(column: column, lost: value.value, lostStamp: stamp, winner: winner, reason: .row))
        }
        plan.conflicts.sort { $0.column < $1.column }
        assert(plan.hasOrderedConflicts, "a column was lost twice")
        return plan
    }

    /// The columns of which the journal has a value of a life of a row.
    private func journaled(_ table: Int64, _ key: RowKey, _ life: Int64) throws -> [Int] {
        let statement = try db.cachedStatement(
            sql: "SELECT col FROM _sync_conflict WHERE tbl = ? AND pk = ? AND life = ?")
        statement.reset()
        defer { statement.reset() }
        let raw = statement.sqliteStatement
        _ = RawBinding.int64(raw, 1, table)
        key.value.bind(raw, 2)
        _ = RawBinding.int64(raw, 3, life)
        var columns: [Int] = []
        while try statement.step() { columns.append(Int(RawColumn.int64(raw, 0))) }
        return columns
    }

    // MARK: Forgetting

    /// Forgets what is kept of a row, by the number of its version.
    static func remove(_ db: Database, row: Int64) throws {
        try db.runCached("DELETE FROM main._sync_last WHERE r = ?", version: row)
    }

    /// Forgets rows that no tombstone stands for any more: their numbers can be given again.
    static func removeStrays(_ db: Database) throws {
        try db.execute(sql: "DELETE FROM _sync_last WHERE r NOT IN (SELECT r FROM _sync_row)")
    }

    /// Forgets what is beyond the bounds, the oldest first.
    func prune(now: Int64) throws {
        guard
            let sums = try Row.fetchOne(
                db, sql: "SELECT count(*), total(size), coalesce(min(at), 0) FROM _sync_last")
        else { return }
        let count: Int64 = try sums.decode(atIndex: 0)
        let size = try sums.decode(Double.self, atIndex: 1)
        let oldest: Int64 = try sums.decode(atIndex: 2)
        let (bound, overflow) = now.subtractingReportingOverflow(Self.ageMax)
        if count > 0, !overflow, oldest < bound {
            try db.execute(sql: "DELETE FROM _sync_last WHERE at < ?", arguments: [bound])
        }
        guard count > Self.countMax || size > Double(Self.sizeMax) else { return }
        try removeBeyondBounds()
    }

    /// Forgets what is left over when the newest are counted. A statement deletes all its rows in one moment, so
    /// those of one moment are told apart by their keys.
    private func removeBeyondBounds() throws {
        var kept = (count: Int64(0), size: Int64(0))
        let cursor = try Row.fetchCursor(
            db, sql: "SELECT at, r, life, part, size FROM _sync_last ORDER BY at DESC, r, life, part")
        var end: [Int64]?
        while let row = try cursor.next() {
            kept.count += 1
            kept.size = kept.size.addingReportingOverflow(try row.decode(atIndex: 4)).partialValue
            guard kept.count <= Self.countMax, (0...Self.sizeMax).contains(kept.size) else {
                end = try (0..<4).map { try row.decode(Int64.self, atIndex: $0) }
                break
            }
        }
        guard let end else { return }
        try db.execute(
            sql: "DELETE FROM _sync_last WHERE at < ?1 OR at = ?1 AND (r, life, part) >= (?2, ?3, ?4)",
            arguments: StatementArguments(end))
    }
}
