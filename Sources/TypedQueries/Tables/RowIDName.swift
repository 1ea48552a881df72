import CipherStore

/// The names that SQLite gives the number of a row. A column that has one of them hides the number.
enum RowIDName {
    private static let all = ["rowid", "_rowid_", "oid"]

    /// The first of the names that no column has, or nil when columns have them all.
    static func free(of columns: [String]) -> String? {
        let taken = Set(columns.map(\.identifierKey))
        return all.first { !taken.contains($0) }
    }
}
