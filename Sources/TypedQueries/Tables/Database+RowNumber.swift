import CipherStore

extension Database {
    /// Throws when the name by which the number of a table's rows is asked for is that of a column, which the table's type
    /// leaves out.
    ///
    /// - throws: A `DatabaseError` that names the column.
    func requireRowNumber(of table: any Table.Type, sql: String) throws {
        // What is no table in the schema, as a common one or a view, has the columns that it was given.
        guard let name = RowIDName.free(of: table.allColumnNames),
            try tableExists(table.tableName, in: table.schemaName),
            try columns(in: table.tableName, in: table.schemaName)
                .contains(where: { $0.name.isSameIdentifier(as: name) })
        else { return }
        let key = try primaryKey(table.tableName, in: table.schemaName).rowIDColumn
        if let key, key.isSameIdentifier(as: name) { return }
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: """
                the column "\(name)" of the table "\(table.tableName)" hides the number of a row: add a property for it \
                to the table's type, or choose rows by their key
                """, sql: sql)
    }
}
