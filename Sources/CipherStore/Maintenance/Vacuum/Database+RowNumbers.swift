// SQLite's VACUUM numbers the rows of a table anew that has neither an INTEGER PRIMARY KEY nor an index. Full-text tables
// of the content of others know its rows by these numbers, and so does whatever looks up in an R*Tree. A table with an
// index keeps them, so each such table has one of no rows while VACUUM runs. A process that is killed leaves the index,
// which changes nothing, and never other numbers.

extension Database {
    /// What the names of the indexes begin with.
    private static let keeperPrefix = "_cipherstore_vacuum_"

    /// Rebuilds the database file in the smallest number of pages. Where there are virtual tables, all rows keep their
    /// numbers.
    ///
    /// - throws: A ``DatabaseError``; a `CancellationError`. The database has the same content then.
    package func vacuum() throws {
        try checkMayVacuum("VACUUM")
        // In a transaction, SQLite says what is wrong.
        guard !isInsideTransaction, try hasVirtualTables() else { return try execute(sql: "VACUUM") }
        guard DatabasePath(path).isFile else { return try vacuumKeepingRowNumbers() }
        // Another process that does the same must not lose its indexes.
        try FileReplacement.sharingFolder(
            of: filePath, whenAlone: removeKeepersOfKilledProcesses, vacuumKeepingRowNumbers)
    }

    private func vacuumKeepingRowNumbers() throws {
        let keepers = try makeKeepers()
        defer { removeKeepers(keepers) }
        try execute(sql: "VACUUM")
    }

    private func hasVirtualTables() throws -> Bool {
        let count = try Int.fetchOne(
            self,
            sql: """
                SELECT count(*) FROM main.sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%'
                """)
        return count != 0
    }

    /// Makes the indexes.
    ///
    /// - returns: Their names.
    private func makeKeepers() throws -> [String] {
        let operation = String(UInt64.random(in: 0...UInt64.max), radix: 16)
        var names: [String] = []
        try withoutReportingSchemaChanges {
            try inTransaction(.immediate) {
                for table in try tablesThatVacuumNumbersAnew() {
                    guard let column = try columns(in: table, in: "main").first else { continue }
                    let name = "\(Self.keeperPrefix)\(operation)_\(names.count)"
                    // The column's own collation may be one that the connection does not know.
                    try execute(
                        sql: """
                            CREATE INDEX main.\(name) ON \(table.quotedDatabaseIdentifier) \
                            (\(column.name.quotedDatabaseIdentifier) COLLATE BINARY) WHERE 0
                            """)
                    names.append(name)
                }
                return .commit
            }
        }
        return names
    }

    private func tablesThatVacuumNumbersAnew() throws -> [String] {
        let names = try String.fetchAll(
            self,
            sql: """
                SELECT name FROM main.sqlite_master AS t
                WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND NOT EXISTS (
                  SELECT 1 FROM main.sqlite_master AS i
                  WHERE i.type = 'index' AND i.tbl_name = t.name COLLATE NOCASE
                    AND substr(i.name, 1, \(Self.keeperPrefix.utf8.count)) <> '\(Self.keeperPrefix)')
                ORDER BY t.rowid
                """)
        return try names.filter { name in
            let key = try primaryKey(name, in: "main")
            return key.tableHasRowID && key.rowIDColumn == nil
        }
    }

    /// Removes what processes left that were killed in the middle.
    private func removeKeepersOfKilledProcesses() {
        let names = try? String.fetchAll(
            self,
            sql: """
                SELECT name FROM main.sqlite_master
                WHERE type = 'index' AND substr(name, 1, \(Self.keeperPrefix.utf8.count)) = '\(Self.keeperPrefix)'
                """)
        removeKeepers(names ?? [])
    }

    /// Removes the indexes, also when the task is cancelled. Those that stay do no harm, so a failure is not one of the caller.
    private func removeKeepers(_ names: [String]) {
        guard !names.isEmpty else { return }
        do {
            try protected {
                try withoutReportingSchemaChanges {
                    try inTransaction(.immediate) {
                        for name in names {
                            try execute(sql: "DROP INDEX IF EXISTS main.\(name.quotedDatabaseIdentifier)")
                        }
                        return .commit
                    }
                }
            }
        } catch {
            Self.log(error)
        }
    }
}
