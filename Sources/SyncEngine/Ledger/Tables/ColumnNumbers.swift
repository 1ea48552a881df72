import CipherStore

/// The numbers of columns that were forgotten.
///
/// The history, the journal and what is kept of deleted rows name a column by its number for longer than there is the
/// column. Another column that got the number would get the values, too. So the settings keep the last number that was
/// given in a table, if no column has it any more.
enum ColumnNumbers {
    /// A greater number was not given here: any program may write to the metadata, and it may be the last one of all.
    private static let keptMax: Int64 = 1 << 40

    private static func setting(_ table: Int64) -> String { "columns.\(table)" }

    /// The last number that a column had which is forgotten; −1 when there is none.
    static func last(_ db: Database, of table: Int64) throws -> Int {
        guard let last = try SyncSetting.integer(db, setting(table)), (0...keptMax).contains(last) else {
            return -1
        }
        return Int(last)
    }

    /// Notes that a column is about to be forgotten.
    static func keep(_ db: Database, _ column: Int, of table: Int64) throws {
        guard column <= keptMax, try column > last(db, of: table) else { return }
        try SyncSetting.set(db, setting(table), column)
    }

    /// Forgets the numbers of a table that is forgotten with all that names its columns.
    static func forget(_ db: Database, of table: Int64) throws {
        try SyncSetting.set(db, setting(table), nil)
    }
}
