/// The names that SQLite gives the number of a row. A column that has one of them hides the number.
package enum RowIDName {
    private static let all = ["rowid", "_rowid_", "oid"]

    /// The first of the names that no column has, or nil when columns have them all.
    package static func free(of columns: [String]) -> String? {
        let taken = Set(columns.map(\.foldedIdentifier))
        return all.first { !taken.contains($0) }
    }

    /// Whether a name of the number of a row, in lower case, is that of no column.
    static func isFree(_ name: String, of columns: [String]) -> Bool {
        !columns.contains { $0.foldedIdentifier == name }
    }
}

extension PrimaryKeyInfo {
    /// The columns that find a row of the table fastest: its number by a name that no other column has, or the key.
    ///
    /// - parameters:
    ///     - table: The name of the table, for the error.
    ///     - columns: The names of its columns.
    /// - throws: A ``DatabaseError`` when nothing tells its rows from each other.
    func rowColumns(of table: String, columns names: [String]) throws -> [String] {
        if let rowIDColumn { return [rowIDColumn] }
        guard tableHasRowID else { return columns }
        if let name = RowIDName.free(of: names) { return [name] }
        guard isRowID else { return columns }
        throw DatabaseError(
            resultCode: .SQLITE_ERROR,
            message: """
                the rows of the table \(table) can't be told from each other: it has no primary key, and columns called \
                rowid, _rowid_ and oid; give it a primary key
                """)
    }
}
