/// Presents the columns of a statement in another way.
///
/// ```swift
/// // Decodes the columns that follow the two first ones:
/// let adapter = SuffixRowAdapter(fromIndex: 2)
/// let players = try Player.fetchAll(db, sql: "SELECT a, b, player.* FROM …", adapter: adapter)
/// ```
public protocol RowAdapter: Sendable {
    /// Makes the layout of the adapted rows.
    ///
    /// - parameter base: The layout of the rows that are adapted.
    /// - throws: A ``DatabaseError`` when the adapter does not fit.
    func layout(over base: RowLayout) throws -> RowLayout
}

extension RowAdapter {
    /// Returns an adapter that presents rows as this one does, and gives them
    /// scopes.
    ///
    /// The adapters of the scopes see the columns that this adapter sees. A
    /// scope of this adapter that has the same name is replaced.
    public func addingScopes(_ scopes: [String: any RowAdapter]) -> any RowAdapter {
        scopes.isEmpty ? self : ScopeAdapter(base: self, scopes: scopes)
    }

    /// The columns of a statement, adapted.
    func columns(of statement: Statement) throws -> AdaptedColumns {
        AdaptedColumns(try layout(over: RowLayout(columnNames: statement.columnNames)))
    }
}

/// Hides all columns.
public struct EmptyRowAdapter: RowAdapter {
    /// Makes the adapter.
    public init() {}

    /// Returns a layout without columns.
    public func layout(over base: RowLayout) -> RowLayout { RowLayout(columns: []) }
}

/// Shows some columns, by other names.
///
/// ```swift
/// // [foo:"foo", bar:"bar"]
/// let adapter = ColumnMapping(["foo": "a", "bar": "b"])
/// try Row.fetchOne(db, sql: "SELECT 'foo' AS a, 'bar' AS b, 'hidden' AS c", adapter: adapter)
/// ```
///
/// The columns keep their order. Names of the base are compared without case,
/// and mean the leftmost column.
public struct ColumnMapping: RowAdapter {
    let mapping: [String: String]

    /// Makes an adapter of a dictionary from the new names to the names of the base.
    public init(_ mapping: [String: String]) { self.mapping = mapping }

    /// Returns the layout of the mapped columns.
    ///
    /// - throws: A ``DatabaseError`` when a column is missing.
    public func layout(over base: RowLayout) throws -> RowLayout {
        var columns = try mapping.map { name, baseName in
            guard let column = base.column(named: baseName) else {
                let known = base.columnNames.joined(separator: ", ")
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message: "no column \(baseName) to be mapped: the columns are \(known)")
            }
            return RowLayout.Column(name: name, index: column.index)
        }
        columns.sort { ($0.index, $0.name) < ($1.index, $1.name) }
        return RowLayout(columns: columns)
    }
}

/// Shows the columns from a position on.
public struct SuffixRowAdapter: RowAdapter {
    let index: Int

    /// Makes an adapter that hides the columns before a position.
    public init(fromIndex index: Int) {
        precondition(index >= 0, "the index of a column is not negative")
        self.index = index
    }

    /// Returns the layout of the last columns.
    ///
    /// - throws: A ``DatabaseError`` when there are fewer columns.
    public func layout(over base: RowLayout) throws -> RowLayout {
        try RangeRowAdapter(index..<max(index, base.columns.count)).layout(over: base)
    }
}

/// Shows the columns in a range of positions.
public struct RangeRowAdapter: RowAdapter {
    let range: Range<Int>

    /// Makes an adapter that hides the columns outside of a range.
    public init(_ range: Range<Int>) {
        precondition(range.lowerBound >= 0, "the index of a column is not negative")
        self.range = range
    }

    /// Makes an adapter that hides the columns outside of a range.
    public init(_ range: ClosedRange<Int>) { self.init(Range(range)) }

    /// Returns the layout of the columns in the range.
    ///
    /// - throws: A ``DatabaseError`` when there are fewer columns.
    public func layout(over base: RowLayout) throws -> RowLayout {
        guard range.upperBound <= base.columns.count else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "the columns \(range) are out of range: there are \(base.columns.count) columns")
        }
        return RowLayout(columns: Array(base.columns[range]))
    }
}

/// Gives rows scopes: rows inside of the row.
///
/// ```swift
/// let adapter = ScopeAdapter([
///     "left": RangeRowAdapter(0..<2),
///     "right": RangeRowAdapter(2..<4)])
/// let row = try Row.fetchOne(db, sql: "SELECT 0 AS a, 1 AS b, 2 AS a, 3 AS b", adapter: adapter)!
/// row.scopes["right"]   // [a:2 b:3]
/// ```
public struct ScopeAdapter: RowAdapter {
    let base: (any RowAdapter)?
    let scopes: [String: any RowAdapter]

    /// Makes an adapter that shows all columns, and scopes by name.
    public init(_ scopes: [String: any RowAdapter]) {
        base = nil
        self.scopes = scopes
    }

    /// Makes an adapter that shows what another one shows, and scopes by name.
    public init(base: any RowAdapter, scopes: [String: any RowAdapter]) {
        self.base = base
        self.scopes = scopes
    }

    /// Returns the layout with the scopes.
    ///
    /// - throws: A ``DatabaseError`` when an adapter does not fit.
    public func layout(over base: RowLayout) throws -> RowLayout {
        var layout = try self.base?.layout(over: base) ?? RowLayout(columns: base.columns)
        for (name, adapter) in scopes { layout.scopes[name] = try adapter.layout(over: base) }
        return layout
    }
}

/// Shows all columns, by names that a function makes.
///
/// ```swift
/// // "player:id" becomes "id":
/// let adapter = RenameColumnAdapter { name in String(name.split(separator: ":").last ?? "") }
/// ```
public struct RenameColumnAdapter: RowAdapter {
    let transform: @Sendable (String) -> String

    /// Makes an adapter of a function from the old to the new name.
    public init(_ transform: @escaping @Sendable (String) -> String) { self.transform = transform }

    /// Returns the layout with the new names.
    public func layout(over base: RowLayout) -> RowLayout {
        RowLayout(columns: base.columns.map { RowLayout.Column(name: transform($0.name), index: $0.index) })
    }
}

/// Shows what one adapter makes of the rows of another.
struct ChainedRowAdapter: RowAdapter {
    let inner: any RowAdapter
    let outer: any RowAdapter

    func layout(over base: RowLayout) throws -> RowLayout {
        try outer.layout(over: inner.layout(over: base))
    }
}

/// Returns adapters that split rows by numbers of columns, and one more for the
/// columns that remain.
///
/// ```swift
/// // SELECT team.*, player.*, 1 AS extra
/// let adapters = try splittingRowAdapters(columnCounts: [
///     db.columns(in: "team").count,
///     db.columns(in: "player").count])
/// let adapter = ScopeAdapter(["team": adapters[0], "player": adapters[1]])
/// ```
public func splittingRowAdapters(columnCounts: [Int]) -> [any RowAdapter] {
    var start = 0
    var adapters: [any RowAdapter] = columnCounts.map { count in
        defer { start += count }
        return RangeRowAdapter(start..<start + count)
    }
    adapters.append(SuffixRowAdapter(fromIndex: start))
    return adapters
}
