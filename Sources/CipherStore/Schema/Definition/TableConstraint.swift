/// The constraints that follow the columns of a table.
enum TableConstraint {
    struct UniqueKey {
        let columns: [String]
        let conflict: Database.ConflictResolution

        var sql: String {
            (["UNIQUE (\(columns.quotedList))"] + conflict.constraintClauses).joined(separator: " ")
        }
    }

    struct ForeignKey {
        let columns: [String]
        let table: String
        /// The columns of the other table; its primary key when nil.
        let destination: [String]?
        let options: ForeignKeyOptions

        func sql(_ db: Database, in context: TableContext) throws -> String {
            let destination = try destination ?? context.primaryKey(db, of: table)
            guard destination.count == columns.count else {
                throw DatabaseError(
                    resultCode: .SQLITE_ERROR,
                    message:
                        "a foreign key of \(columns.count) columns can't refer to \(destination.count) columns of table \(table)"
                )
            }
            let sql =
                "FOREIGN KEY (\(columns.quotedList)) REFERENCES \(table.quotedDatabaseIdentifier)(\(destination.quotedList))"
            return ([sql] + options.clauses).joined(separator: " ")
        }
    }
}
