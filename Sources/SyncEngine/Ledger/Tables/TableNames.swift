import CipherStore
import SyncWire

/// Finds tables by the names that other replicas use, as ``NameMatching`` does.
struct TableNames {
    private var own: [String: Int64] = [:]
    private var others: [String: Int64] = [:]

    init(_ tables: [SyncedTable], _ aliases: NameAliases) {
        for table in tables { own[table.name.identifierKey] = table.number }
        for (table, column, name) in aliases.all where column == nil { others[name.identifierKey] = table }
    }

    /// The names of all tables.
    init(_ db: Database) throws { self.init(try SyncedTable.loadAll(db), try NameAliases(db)) }

    /// The number of a table, by its name and its other names.
    func number(of names: [String]) -> Int64? {
        for name in names {
            let key = name.identifierKey
            if let number = own[key] ?? others[key] { return number }
        }
        return nil
    }
}

extension TransferRequest {
    /// What the receiver knows of tables of which it knows something else than of all, by their numbers here.
    func knownOfTables(_ names: TableNames) -> [Int64: VersionVector] {
        var known: [Int64: VersionVector] = [:]
        for part in parts {
            for number in part.tables.compactMap(names.number) {
                known[number, default: base].join(part.target)
            }
        }
        return known
    }
}
