import CipherStore
import SyncWire

/// Keeps values that won but can't be written: their table or column is not
/// there, or a constraint stands against them.
///
/// Their versions are recorded like any other's, so they are forwarded to other
/// peers, and ``Settlement`` tries them again whenever something was applied.
final class Parking {
    private let db: Database
    private let insertion: Statement
    private let replacement: Statement
    private let selection: Statement

    /// Whether anything is parked.
    private(set) var isInUse: Bool

    private var parkedRows: RowTally
    private var shownRows: RowTally
    private let now: Int64
    private let rememberedRowMax: Int

    /// Since when rows were hidden that this transaction showed. Nobody sees those of them that it hides again.
    private var formerTimes: [[UInt8]: Int64] = [:]

    /// How many rows were parked since this object was made.
    var parkedRowCount: Int64 { parkedRows.count }

    /// How many rows that waited have their place since then.
    var shownRowCount: Int64 { shownRows.count }

    /// - parameters:
    ///     - now: The time that rows are hidden at, in Unix milliseconds.
    ///     - rememberedRowMax: How many rows are kept in memory, to count each once.
    init(_ db: Database, now: Int64, rememberedRowMax: Int = 100_000) throws {
        self.db = db
        self.now = now
        self.rememberedRowMax = rememberedRowMax
        parkedRows = RowTally(rememberedRowMax)
        shownRows = RowTally(rememberedRowMax)
        // REPLACE costs a statement journal, so it is kept for rows that have parked values already.
        insertion = try db.makeStatement(
            sql: "INSERT OR FAIL INTO _sync_shadow (tbl, pk, col, val, why) VALUES (?, ?, ?, ?, ?)")
        replacement = try db.makeStatement(
            sql: "INSERT OR REPLACE INTO _sync_shadow (tbl, pk, col, val, why) VALUES (?, ?, ?, ?, ?)")
        selection = try db.makeStatement(sql: "SELECT col, val FROM _sync_shadow WHERE tbl = ? AND pk = ?")
        isInUse = try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_shadow)") ?? false
    }

    private static func identity(_ table: Int64, _ key: RowKey) -> [UInt8] {
        withUnsafeBytes(of: table) { Array($0) } + Array(key.bytes)
    }

    /// The column number under which a row without columns is parked.
    static let wholeRow = -1

    /// Parks values of a row.
    func park(_ table: Int64, _ key: RowKey, _ values: [Int: WireValue], why: String) throws {
        isInUse = true
        let identity = Self.identity(table, key)
        let isWaiting = try hasValues(table, key)
        // A row that had waited, was written and waits again is no other one.
        if why != KeptReason.dropped, !shownRows.remove(identity) {
            parkedRows.insert(identity, isNew: !isWaiting)
        }
        assert(!parkedRows.contains(identity) || !shownRows.contains(identity), "a row waits, and does not")
        let entries = values.isEmpty ? [Self.wholeRow: WireValue.null] : values
        let statement = isWaiting ? replacement : insertion
        let raw = statement.sqliteStatement
        for (column, value) in entries.sorted(by: { $0.key < $1.key }) {
            statement.reset()
            _ = RawBinding.int64(raw, 1, table)
            key.value.bind(raw, 2)
            _ = RawBinding.int64(raw, 3, Int64(column))
            try value.bind(to: statement, 4)
            _ = RawBinding.string(raw, 5, why)
            while try statement.step() {}
            statement.reset()
        }
    }

    private func hasValues(_ table: Int64, _ key: RowKey) throws -> Bool {
        let raw = selection.sqliteStatement
        selection.reset()
        defer { selection.reset() }
        _ = RawBinding.int64(raw, 1, table)
        key.value.bind(raw, 2)
        return try selection.step()
    }

    /// The parked values of a row.
    func values(_ table: Int64, _ key: RowKey) throws -> [Int: OwnedValue] {
        let raw = selection.sqliteStatement
        selection.reset()
        defer { selection.reset() }
        _ = RawBinding.int64(raw, 1, table)
        key.value.bind(raw, 2)
        var values: [Int: OwnedValue] = [:]
        while try selection.step() {
            let column = Int(RawColumn.int64(raw, 0))
            if column != Self.wholeRow { values[column] = OwnedValue(copying: WireValue(raw, 1)) }
        }
        return values
    }

    /// Forgets the parked values of a row, or of some of its columns.
    func remove(_ table: Int64, _ key: RowKey, columns: [Int]? = nil) throws {
        guard isInUse else { return }
        try delist(table, key)
        let filter = columns.map { numbers in
            " AND col IN (\((numbers + [Self.wholeRow]).map(String.init).joined(separator: ", ")))"
        }
        try db.runCached("DELETE FROM _sync_shadow WHERE tbl = ? AND pk = ?" + (filter ?? ""), table, key)
        parkedRows.remove(Self.identity(table, key), hasWaited: db.changesCount > 0)
    }

    /// Forgets the parked values of some columns. A row that waits goes on waiting.
    func forget(_ table: Int64, _ key: RowKey, _ columns: Set<Int>) throws {
        guard isInUse else { return }
        let numbers = columns.sorted().map(String.init).joined(separator: ", ")
        for sql in [
            "DELETE FROM _sync_shadow WHERE tbl = ? AND pk = ? AND col IN (\(numbers))",
            """
            INSERT INTO _sync_shadow (tbl, pk, col, val, why)
            SELECT tbl, pk, \(Self.wholeRow), NULL, reason FROM _sync_hidden AS h
            WHERE tbl = ?1 AND pk = ?2 AND NOT EXISTS (
                SELECT 1 FROM _sync_shadow AS s WHERE s.tbl = h.tbl AND s.pk = h.pk)
            """,
        ] {
            try db.runCached(sql, table, key)
        }
    }

    // MARK: Hidden rows

    /// Hides a row whole: its values wait, and the user's table does not hold it.
    ///
    /// A row is never half of an old version and half of a new one. What waits
    /// for a column is left as it is.
    ///
    /// - parameters:
    ///     - newValues: Values that could not be written, for columns that the table has.
    ///     - failure: What stands against the row.
    func hide(
        _ table: AppliedTable, _ key: RowKey, _ newValues: [Int: WireValue] = [:],
        because failure: ConstraintFailure
    ) throws {
        assert(newValues.keys.allSatisfy { table.presentNames[$0] != nil }, "a value waits for a column")
        assert(table.table.hasRows, "rows of a table that is not here are parked, and not hidden")
        let number = table.table.number
        try table.reader.load(key: key, hasParkedValues: isInUse)
        let isInTable = table.reader.hasRow
        var owned: [Int: OwnedValue] = [:]
        for (ordinal, column) in table.table.columns.enumerated()
        where column.isPresent && table.reader.hasValue(ordinal) {
            owned[column.number] = OwnedValue(copying: table.reader.value(ordinal))
        }
        table.reader.finish()
        let values = owned.mapValues(\.value).merging(newValues) { _, new in new }
        try withExtendedLifetime(owned) { try park(number, key, values, why: failure.message) }
        try enlist(number, key, failure)
        if isInTable { try table.delete(key) }
    }

    /// Notes what stands against a row that is hidden already.
    func setReason(_ table: Int64, _ key: RowKey, _ failure: ConstraintFailure) throws {
        let statement = try db.cachedStatement(
            sql: "UPDATE _sync_shadow SET why = ?3 WHERE tbl = ?1 AND pk = ?2 AND why IS NOT ?3 AND "
                + Self.waitsForConstraint)
        statement.reset()
        _ = RawBinding.int64(statement.sqliteStatement, 1, table)
        key.value.bind(statement.sqliteStatement, 2)
        _ = RawBinding.string(statement.sqliteStatement, 3, failure.message)
        while try statement.step() {}
        statement.reset()
        if db.changesCount == 0 { try markWhole(table, key, failure) }
        try enlist(table, key, failure)
    }

    /// Notes that a row waits for a constraint, of which every value waits for a column.
    private func markWhole(_ table: Int64, _ key: RowKey, _ failure: ConstraintFailure) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO _sync_shadow (tbl, pk, col, val, why) SELECT ?1, ?2, \(Self.wholeRow), NULL, ?3
                WHERE NOT EXISTS (SELECT 1 FROM _sync_shadow WHERE tbl = ?1 AND pk = ?2 AND \(Self.waitsForConstraint))
                """)
        statement.reset()
        _ = RawBinding.int64(statement.sqliteStatement, 1, table)
        key.value.bind(statement.sqliteStatement, 2)
        _ = RawBinding.string(statement.sqliteStatement, 3, failure.message)
        while try statement.step() {}
        statement.reset()
    }

    /// Values that wait for a constraint, and not for a column.
    private static let waitsForConstraint = """
        (col = \(wholeRow) OR EXISTS (
            SELECT 1 FROM _sync_column AS c
            WHERE c.tbl = _sync_shadow.tbl AND c.col = _sync_shadow.col AND c.present = 1))
        """

    /// Forgets what waited of a row that is in its table now.
    func show(_ table: Int64, _ key: RowKey, columns: [Int]) throws {
        assert(isInUse, "a row that did not wait has its place")
        let identity = Self.identity(table, key)
        // Older programs noted no time, which says that they left parts of the row in its table.
        if formerTimes.count < rememberedRowMax, let time = try hiddenTime(table, key), time > 0 {
            formerTimes[identity] = time
        }
        try remove(table, key, columns: columns)
        assert(!parkedRows.contains(identity))
        shownRows.insert(identity, isNew: true)
    }

    /// Since when a row is hidden; nil when it is not.
    private func hiddenTime(_ table: Int64, _ key: RowKey) throws -> Int64? {
        let statement = try db.cachedStatement(sql: "SELECT since FROM _sync_hidden WHERE tbl = ? AND pk = ?")
        let raw = statement.sqliteStatement
        statement.reset()
        defer { statement.reset() }
        _ = RawBinding.int64(raw, 1, table)
        key.value.bind(raw, 2)
        return try statement.step() ? RawColumn.int64(raw, 0) : nil
    }

    /// Lists a hidden row. It keeps the time at which it was hidden first.
    private func enlist(_ table: Int64, _ key: RowKey, _ failure: ConstraintFailure) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO _sync_hidden (tbl, pk, reason, since, other_tbl, other_pk)
                SELECT ?1, ?2, ?3, coalesce((SELECT since FROM _sync_hidden WHERE tbl = ?1 AND pk = ?2), ?4), ?5, ?6
                """)
        let raw = statement.sqliteStatement
        statement.reset()
        _ = RawBinding.int64(raw, 1, table)
        key.value.bind(raw, 2)
        _ = RawBinding.string(raw, 3, failure.reason.rawValue)
        _ = RawBinding.int64(
            raw, 4, formerTimes.isEmpty ? now : formerTimes[Self.identity(table, key)] ?? now)
        if let other = failure.other {
            _ = RawBinding.int64(raw, 5, other.table)
            other.key.value.bind(raw, 6)
        } else {
            _ = RawBinding.null(raw, 5)
            _ = RawBinding.null(raw, 6)
        }
        while try statement.step() {}
        statement.reset()
    }

    private func delist(_ table: Int64, _ key: RowKey) throws {
        try db.runCached("DELETE FROM _sync_hidden WHERE tbl = ? AND pk = ?", table, key)
    }
}

extension RowKey {
    /// A key that was read as a value.
    init(_ value: WireValue) {
        switch value {
        case .text(let bytes): self.init(bytes: bytes, isText: true)
        case .blob(let bytes): self.init(bytes: bytes, isText: false)
        default: self.init(bytes: UnsafeRawBufferPointer(start: nil, count: 0), isText: false)
        }
    }
}

/// Counts rows, each once as long as it remembers them: a bundle can have any number of rows of a table that is not here. Of
/// those beyond, only what becomes of the store is counted, and a row that waited before counts as one that came since.
private struct RowTally {
    private let rememberedMax: Int
    private var rows: Set<[UInt8]> = []
    private var otherCount: Int64 = 0

    init(_ rememberedMax: Int) {
        self.rememberedMax = rememberedMax
    }

    var count: Int64 { Int64(rows.count) + otherCount }

    func contains(_ row: [UInt8]) -> Bool { rows.contains(row) }

    /// - parameter isNew: Whether the row counts when it is not remembered.
    mutating func insert(_ row: [UInt8], isNew: Bool) {
        if rows.count < rememberedMax {
            rows.insert(row)
        } else if isNew, !rows.contains(row) {
            otherCount += 1
        }
    }

    /// - parameter hasWaited: Whether the row was one of those that count, when it is not remembered.
    /// - returns: Whether it counted.
    @discardableResult
    mutating func remove(_ row: [UInt8], hasWaited: Bool = false) -> Bool {
        if rows.remove(row) != nil { return true }
        guard hasWaited, otherCount > 0 else { return false }
        otherCount -= 1
        return true
    }
}
