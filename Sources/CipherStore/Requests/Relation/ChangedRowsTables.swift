/// The temporary tables of a connection in which rows wait that the engine can't return from a
/// change.
struct ChangedRowsTables {
    fileprivate struct Table {
        let name: String
        /// The statement that reads it. Without one, nobody will.
        weak var reader: Statement?
    }

    fileprivate var tables: [Table] = []
    private var count = 0

    /// Returns a name that no other table of the connection has.
    mutating func newName() -> String {
        count += 1
        return "_cipherstore_rows_\(count)"
    }
}

extension Database {
    /// Remembers a table that was created, and the statement that is to read it.
    func keepChangedRows(_ name: String, for reader: Statement?) {
        changedRowsTables.tables.append(ChangedRowsTables.Table(name: name, reader: reader))
    }

    /// Drops the tables that no statement will read.
    ///
    /// SQLite refuses it while any statement is being read. They stay until the next time then.
    func dropChangedRows() throws {
        let tables = changedRowsTables.tables
        changedRowsTables.tables = []
        for table in tables {
            if table.reader == nil {
                do {
                    try execute(sql: "DROP TABLE IF EXISTS temp.\(table.name)")
                    continue
                } catch let error as DatabaseError where error.resultCode == .SQLITE_LOCKED {}
            }
            changedRowsTables.tables.append(table)
        }
    }
}
