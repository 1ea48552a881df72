import CipherStore
import SyncWire

/// Reads the current values of a table's rows, by key.
///
/// A value that is parked stands above the one in the table: it is the winner
/// that could not be written yet.
final class ExportedTable {
    /// The number of columns: those of the metadata.
    let columnCount: Int
    /// The position among them by column number.
    let ordinals: [Int: Int]
    /// Whether the local table has all columns of the metadata.
    let hasEveryColumn: Bool
    /// Whether the table itself holds the row.
    private(set) var hasRow = false

    private let table: SyncedTable
    private let statement: Statement?
    private let parkedStatement: Statement
    /// Where each column is in the statement, or nil when the table lacks it.
    private let positions: [CInt?]
    private var parked: [Int: OwnedValue] = [:]
    /// Reads what policies keep, which stands in the place of what the table shows.
    private let partStatement: Statement?
    private let isSeparate: [Bool]
    private var parts: [Int: OwnedValue] = [:]
    /// The values as their authors wrote them, which stand above what the table made of them.
    let originals: OriginalValues
    private var original: [Int: OwnedValue] = [:]

    /// - parameter separate: The columns whose values policies keep, which are read; nil to read
    ///   what the table shows.
    init(_ db: Database, _ table: SyncedTable, separate: SeparateColumns? = nil) throws {
        self.table = table
        originals = try OriginalValues(db, table: table.number)
        isSeparate = table.columns.map { separate?.shown(for: $0.number) != nil }
        partStatement =
            try separate == nil
            ? nil
            : db.makeStatement(
                sql: """
                    SELECT col, val FROM _sync_part WHERE r = (SELECT r FROM _sync_row WHERE tbl = ? AND pk = ?)
                    """)
        columnCount = table.columns.count
        ordinals = Dictionary(uniqueKeysWithValues: table.columns.enumerated().map { ($1.number, $0) })
        let present = table.hasRows ? table.presentColumns : []
        hasEveryColumn = present.count == columnCount && separate == nil
        var next: CInt = 0
        positions = table.columns.map { column in
            guard table.hasRows, column.isPresent else { return nil }
            next += 1
            return next - 1
        }
        assert(positions.count == columnCount && isSeparate.count == columnCount)
        parkedStatement = try db.makeStatement(
            sql: "SELECT col, val FROM _sync_shadow WHERE tbl = ? AND pk = ?")
        guard table.hasRows else {
            statement = nil
            return
        }
        let names = present.map(\.name.quotedDatabaseIdentifier)
        statement = try db.makeStatement(
            sql: """
                SELECT \(names.isEmpty ? "1" : names.joined(separator: ", "))
                FROM \(table.qualifiedName) WHERE \(table.keyMatch("?1"))
                """)
    }

    /// Moves to a row.
    ///
    /// - parameter hasParkedValues: Whether any value of any table is parked.
    func load(key: RowKey, hasParkedValues: Bool) throws {
        finish()
        assert(
            !hasRow && parked.isEmpty && parts.isEmpty && original.isEmpty, "a row has another one's values")
        if let statement {
            key.value.bind(statement.sqliteStatement, 1)
            hasRow = try statement.step()
        }
        if let partStatement { try loadParts(partStatement, key) }
        if originals.isInUse {
            for (column, value) in try originals.values(key) {
                if let ordinal = ordinals[column] { original[ordinal] = value }
            }
        }
        guard hasParkedValues else { return }
        let raw = parkedStatement.sqliteStatement
        parkedStatement.reset()
        _ = RawBinding.int64(raw, 1, table.number)
        key.value.bind(raw, 2)
        while try parkedStatement.step() {
            guard let ordinal = ordinals[Int(RawColumn.int64(raw, 0))] else { continue }
            parked[ordinal] = OwnedValue(copying: WireValue(raw, 1))
        }
        parkedStatement.reset()
    }

    private func loadParts(_ statement: Statement, _ key: RowKey) throws {
        let raw = statement.sqliteStatement
        statement.reset()
        _ = RawBinding.int64(raw, 1, table.number)
        key.value.bind(raw, 2)
        while try statement.step() {
            guard let ordinal = ordinals[Int(RawColumn.int64(raw, 0))] else { continue }
            parts[ordinal] = OwnedValue(copying: WireValue(raw, 1))
        }
        statement.reset()
    }

    /// Lets go of the row; its values are no longer valid.
    func finish() {
        if !parts.isEmpty { parts.removeAll(keepingCapacity: true) }
        if !original.isEmpty { original.removeAll(keepingCapacity: true) }
        statement?.reset()
        hasRow = false
        if !parked.isEmpty { parked.removeAll(keepingCapacity: true) }
    }

    /// Whether the row has a value for a column.
    func hasValue(_ ordinal: Int) -> Bool {
        if isSeparate[ordinal] { return parts[ordinal] != nil }
        return (hasRow && positions[ordinal] != nil) || parked[ordinal] != nil
    }

    /// The columns, by number, whose values the table made others of.
    var convertedColumns: [Int] { original.keys.map { table.columns[$0].number } }

    /// Whether a column's value is parked.
    func isParked(_ ordinal: Int) -> Bool { parked[ordinal] != nil }

    /// The value of a column; NULL when there is none.
    @inline(__always)
    func value(_ ordinal: Int) -> WireValue {
        if isSeparate[ordinal] { return parts[ordinal]?.value ?? .null }
        if !original.isEmpty, let value = original[ordinal] { return value.value }
        if !parked.isEmpty, let value = parked[ordinal] { return value.value }
        guard hasRow, let position = positions[ordinal], let raw = statement?.sqliteStatement else {
            return .null
        }
        return WireValue(raw, position)
    }
}
