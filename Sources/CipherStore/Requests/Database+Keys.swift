// What requests ask about tables.

extension Database {
    /// The columns that find a row fastest: the rowid by its name, or the primary
    /// key of a table that has none.
    func fastPrimaryKeyColumns(of table: String) throws -> [String] {
        let key = try primaryKey(table)
        if let column = key.rowIDColumn { return [column] }
        return key.tableHasRowID ? ["rowid"] : key.columns
    }

    /// The primary key of a table, or of a view that has one.
    func existingPrimaryKey(of name: String) throws -> PrimaryKeyInfo? {
        if try !tableExists(name), try viewExists(name), schemaSource == nil { return nil }
        do {
            return try primaryKey(name)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return nil
        }
    }

    /// The names of the columns of a table or view, in order.
    func columnNames(of table: String) throws -> [String] {
        try columns(in: table).map(\.name)
    }
}
