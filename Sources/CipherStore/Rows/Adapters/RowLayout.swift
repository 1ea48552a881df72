/// The columns that a row shows, and where each is in the statement.
///
/// A ``RowAdapter`` makes one layout of another. Because each layout knows the
/// positions in the statement, adapters that adapt adapters cost nothing when
/// rows are read.
public struct RowLayout: Sendable {
    /// A column of a row.
    struct Column: Sendable {
        /// The name that the row shows.
        var name: String
        /// The position of the value in the statement.
        var index: Int
    }

    var columns: [Column]
    var scopes: [String: RowLayout] = [:]

    init(columns: [Column], scopes: [String: RowLayout] = [:]) {
        self.columns = columns
        self.scopes = scopes
    }

    /// The layout of a statement's own columns.
    init(columnNames: [String]) {
        columns = columnNames.enumerated().map { Column(name: $1, index: $0) }
    }

    /// The names of the columns, from left to right.
    public var columnNames: [String] { columns.map(\.name) }

    /// The leftmost column of a name, compared without case.
    func column(named name: String) -> Column? {
        columns.first { $0.name.isSameIdentifier(as: name) }
    }
}

/// The names of the columns of a row, and their positions by name.
final class ColumnNames: Sendable {
    let names: [String]
    /// The leftmost position of each name, by its ``Swift/String/identifierKey``.
    private let positions: [String: Int]
    /// Whether no two names are the same but for their case.
    private let areUnique: Bool
    /// Whether all names are ASCII.
    private let areASCII: Bool

    init(_ names: [String]) {
        self.names = names
        positions = Dictionary(
            names.enumerated().map { ($1.identifierKey, $0) },
            uniquingKeysWith: { leftmost, _ in leftmost })
        areUnique = positions.count == names.count
        areASCII = names.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } }
    }

    @inline(__always)
    private func isName(_ name: String, at index: Int) -> Bool {
        // What Swift takes for the same text as an ASCII one has the same bytes when it is as long.
        areASCII
            ? names[index] == name && names[index].utf8.count == name.utf8.count
            : names[index].hasSameBytes(as: name)
    }

    /// The leftmost column of a name, compared without case.
    func position(of name: String) -> Int? {
        // A key is ASCII, so what Swift takes for the same text is the same when it is as long.
        if let found = positions[name], names[found].utf8.count == name.utf8.count { return found }
        return positions[name.identifierKey]
    }

    /// The leftmost column of a name, compared without case.
    ///
    /// - parameter guess: The position that is looked at first. Rows are mostly
    ///   read from left to right: after a hit it is the next column.
    @inline(__always)
    func position(of name: String, guess: inout Int) -> Int? {
        var index = guess
        if !areUnique || index >= names.count || !isName(name, at: index) {
            guard let found = position(of: name) else { return nil }
            index = found
        }
        guess = index + 1 < names.count ? index + 1 : 0
        return index
    }
}

/// A layout that is ready for rows: made once for all the rows of a fetch.
final class AdaptedColumns: Sendable {
    let names: ColumnNames
    /// The position of each column in the statement.
    let indexes: [Int]
    let scopes: [String: AdaptedColumns]

    init(_ layout: RowLayout) {
        names = ColumnNames(layout.columnNames)
        indexes = layout.columns.map(\.index)
        scopes = layout.scopes.mapValues { AdaptedColumns($0) }
    }

    private init(_ columns: AdaptedColumns, scopes: [String: AdaptedColumns]) {
        names = columns.names
        indexes = columns.indexes
        self.scopes = scopes
    }

    /// The same columns without the scopes.
    var unscoped: AdaptedColumns { scopes.isEmpty ? self : AdaptedColumns(self, scopes: [:]) }
}
