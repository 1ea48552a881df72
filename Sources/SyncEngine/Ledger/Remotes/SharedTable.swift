import CipherStore
import SyncWire

/// How a table is made, for a new replica that gets some tables only: it can't begin from a copy of the file.
package struct SharedTable: Codable, Equatable, Sendable {
    /// The table's name.
    package let name: String
    /// The statements that make the table and its indexes.
    package let statements: [String]
    /// The other names of the table, which it had before, or has at others; nil for none, as older programs say it.
    package let otherNames: [String]?

    /// A table, by its name and other names.
    ///
    /// - parameters:
    ///     - name: The table's name.
    ///     - statements: The statements that make it and its indexes.
    ///     - otherNames: Its other names; none become nil.
    init(name: String, statements: [String], otherNames: [String]? = nil) {
        (self.name, self.statements) = (name, statements)
        self.otherNames = otherNames.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Its name, then its other names.
    package var names: [String] { [name] + (otherNames ?? []) }

    /// So many statements are carried out for one table.
    static let statementCountMax = 1000
    /// So long is each of them at most, in bytes.
    static let statementByteCountMax = 1 << 20

    /// Makes the table.
    ///
    /// - throws: ``SyncError`` of code `invalidBundle` for statements that do anything else.
    func create(_ db: Database) throws {
        try check()
        for statement in statements {
            // One statement; a second one after it is an error.
            try db.makeStatement(sql: statement).execute()
        }
    }

    private var implausible: SyncError {
        SyncError(.invalidBundle, "the definition of table \(name) can't be right")
    }

    /// Throws unless the names are some that a store takes in: a reserved one is that of a table here, too.
    ///
    /// - throws: ``SyncError`` of code `invalidBundle`.
    func checkNames() throws {
        guard names.count <= AdmissionLimits.tableCountMax,
            names.allSatisfy({
                !MetadataSchema.isReserved($0) && $0.utf8.count <= AdmissionLimits.nameByteCountMax
            })
        else { throw implausible }
    }

    /// Throws unless the statements make the table, and the names are some that a store takes in.
    ///
    /// - throws: ``SyncError`` of code `invalidBundle`.
    func check() throws {
        try checkNames()
        guard (1...Self.statementCountMax).contains(statements.count),
            statements.allSatisfy({ $0.utf8.count <= Self.statementByteCountMax })
        else { throw implausible }
        let makesIt = SharedDefinition(statements[0]).map { $0.makesTable(name) } ?? false
        let makesIndexes = statements.dropFirst().allSatisfy {
            SharedDefinition($0).map { $0.makesIndex(of: name) } ?? false
        }
        guard makesIt, makesIndexes else {
            throw SyncError(
                .invalidBundle, "the definition of table \(name) does something else than to make it")
        }
    }
}

extension SharedTable {
    /// How the tables of a store are made.
    ///
    /// - parameter numbers: The tables; nil for all that are tracked.
    static func loadAll(_ db: Database, numbers: [Int64]? = nil) throws -> [SharedTable] {
        // Metadata of version 1 have no other names, and a file that is only read stays at that version.
        let aliases = try db.tableExists("_sync_alias", in: "main") ? NameAliases(db) : nil
        return try SyncedTable.loadAll(db).filter { table in
            table.isTracked && numbers.map { $0.contains(table.number) } ?? true
        }.compactMap { table -> SharedTable? in
            let name = try table.currentName(db)
            let statements = try String.fetchAll(
                db,
                sql: """
                    SELECT sql FROM main.sqlite_master
                    WHERE type IN ('table', 'index') AND sql IS NOT NULL AND tbl_name = ? COLLATE NOCASE
                    ORDER BY type DESC, name
                    """, arguments: [name])
            // Another program dropped it.
            guard !statements.isEmpty else { return nil }
            let others = [table.name] + (aliases?.names(ofTable: table.number) ?? [])
            return SharedTable(
                name: name, statements: statements,
                otherNames: others.filter { !$0.isSameIdentifier(as: name) })
        }
    }

    /// The same table under other names: its own, and those of tables that it refers to.
    ///
    /// - parameters:
    ///     - own: What the table is to be called.
    ///     - parents: What other tables are called, by the keys of the names that the statements have.
    func renamed(to own: String, parents: [String: String]) -> SharedTable {
        let statements = statements.enumerated().map { offset, statement in
            var sql = SQLTokens(statement)
            // CREATE TABLE name; an index is compared with nothing.
            if offset == 0, sql.tokens.count > 2, !own.isSameIdentifier(as: name) {
                sql.replace(2, with: own.quotedDatabaseIdentifier)
            }
            for index in sql.tokens.indices.dropLast() where sql.tokens[index].isKeyword("references") {
                guard let parent = parents[sql.tokens[index + 1].text.identifierKey] else { continue }
                sql.replace(index + 1, with: parent.quotedDatabaseIdentifier)
            }
            return sql.isEdited ? sql.sql : statement
        }
        return SharedTable(name: own, statements: statements, otherNames: otherNames)
    }
}
