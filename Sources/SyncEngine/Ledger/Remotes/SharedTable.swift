import CipherStore
import SyncWire

/// How a table is made, for a new replica that gets some tables only: it can't begin from a copy of the file.
package struct SharedTable: Codable, Equatable, Sendable {
    /// The table's name.
    package let name: String
    /// The statements that make the table and its indexes.
    package let statements: [String]

    /// So many statements are carried out for one table.
    static let statementCountMax = 1000
    /// So long is each of them at most, in bytes.
    static let statementByteCountMax = 1 << 20

    /// Makes the table.
    ///
    /// - throws: ``SyncError`` of code `invalidBundle` for statements that do anything else.
    func create(_ db: Database) throws {
        guard (1...Self.statementCountMax).contains(statements.count), !MetadataSchema.isReserved(name),
            statements.allSatisfy({ $0.utf8.count <= Self.statementByteCountMax })
        else { throw SyncError(.invalidBundle, "the definition of table \(name) can't be right") }
        let makesIt = SharedDefinition(statements[0]).map { $0.makesTable(name) } ?? false
        let makesIndexes = statements.dropFirst().allSatisfy {
            SharedDefinition($0).map { $0.makesIndex(of: name) } ?? false
        }
        guard makesIt, makesIndexes else {
            throw SyncError(
                .invalidBundle, "the definition of table \(name) does something else than to make it")
        }
        for statement in statements {
            // One statement; a second one after it is an error.
            try db.makeStatement(sql: statement).execute()
        }
    }
}

extension SharedTable {
    /// How the tables of a store are made.
    ///
    /// - parameter numbers: The tables; nil for all that are tracked.
    static func loadAll(_ db: Database, numbers: [Int64]? = nil) throws -> [SharedTable] {
        try SyncedTable.loadAll(db).filter { table in
            table.isTracked && numbers.map { $0.contains(table.number) } ?? true
        }.map { table in
            let statements = try String.fetchAll(
                db,
                sql: """
                    SELECT sql FROM main.sqlite_master
                    WHERE type IN ('table', 'index') AND sql IS NOT NULL AND tbl_name = ? COLLATE NOCASE
                    ORDER BY type DESC, name
                    """, arguments: [table.name])
            return SharedTable(name: table.name, statements: statements)
        }
    }
}
