import CipherStore

/// Columns whose values another program took away while their table had no triggers, so that nobody kept them.
///
/// The rows have their versions still, and without a value they count as having none. Where rows are chosen by such a
/// column, that would be said of rows that have a value everywhere else. Values that are written later are here again;
/// those of all the other rows are not, also when the table gets the column back. So a table's note goes with its rows,
/// when they are asked for anew.
enum LostColumns {
    private static func setting(_ table: Int64) -> String { "lost.\(table)" }

    /// The numbers of such columns of a table.
    static func numbers(_ db: Database, of table: Int64) throws -> Set<Int> {
        // Any program may write to the metadata: what is no number names no column.
        Set(try SyncSetting.text(db, setting(table))?.split(separator: " ").compactMap { Int($0) } ?? [])
    }

    /// Notes that the values of columns are gone.
    static func note(_ db: Database, _ columns: [SyncedTable.Column], of table: Int64) throws {
        guard !columns.isEmpty else { return }
        let numbers = try numbers(db, of: table).union(columns.map(\.number)).sorted()
        try SyncSetting.set(
            db, setting(table), numbers.map(String.init).joined(separator: " "))
    }

    /// Forgets it of a table, of which nothing is known any more.
    static func forget(_ db: Database, of table: Int64) throws {
        try SyncSetting.set(db, setting(table), nil)
    }
}
