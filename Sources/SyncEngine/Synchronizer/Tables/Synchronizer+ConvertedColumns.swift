import CipherStore

extension Synchronizer {
    /// Reads which columns hold values of other replicas otherwise than these wrote them.
    ///
    /// - throws: `DatabaseError`.
    public func convertedColumns() throws -> [ConvertedColumn] {
        try database.read { try ConvertedColumn.loadAll($0) }
    }
}
