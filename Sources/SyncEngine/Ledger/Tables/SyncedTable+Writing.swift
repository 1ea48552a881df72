import CipherStore

/// How `_sync_table` and `_sync_column` are written. Nothing else writes them.
extension SyncedTable {
    // MARK: Adding

    /// Adds a table to the metadata.
    static func register(
        _ db: Database, name: String, key: String, columns: [String], isTracked: Bool
    ) throws -> SyncedTable {
        try NameAliases.release(db, table: name)
        let place: Place = isTracked ? .tracked : .elsewhere
        try Self.write(
            db, sql: "INSERT INTO _sync_table (name, key, tracked) VALUES (?, ?, ?)",
            arguments: [name, key, place.rawValue])
        let number = db.lastInsertedRowID
        let table = SyncedTable(number: number, name: name, key: key, place: place, columns: [])
        return try table.addingColumns(db, columns, place: isTracked ? .table : .elsewhere)
    }

    /// Adds columns to the metadata of the table.
    ///
    /// - throws: ``SyncError`` of code `damagedMetadata` when it has the last number that a column can have.
    func addingColumns(_ db: Database, _ names: [String], place: Column.Place) throws -> SyncedTable {
        var columns = self.columns
        var last = max(columns.map(\.number).max() ?? -1, try ColumnNumbers.last(db, of: number))
        for name in names {
            // Any program may write the number that is counted from.
            guard last < Int.max else {
                throw SyncError(
                    .damagedMetadata,
                    "a column of table \(self.name) has the last number of all, so no other one can follow it"
                )
            }
            try NameAliases.release(db, column: name, of: number)
            last += 1
            let column = Column(number: last, name: name, place: place)
            try Self.write(
                db, sql: "INSERT INTO _sync_column (tbl, col, name, present) VALUES (?, ?, ?, ?)",
                arguments: [number, column.number, name, place.rawValue])
            columns.append(column)
        }
        assert(columns.count == self.columns.count + names.count)
        assert(columns.suffix(names.count).map(\.number).isOrdered(by: <), "two columns have one number")
        return SyncedTable(number: number, name: name, key: key, place: self.place, columns: columns)
    }

    // MARK: Where the rows are

    /// Notes where the rows of the table are from now on.
    func setPlace(_ db: Database, _ place: Place) throws {
        try Self.write(
            db, sql: "UPDATE _sync_table SET tracked = ? WHERE tbl = ?",
            arguments: [place.rawValue, number])
    }

    /// Notes that the user's table is there, and has triggers again.
    ///
    /// - parameter key: What it calls its key.
    func setTracked(_ db: Database, key: String) throws {
        try Self.write(
            db, sql: "UPDATE _sync_table SET tracked = 1, key = ? WHERE tbl = ?",
            arguments: [key, number])
    }

    /// Notes that the user made a table of which only peers had rows so far, and remembers the name that these use.
    ///
    /// - parameters:
    ///     - name: What it is called here.
    ///     - key: What it calls its key.
    func setTracked(_ db: Database, name: String, key: String) throws {
        try Self.write(
            db, sql: "UPDATE _sync_table SET tracked = 1, name = ?, key = ? WHERE tbl = ?",
            arguments: [name, key, number])
        try NameAliases.release(db, table: name)
        guard name.identifierKey != self.name.identifierKey else { return }
        try NameAliases.add(db, self.name, ofTable: number)
    }

    /// Notes that neither the table nor its columns are here any more. Their names and numbers stay, for peers.
    func setElsewhere(_ db: Database) throws {
        try Self.write(db, sql: "UPDATE _sync_table SET tracked = 0 WHERE tbl = ?", arguments: [number])
        try Self.write(db, sql: "UPDATE _sync_column SET present = 0 WHERE tbl = ?", arguments: [number])
    }

    /// Notes where the values of a column are from now on.
    func setPlace(_ db: Database, _ place: Column.Place, of column: Column) throws {
        try Self.write(
            db, sql: "UPDATE _sync_column SET present = ? WHERE tbl = ? AND col = ?",
            arguments: [place.rawValue, number, column.number])
    }

    // MARK: Names

    /// Gives the table another name, and remembers the one it had.
    func rename(_ db: Database, to name: String) throws {
        try Self.renameAll(db, [(table: self, name: name)]) { _, _ in }
    }

    /// Gives tables other names, which may be each other's old ones, and remembers those that they had.
    ///
    /// - parameter prepare: Called for each table before it gets its name, to make room for it.
    static func renameAll(
        _ db: Database, _ renamed: [(table: SyncedTable, name: String)],
        prepare: (_ table: SyncedTable, _ name: String) throws -> Void
    ) throws {
        guard !renamed.isEmpty else { return }
        let beginning = try Self.unusedBeginning(db, "SELECT name FROM _sync_table")
        for (table, _) in renamed { try table.setName(db, "\(beginning)\(table.number)") }
        for (table, name) in renamed {
            try prepare(table, name)
            try NameAliases.release(db, table: name)
            try table.setName(db, name)
        }
        for (table, name) in renamed where name.identifierKey != table.name.identifierKey {
            try NameAliases.add(db, table.name, ofTable: table.number)
        }
    }

    private func setName(_ db: Database, _ name: String) throws {
        try Self.write(db, sql: "UPDATE _sync_table SET name = ? WHERE tbl = ?", arguments: [name, number])
    }

    /// Gives the key another name. Nobody knows a key by its name, so the former one is not remembered.
    func renameKey(_ db: Database, to key: String) throws {
        try Self.write(db, sql: "UPDATE _sync_table SET key = ? WHERE tbl = ?", arguments: [key, number])
    }

    /// Gives a column another name, and remembers the one it had.
    func rename(_ db: Database, _ column: Column, to name: String) throws {
        try setName(db, of: column, name)
        guard name.identifierKey != column.name.identifierKey else { return }
        try NameAliases.add(db, column.name, ofColumn: column.number, in: number)
    }

    /// Gives columns other names, which may be each other's old ones, and remembers those that they had.
    ///
    /// - parameter prepare: Called for each column before it gets its name, to make room for it.
    func rename(
        _ db: Database, _ renamed: [(column: Column, name: String)],
        prepare: (_ column: Column, _ name: String) throws -> Void
    ) throws {
        guard !renamed.isEmpty else { return }
        let beginning = try Self.unusedBeginning(db, "SELECT name FROM _sync_column WHERE tbl = \(number)")
        for (column, _) in renamed {
            try Self.write(
                db, sql: "UPDATE _sync_column SET name = ? WHERE tbl = ? AND col = ?",
                arguments: ["\(beginning)\(column.number)", number, column.number])
        }
        for (column, name) in renamed {
            try prepare(column, name)
            try setName(db, of: column, name)
        }
        for (column, name) in renamed where name.identifierKey != column.name.identifierKey {
            try NameAliases.add(db, column.name, ofColumn: column.number, in: number)
        }
    }

    private func setName(_ db: Database, of column: Column, _ name: String) throws {
        try NameAliases.release(db, column: name, of: number)
        try Self.write(
            db, sql: "UPDATE _sync_column SET name = ? WHERE tbl = ? AND col = ?",
            arguments: [name, number, column.number])
    }

    /// What no name begins with, for names that stand only until all others are set. Peers name tables and columns as they
    /// like, so one character alone can be taken.
    private static func unusedBeginning(_ db: Database, _ names: String) throws -> String {
        let counts = try String.fetchAll(
            db, sql: "SELECT name FROM (\(names)) WHERE name >= char(1) AND name < char(2)"
        ).map { $0.utf8.prefix { $0 == 1 }.count }
        return String(repeating: "\u{1}", count: (counts.max() ?? 0) + 1)
    }

    // MARK: Forgetting

    /// Forgets the table, its columns and all their names.
    func remove(_ db: Database) throws {
        try Self.write(db, sql: "DELETE FROM _sync_table WHERE tbl = ?", arguments: [number])
        try Self.write(db, sql: "DELETE FROM _sync_column WHERE tbl = ?", arguments: [number])
        try NameAliases.remove(db, ofTable: number)
        try ColumnNumbers.forget(db, of: number)
        try LostColumns.forget(db, of: number)
    }

    /// Forgets a column. Its number is not given again.
    func remove(_ db: Database, column: Int) throws {
        try ColumnNumbers.keep(db, column, of: number)
        try Self.write(
            db, sql: "DELETE FROM _sync_column WHERE tbl = ? AND col = ?", arguments: [number, column])
    }

    /// Forgets tables.
    ///
    /// - parameter tables: A query that selects their numbers.
    /// - returns: How many there were.
    static func removeAll(_ db: Database, tables: String) throws -> Int64 {
        for table in try Int64.fetchAll(db, sql: tables) {
            try ColumnNumbers.forget(db, of: table)
            try LostColumns.forget(db, of: table)
        }
        try Self.write(db, sql: "DELETE FROM _sync_table WHERE tbl IN (\(tables))")
        return Int64(db.changesCount)
    }

    /// Forgets all columns of tables.
    ///
    /// - parameter tables: A query that selects their numbers.
    static func removeColumns(_ db: Database, ofTables tables: String) throws {
        try Self.write(db, sql: "DELETE FROM main._sync_column WHERE tbl IN (\(tables))")
    }

    /// Forgets columns. Their numbers are not given again.
    ///
    /// - parameter listed: A table that lists their numbers, as `tbl` and `col`.
    /// - returns: How many there were.
    static func removeColumns(_ db: Database, listed: String) throws -> Int64 {
        // Any program may write something else than a number, which is not given anyway.
        let numbers = """
            SELECT tbl, col FROM \(listed) WHERE typeof(tbl) = 'integer' AND typeof(col) = 'integer'
            """
        for row in try Row.fetchAll(db, sql: numbers) {
            try ColumnNumbers.keep(db, row.decode(atIndex: 1), of: row.decode(atIndex: 0))
        }
        try Self.write(
            db,
            sql: """
                DELETE FROM main._sync_column WHERE EXISTS (
                    SELECT 1 FROM \(listed) AS u WHERE u.tbl = _sync_column.tbl AND u.col = _sync_column.col)
                """)
        return Int64(db.changesCount)
    }

    /// Changes what the metadata say of tables or columns, which has to be held against the schema then.
    private static func write(
        _ db: Database, sql: String, arguments: StatementArguments = StatementArguments()
    ) throws {
        try SchemaMark(db: db).forget()
        try db.execute(sql: sql, arguments: arguments)
    }
}
