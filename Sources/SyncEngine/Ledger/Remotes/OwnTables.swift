import CipherStore
import SyncWire

/// A table of another replica, as this store has it.
package struct FoundTable: Sendable {
    /// What it is called here; nil for a table that is not here.
    package let name: String?
    /// Its definition, with the names that tables have here.
    package let definition: SharedTable
}

/// Finds the tables of this store that definitions of another replica mean.
///
/// Either replica may have renamed a table. So the other names count, as they do in bundles: a name that is known here means what
/// has it, and what the first name doesn't say, the other names do.
struct OwnTables {
    private let db: Database
    private let tables: [Int64: SyncedTable]
    private let known: TableNames

    /// Reads what is known here.
    init(_ db: Database) throws {
        let all = try SyncedTable.loadAll(db)
        self.db = db
        tables = Dictionary(all.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        known = TableNames(all, try NameAliases(db))
    }

    /// What the table is called here that a definition means.
    ///
    /// - returns: nil for one that is not here.
    func name(of table: SharedTable) throws -> String? {
        let number = known.number(of: table.names)
        let own = number.flatMap { tables[$0] }
        if let own, own.isTracked { return try own.currentName(db) }
        // A table without triggers is known by nothing but its name.
        for name in table.names + (own.map { [$0.name] } ?? []) {
            guard known.number(of: [name]) == number || known.number(of: [name]) == nil else { continue }
            let found = try String.fetchOne(
                db,
                sql: "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE",
                arguments: [name])
            if let found { return found }
        }
        return nil
    }

    /// Finds tables, and gives their definitions the names of this store.
    ///
    /// - returns: One for each definition, in their order.
    func find(_ definitions: [SharedTable]) throws -> [FoundTable] {
        let names = try definitions.map { try name(of: $0) }
        var parents: [String: String] = [:]
        for case (let table, let name?) in zip(definitions, names)
        where !name.isSameIdentifier(as: table.name) {
            parents[table.name.identifierKey] = name
        }
        return zip(definitions, names).map { table, name in
            FoundTable(name: name, definition: table.renamed(to: name ?? table.name, parents: parents))
        }
    }

    /// Notes the names of a table of which something is known here, as far as they are new.
    ///
    /// Rows may wait under one of them, and peers may send more under another one.
    func noteNames(of table: SharedTable) throws {
        guard let number = known.number(of: table.names) else { return }
        for name in table.names where known.number(of: [name]) == nil {
            try NameAliases.add(db, name, ofTable: number, from: .united)
        }
    }
}
