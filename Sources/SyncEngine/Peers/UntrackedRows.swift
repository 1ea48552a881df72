import CipherStore
import SyncWire

/// Rows that came into tracked tables while nothing tracked them, so that they have no versions: nobody
/// is sent them, and nothing that compares versions sees them.
struct UntrackedRows {
    let store: FoldedStore

    private var db: Database { store.db }

    /// The rows that are without a version though the log has none of them.
    func find() throws -> [Divergence.Table] {
        return try tables().compactMap { table in
            let key = table.key.quotedDatabaseIdentifier
            let keys = try DatabaseValue.fetchAll(
                db, sql: "SELECT \(key) FROM \(table.qualifiedName) WHERE \(condition(table)) ORDER BY 1")
            let found = keys.compactMap { key -> StateRowKey? in
                switch key.storage {
                case .string(let text): StateRowKey(bytes: Array(text.utf8), isText: true)
                case .blob(let data): StateRowKey(bytes: Array(data), isText: false)
                default: nil
                }
            }
            return found.isEmpty ? nil : Divergence.Table(name: table.name, keys: found)
        }
    }

    /// Takes them for inserted now.
    func adopt() throws {
        let tracking = TableTracking(db: db, environment: store.environment)
        for table in try tables() {
            try tracking.log(table, ChangeLog.Operation.insert, mask: 0, where: condition(table))
        }
        try FoldedStore.fold(db, store.environment)
    }

    private func tables() throws -> [SyncedTable] {
        try SyncedTable.loadAll(db).filter { try $0.isTracked && db.tableExists($0.name) }
    }

    private func condition(_ table: SyncedTable) -> String {
        let key = table.qualifiedKey
        return """
            \(TableDefinition.isUUID(key)) AND NOT EXISTS (
                SELECT 1 FROM _sync_row AS r WHERE r.tbl = \(table.number) AND r.pk = \(table.untypedKey()) AND r.cl & 1)
            """
    }
}

extension Divergence {
    /// Adds rows that were found in another way.
    mutating func add(_ found: [Table]) {
        for table in found {
            guard let index = tables.firstIndex(where: { $0.name.isSameIdentifier(as: table.name) }) else {
                tables.append(table)
                continue
            }
            let keys = Set(tables[index].keys).union(table.keys).sorted()
            tables[index] = Table(name: table.name, keys: keys)
        }
    }
}
