import CipherStore
import SyncWire

/// Tells which values of a table's rows are gone, see ``LostColumns``, until an answer has brought all rows again.
///
/// What the table shows in their place, when it has the column again, is a default that nobody wrote.
struct LostValues {
    private let columns: Set<Int>
    private let partial: PartialTable

    /// Reads it of all tables that lost any.
    static func loadAll(_ db: Database, _ partials: [Int64: PartialTable]) throws -> [Int64: LostValues] {
        var tables: [Int64: LostValues] = [:]
        for (number, partial) in partials {
            let columns = try LostColumns.numbers(db, of: number)
            if !columns.isEmpty { tables[number] = LostValues(columns: columns, partial: partial) }
        }
        return tables
    }

    /// Whether the value of a column is gone that belongs to the version of a row. What is parked is not gone.
    ///
    /// Nothing is known any more of who had written such a column of a row last, so one that has a version of its own
    /// was written later. So was a row that this replica wrote after all that it lost.
    func contains(_ column: Int, of version: RowVersion) -> Bool {
        guard columns.contains(column), version.cells[column] == nil else { return false }
        return !partial.own.contains(version.base) || partial.dropped.contains(version.base)
    }
}
