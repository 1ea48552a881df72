import CipherStore
import SyncWire

/// Which tables are exchanged with which remote.
struct ScopeStore {
    /// A remote without rows exchanges all tables. A table with rowids: of others, no observation of the
    /// database hears.
    static let schema = """
        CREATE TABLE _sync_scope (
            remote TEXT NOT NULL,
            tbl INTEGER NOT NULL,
            PRIMARY KEY (remote, tbl)
        );

        """

    let db: Database

    /// The tables of a remote by number; nil when all are exchanged.
    func tables(of remote: String) throws -> [Int64]? {
        // A store of an older program that nobody has written to yet.
        guard try db.tableExists("_sync_scope", in: "main") else { return nil }
        let tables = try Int64.fetchAll(
            db, sql: "SELECT tbl FROM _sync_scope WHERE remote = ? ORDER BY tbl", arguments: [remote])
        return tables.isEmpty ? nil : tables
    }

    /// The same by names: of each its name and its other names.
    func tableNames(of remote: String) throws -> [[String]]? {
        guard let numbers = try tables(of: remote) else { return nil }
        let aliases = try NameAliases(db)
        return try SyncedTable.loadAll(db).filter { numbers.contains($0.number) }.map {
            [$0.name] + aliases.names(ofTable: $0.number)
        }
    }

    func scope(of remote: String) throws -> SyncScope {
        var scope = SyncScope(tableNames: try tableNames(of: remote).map { $0.compactMap(\.first).sorted() })
        let chosen = Set((scope.tableNames ?? []).map { $0.identifierKey })
        for request in try RowRequest.loadAll(db) {
            guard let values = request.values, let table = request.partial.names.first,
                scope.tableNames == nil || chosen.contains(table.identifierKey)
            else { continue }
            scope = scope.rows(of: table, where: request.columns[0], in: values)
        }
        return scope
    }

    /// The tables that a choice names.
    ///
    /// - throws: ``SyncError`` of code `noSuchTable` for one that is not known or not tracked, or none.
    func resolve(_ names: [String]) throws -> [SyncedTable] {
        guard !names.isEmpty else { throw SyncError(.noSuchTable, "no table was chosen") }
        let tables = try SyncedTable.loadAll(db)
        return try names.map { name in
            let table = tables.first { $0.name.isSameIdentifier(as: name) && $0.place != .dropped }
            guard let table else {
                throw SyncError(
                    .noSuchTable,
                    try db.tableExists(name)
                        ? "table \(name) is not tracked, so it is exchanged with nobody"
                        : "there is no table \(name) here, and no replica has told of one")
            }
            return table
        }
    }

    /// The tables that are exchanged with anybody, when this replica holds some only: when each remote
    /// that it was ever synchronized with has a choice of its own.
    func heldTables() throws -> [Int64]? {
        let tables = try Int64.fetchAll(db, sql: "SELECT DISTINCT tbl FROM _sync_scope ORDER BY tbl")
        guard !tables.isEmpty else { return nil }
        return try hasMetWhole() ? nil : tables
    }

    /// Whether all tables were ever exchanged with somebody, in a synchronization that succeeded.
    func hasMetWhole() throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS(SELECT 1 FROM _sync_attempt AS a WHERE a.done IS NOT NULL
                    AND NOT EXISTS (SELECT 1 FROM _sync_scope AS s WHERE s.remote = a.name))
                """) ?? false
    }

    /// Tables outside of a choice that its tables refer to: rows whose parents are there stay hidden.
    func missingParents(of scope: SyncScope) throws -> [String] {
        guard let names = scope.tableNames else { return [] }
        let chosen = Set(names.map { $0.identifierKey })
        var missing: Set<String> = []
        for name in names where try db.tableExists(name) {
            for key in try db.foreignKeys(on: name) {
                let parent = key.destinationTable
                if !chosen.contains(parent.identifierKey) { missing.insert(parent) }
            }
        }
        return missing.sorted()
    }
}
