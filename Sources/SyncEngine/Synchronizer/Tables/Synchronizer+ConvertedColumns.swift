import CipherStore

extension Synchronizer {
    /// Lists the columns that show values of other replicas converted to the column's own type.
    ///
    /// - throws: `DatabaseError`.
    public func convertedColumns() throws -> [ConvertedColumn] {
        try database.read { try ConvertedColumn.loadAll($0) }
    }
}
