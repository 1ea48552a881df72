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

    init(_ db: Database, _ table: SyncedTable) throws {
        self.table = table
        columnCount = table.columns.count
        ordinals = Dictionary(uniqueKeysWithValues: table.columns.enumerated().map { ($1.number, $0) })
        let present = table.hasRows ? table.presentColumns : []
        hasEveryColumn = present.count == columnCount
        var next: CInt = 0
        positions = table.columns.map { column in
            guard table.hasRows, column.isPresent else { return nil }
            next += 1
            return next - 1
        }
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
        if let statement {
            key.value.bind(statement.sqliteStatement, 1)
            hasRow = try statement.step()
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

    /// Lets go of the row; its values are no longer valid.
    func finish() {
        statement?.reset()
        hasRow = false
        if !parked.isEmpty { parked.removeAll(keepingCapacity: true) }
    }

    /// Whether the row has a value for a column.
    func hasValue(_ ordinal: Int) -> Bool {
        (hasRow && positions[ordinal] != nil) || parked[ordinal] != nil
    }

    /// Whether a column's value is parked.
    func isParked(_ ordinal: Int) -> Bool { parked[ordinal] != nil }

    /// The value of a column; NULL when there is none.
    @inline(__always)
    func value(_ ordinal: Int) -> WireValue {
        if !parked.isEmpty, let value = parked[ordinal] { return value.value }
        guard hasRow, let position = positions[ordinal], let raw = statement?.sqliteStatement else {
            return .null
        }
        return WireValue(raw, position)
    }
}
