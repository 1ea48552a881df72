import CipherStore
import SyncWire

/// Keeps values that won but can't be written: their table or column is not
/// there, or a constraint stands against them.
///
/// Their versions are recorded like any other's, so they are forwarded to other
/// peers, and they are tried again whenever something was applied.
final class Parking {
    private let db: Database
    private let insertion: Statement
    private let replacement: Statement
    private let selection: Statement

    /// Whether anything is parked.
    private(set) var isInUse: Bool

    private var parkedRows: Set<[UInt8]> = []

    /// How many rows were parked since this object was made.
    var parkedRowCount: Int64 { Int64(parkedRows.count) }

    init(_ db: Database) throws {
        self.db = db
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

    /// Why values are kept whose table or column was dropped here. They don't wait
    /// for anything: they are kept for peers, and for a column that comes back.
    static let droppedReason = "dropped here"

    /// The column number under which a row without columns is parked.
    static let wholeRow = -1

    /// Parks values of a row.
    func park(_ table: Int64, _ key: RowKey, _ values: [Int: WireValue], why: String) throws {
        isInUse = true
        if why != Self.droppedReason { parkedRows.insert(Self.identity(table, key)) }
        let entries = values.isEmpty ? [Self.wholeRow: WireValue.null] : values
        let statement = try hasValues(table, key) ? replacement : insertion
        let raw = statement.sqliteStatement
        for (column, value) in entries.sorted(by: { $0.key < $1.key }) {
            statement.reset()
            _ = RawBinding.int64(raw, 1, table)
            key.value.bind(raw, 2)
            _ = RawBinding.int64(raw, 3, Int64(column))
            value.bind(raw, 4)
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
        parkedRows.remove(Self.identity(table, key))
        let filter = columns.map { numbers in
            " AND col IN (\((numbers + [Self.wholeRow]).map(String.init).joined(separator: ", ")))"
        }
        let statement = try db.makeStatement(
            sql: "DELETE FROM _sync_shadow WHERE tbl = ? AND pk = ?" + (filter ?? ""))
        _ = RawBinding.int64(statement.sqliteStatement, 1, table)
        key.value.bind(statement.sqliteStatement, 2)
        while try statement.step() {}
    }

    /// Tries to write everything that is parked, as often as that helps: a row
    /// that finds its place can make room for another.
    ///
    /// - returns: How many rows found their place.
    ///
    /// - parameter touched: Learns of the rows that were written, because they may be orphans.
    func retry(_ touched: TouchedRows?) throws -> Int64 {
        guard isInUse else { return 0 }
        let tables = try SyncedTable.loadAll(db).filter(\.hasRows)
        var total: Int64 = 0
        while true {
            var count: Int64 = 0
            for table in tables { count += try retry(table, touched) }
            total += count
            if count == 0 { return total }
        }
    }

    private func retry(_ table: SyncedTable, _ touched: TouchedRows?) throws -> Int64 {
        let present = Dictionary(uniqueKeysWithValues: table.presentColumns.map { ($0.number, $0.name) })
        let numbers = (present.keys.map { $0 } + [Self.wholeRow]).map(String.init).joined(separator: ", ")
        let keys = try Row.fetchAll(
            db, sql: "SELECT DISTINCT pk FROM _sync_shadow WHERE tbl = ? AND col IN (\(numbers))",
            arguments: [table.number])
        guard !keys.isEmpty else { return 0 }
        let target = try AppliedTable(db, table, columns: table.columns)
        var count: Int64 = 0
        for row in keys {
            let key = OwnedValue.make(try row.decode(atIndex: 0))
            count += try withExtendedLifetime(key) {
                guard try retry(target, RowKey(key.value), present) else { return 0 }
                try touched?.add(table.number, RowKey(key.value))
                return 1
            }
        }
        return count
    }

    private func retry(_ table: AppliedTable, _ key: RowKey, _ present: [Int: String]) throws -> Bool {
        let parked = try values(table.table.number, key)
        let columns = parked.compactMap { number, value in
            present[number].map { (name: $0, value: value.value, number: number) }
        }.sorted { $0.number < $1.number }
        let writes = columns.map { (name: $0.name, value: $0.value) }
        let failure = try withExtendedLifetime(parked) {
            try table.hasRow(key)
                ? (writes.isEmpty ? nil : table.update(key, writes)) : table.insert(key, writes)
        }
        guard failure == nil else { return false }
        try remove(table.table.number, key, columns: columns.map(\.number))
        return true
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
