/// All rows of a statement, with their values in one array.
///
/// Associated rows are fetched by the ten thousand, to be decoded once. Each as a row of its own would cost more than
/// its values and the record together.
final class RowBlock {
    let names: ColumnNames
    let adapted: AdaptedColumns?
    let values: [DatabaseValue]

    /// The number of rows.
    let count: Int

    /// The number of values of a row, adapted or not.
    private var width: Int { names.names.count }

    /// Runs a statement to its end.
    ///
    /// - throws: A ``DatabaseError``.
    init(_ statement: Statement, adapter: (any RowAdapter)?) throws {
        let run = try StatementRun(statement, arguments: nil)
        let handle = statement.sqliteStatement
        var values: [DatabaseValue] = []
        var count = 0
        var width = CInt(0)
        while try run.step() {
            // The columns are known once the statement runs: the schema may have changed before.
            if count == 0 { width = CInt(statement.columnCount) }
            for index in 0..<width { values.append(DatabaseValue(sqliteStatement: handle, index: index)) }
            count += 1
        }
        names = statement.names
        adapted = try adapter?.columns(of: statement)
        self.values = values
        self.count = count
    }

    /// Returns where the value of a column that the rows show is, counted from the first value of a row.
    ///
    /// - throws: ``RowDecodingError`` when they show no such column.
    func requirePosition(of column: String) throws -> Int {
        guard let index = (adapted?.names ?? names).position(of: column) else {
            throw RowDecodingError(.keyNotFound(.column(column)), type: "DatabaseValue", row: Row())
        }
        return adapted?.indexes[index] ?? index
    }

    /// Returns a value of a row.
    func value(of row: Int, at position: Int) -> DatabaseValue { values[row * width + position] }

    /// Where the values of a row begin.
    func offset(of row: Int) -> Int { row * width }

    /// Returns a row, which stays valid.
    func row(at index: Int) -> Row { Row(of: self, offset: offset(of: index), isMoving: false) }

    /// Returns a row that can be moved from one to another, or nil when it has scopes, which would not move with it.
    func movingRow() -> Row? {
        guard adapted?.scopes.isEmpty != false else { return nil }
        return Row(of: self, offset: 0, isMoving: true)
    }
}

/// The rows of another request that belong to one row.
enum AssociatedRowList {
    /// Rows that may have scopes, and rows of other requests.
    case rows([Row])
    /// Some rows of a block, by their positions in it.
    case places([Int], RowBlock)

    /// Puts lists together.
    init(_ lists: [AssociatedRowList]) {
        self = lists.count == 1 ? lists[0] : .rows(lists.flatMap(\.rows))
    }

    var count: Int {
        switch self {
        case .rows(let rows): rows.count
        case .places(let places, _): places.count
        }
    }

    /// Returns a row, which stays valid.
    subscript(_ index: Int) -> Row {
        switch self {
        case .rows(let rows): rows[index]
        case .places(let places, let block): block.row(at: places[index])
        }
    }

    /// The rows, which stay valid.
    var rows: [Row] {
        switch self {
        case .rows(let rows): rows
        case .places(let places, let block): places.map { block.row(at: $0) }
        }
    }

    /// Returns some values of each row, by their positions among all columns of the statement.
    func values(at positions: [Int]) -> [[DatabaseValue]] {
        switch self {
        case .rows(let rows):
            rows.map { row in
                let row = row.unadapted
                return positions.map { row.databaseValue(atIndex: $0) }
            }
        case .places(let places, let block):
            places.map { place in positions.map { block.value(of: place, at: $0) } }
        }
    }

    /// Calls a function for each row, which is valid until the function returns.
    func visit(_ body: (Row) throws -> Void) rethrows {
        if case .places(let places, let block) = self, let row = block.movingRow() {
            for place in places {
                row.move(to: block.offset(of: place))
                try body(row)
            }
        } else {
            for row in rows { try body(row) }
        }
    }
}

extension AssociatedRowList: Equatable {
    static func == (left: AssociatedRowList, right: AssociatedRowList) -> Bool { left.rows == right.rows }
}
