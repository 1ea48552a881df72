import CipherStore
import SyncWire

/// Statements about one row, which are run for many rows and stay prepared.
extension Database {
    /// Runs a statement with the number of a version as its argument.
    func runCached(_ sql: String, version row: Int64) throws {
        let statement = try cachedStatement(sql: sql)
        statement.reset()
        _ = RawBinding.int64(statement.sqliteStatement, 1, row)
        while try statement.step() {}
        statement.reset()
    }

    /// Runs a statement with the table and the key of a row as its arguments.
    func runCached(_ sql: String, _ table: Int64, _ key: RowKey) throws {
        let statement = try cachedStatement(sql: sql)
        statement.reset()
        _ = RawBinding.int64(statement.sqliteStatement, 1, table)
        key.value.bind(statement.sqliteStatement, 2)
        while try statement.step() {}
        statement.reset()
    }
}
