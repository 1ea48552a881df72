/// A row of a query's result.
///
/// ```swift
/// if let row = try Row.fetchOne(db, sql: "SELECT name, score FROM player WHERE id = ?", arguments: [id]) {
///     let name: String = row["name"]
///     let score: Int? = row[1]
/// }
/// ```
///
/// The rows of a cursor are one object that the cursor moves on: copy a row
/// with ``copy()`` before you keep it.
public final class Row {
    /// The statement whose current row this is, when all its columns are shown
    /// as they are: what reads values at full speed.
    @usableFromInline let sqliteStatement: SQLiteStatement?

    /// The run of the statement whose current row this is; nil for a copied
    /// row. The row keeps it from being reset.
    let run: StatementRun?

    /// The statement whose current row this is; nil for a copied row.
    let statement: Statement?

    /// The columns that an adapter shows, or nil when all are shown.
    let adapted: AdaptedColumns?

    /// The names of all columns, adapted or not.
    private let allNames: ColumnNames

    /// The values of all columns of a copied row, adapted or not; those of a block are of other rows, too.
    private let values: [DatabaseValue]

    /// Where the values of the row begin.
    @exclusivity(unchecked) private var offset: Int

    /// Whether the row goes from one row of a block to another, as that of a cursor does.
    let isMoving: Bool

    /// The number of columns.
    public let count: Int

    /// Rows of other requests that belong to the row.
    var prefetches = PrefetchedRows()

    /// What decodes records of the row, and of the rows after it.
    @exclusivity(unchecked) var recordDecoders: RecordDecoders?

    /// Whether the row, or the one it was copied from, comes from a statement.
    var isFetched: Bool { statement != nil || isCopy }
    private var isCopy = false

    /// The column that will likely be looked up next in a statement's row.
    @exclusivity(unchecked) private var likelyIndex = 0

    private init(
        run: StatementRun?, names: ColumnNames, values: [DatabaseValue], offset: Int = 0,
        isMoving: Bool = false,
        adapted: AdaptedColumns?
    ) {
        self.run = run
        statement = run?.statement
        sqliteStatement = adapted == nil ? statement?.sqliteStatement : nil
        allNames = names
        self.values = values
        self.offset = offset
        self.isMoving = isMoving
        self.adapted = adapted
        count = adapted?.indexes.count ?? names.names.count
    }

    /// Makes the row that follows a statement.
    @usableFromInline convenience init(_ run: StatementRun) { self.init(run, adapted: nil) }

    /// Makes the row that follows a statement, and shows some of its columns.
    convenience init(_ run: StatementRun, adapted: AdaptedColumns?) {
        self.init(run: run, names: run.statement.names, values: [], adapted: adapted)
    }

    /// Makes a row that shows other columns of the same statement or copy.
    convenience init(viewing row: Row, _ adapted: AdaptedColumns?) {
        self.init(
            run: row.run, names: row.allNames, values: row.values, offset: row.offset, adapted: adapted)
        isCopy = row.isCopy
    }

    /// Makes a row of a block.
    ///
    /// - parameters:
    ///     - block: The block.
    ///     - offset: Where its values begin.
    ///     - isMoving: Whether the row will be moved to other rows.
    convenience init(of block: RowBlock, offset: Int, isMoving: Bool) {
        self.init(
            run: nil, names: block.names, values: block.values, offset: offset, isMoving: isMoving,
            adapted: block.adapted)
        isCopy = true
    }

    /// Moves the row to another one of its block.
    ///
    /// - parameter offset: Where the values of that row begin.
    func move(to offset: Int) { self.offset = offset }

    /// Makes a row without columns.
    public convenience init() { self.init([]) }

    /// Makes a row of names and values.
    public convenience init(_ columns: [(String, (any DatabaseValueConvertible)?)]) {
        self.init(
            run: nil, names: ColumnNames(columns.map(\.0)),
            values: columns.map { $0.1?.databaseValue ?? .null }, adapted: nil)
    }

    /// Makes a row of a dictionary, in no particular order.
    public convenience init(_ dictionary: [String: (any DatabaseValueConvertible)?]) {
        self.init(dictionary.map { ($0, $1) })
    }

    /// Makes a row of a dictionary, in no particular order.
    ///
    /// - returns: nil when a key is no string, or a value can't be stored.
    public convenience init?(_ dictionary: [AnyHashable: Any]) {
        var columns: [(String, (any DatabaseValueConvertible)?)] = []
        for (key, value) in dictionary {
            guard let name = key as? String, let value = DatabaseValue(value: value) else { return nil }
            columns.append((name, value))
        }
        self.init(columns)
    }

    /// Returns a row that stays valid when the statement moves on.
    public func copy() -> Row {
        guard let statement else { return copyOfBlock() }
        let handle = statement.sqliteStatement
        let row = Row(
            run: nil, names: allNames,
            values: (0..<CInt(allNames.names.count)).map {
                DatabaseValue(sqliteStatement: handle, index: $0)
            },
            adapted: adapted)
        row.prefetches = prefetches
        row.isCopy = true
        return row
    }

    /// Returns a row with values of its own. Those of other rows of a block would stay in memory with it.
    private func copyOfBlock() -> Row {
        let width = allNames.names.count
        guard isMoving || values.count != width else { return self }
        let row = Row(
            run: nil, names: allNames, values: Array(values[offset..<offset + width]), adapted: adapted)
        row.prefetches = prefetches
        row.isCopy = true
        return row
    }

    /// Rows of other requests that belong to the row.
    public internal(set) var prefetchedRows: PrefetchedRowsView {
        get { PrefetchedRowsView(root: prefetches) }
        set { prefetches = newValue.root }
    }

    // MARK: Columns

    private var names: ColumnNames { adapted?.names ?? allNames }

    /// The names of the columns, from left to right; duplicates are kept.
    public var columnNames: [String] { names.names }

    /// The values, from left to right.
    public var databaseValues: [DatabaseValue] {
        (0..<count).map { databaseValue(atIndex: $0) }
    }

    /// Returns whether there is a column of that name. Names have no case.
    public func hasColumn(_ name: String) -> Bool { index(ofColumn: name) != nil }

    /// Returns whether a value is NULL.
    public func hasNull(atIndex index: Int) -> Bool {
        checkIndex(index)
        let index = statementIndex(of: index)
        guard let statement else { return values[offset &+ index].isNull }
        return RawColumn.isNull(statement.sqliteStatement, CInt(index))
    }

    /// Whether the row, or one of its scopes, has a value that is not NULL, or
    /// rows of another request.
    public var containsNonNullValue: Bool {
        (0..<count).contains { !hasNull(atIndex: $0) }
            || scopes.contains { $0.row.containsNonNullValue }
            || prefetches.names.contains { prefetches.rows(named: $0)?.count != 0 }
    }

    /// The leftmost column of a name, compared without case.
    @usableFromInline func index(ofColumn name: String) -> Int? {
        // Copies may be read by several threads at once.
        if statement == nil && !isMoving { return names.position(of: name) }
        return names.position(of: name, guess: &likelyIndex)
    }

    /// The position of a column in the statement.
    func statementIndex(of index: Int) -> Int { adapted?.indexes[index] ?? index }

    @usableFromInline func databaseValue(atIndex index: Int) -> DatabaseValue {
        checkIndex(index)
        let index = statementIndex(of: index)
        guard let statement else { return values[offset &+ index] }
        return DatabaseValue(sqliteStatement: statement.sqliteStatement, index: CInt(index))
    }

    /// Where to read a column of an adapted row, or nil for a copied row.
    @usableFromInline func source(atIndex index: Int) -> (statement: SQLiteStatement, index: CInt)? {
        statement.map { ($0.sqliteStatement, CInt(statementIndex(of: index))) }
    }

    /// All columns of a row that an adapter shows in part, unless it is a copy.
    var unadaptedStatementRow: Row? {
        statement == nil || adapted == nil ? nil : Row(viewing: self, nil)
    }

    @inlinable @inline(__always)
    func checkIndex(_ index: Int) {
        precondition(index >= 0 && index < count, "row index out of range")
    }
}

@available(*, unavailable)
extension Row: Sendable {}

extension Row: ExpressibleByDictionaryLiteral {
    /// Makes a row of names and values; order and duplicates are kept.
    public convenience init(dictionaryLiteral elements: (String, (any DatabaseValueConvertible)?)...) {
        self.init(elements)
    }
}
