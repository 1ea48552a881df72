import CipherStore
import SyncWire

/// Finds the rows that hold what another row claims in the UNIQUE indexes themselves.
///
/// That is the same as what ``UniqueRivals`` asks SQLite for, where each index is of columns, without a condition: a comparison of a
/// column with a value converts the value as storing it does, and compares by the collation that is named.
struct IndexedRivals {
    /// A column of an index.
    private struct Term {
        let name: String
        let sql: String
        /// Whether the column keeps integers, and texts of them, as floating-point numbers, to which a comparison does not
        /// convert them.
        let isReal: Bool
    }

    private let db: Database
    private let table: SyncedTable
    private let indexes: [[Term]]

    /// - returns: nil where an index has an expression, which can fail for a value, or a condition, or where a trigger of the user's
    ///   may change what is written.
    init?(_ db: Database, _ table: AppliedTable) throws {
        let name = table.table.storageName
        guard !table.hasUserTriggers, try Self.allIndexesAreOfColumns(db, name) else { return nil }
        let affinities = try ColumnAffinity.loadAll(db, table: name)
        var indexes: [[Term]] = []
        for key in try db.uniqueKeys(of: name, primaryKey: db.primaryKey(name, in: "main"), in: "main") {
            var terms: [Term] = []
            for term in key.terms {
                guard let column = term.column else { return nil }
                let collation = term.collation.map { " COLLATE \($0.quotedDatabaseIdentifier)" } ?? ""
                terms.append(
                    Term(
                        name: column.identifierKey, sql: column.quotedDatabaseIdentifier + collation,
                        isReal: affinities[column.identifierKey].map { $0 == .real } ?? true))
            }
            guard key.condition == nil, !terms.isEmpty else { return nil }
            indexes.append(terms)
        }
        self.db = db
        self.table = table.table
        self.indexes = indexes
    }

    private static func allIndexesAreOfColumns(_ db: Database, _ table: String) throws -> Bool {
        for index in try Row.fetchAll(db, sql: "PRAGMA main.index_list(\(table.quotedDatabaseIdentifier))") {
            let name: String = try index.decode(forColumn: "name")
            let terms = try Row.fetchAll(
                db, sql: "PRAGMA main.index_xinfo(\(name.quotedDatabaseIdentifier))")
            // An expression has no column: -2.
            guard try index.decode(Int.self, forColumn: "partial") == 0,
                try terms.allSatisfy({ try $0.decode(Int.self, forColumn: "cid") > -2 })
            else { return false }
        }
        return true
    }

    /// Returns the keys of the rows that are in the way of a row that is not in the table.
    ///
    /// - returns: nil when only SQLite can tell: a column has its default, or stores another value than is given.
    func rivals(_ key: RowKey, _ values: [(name: String, value: WireValue)]) throws -> [OwnedValue]? {
        var given = [table.key.identifierKey: key.value]
        for (name, value) in values { given[name.identifierKey] = value }
        var found: [OwnedValue] = []
        for index in indexes {
            var parameters: [WireValue] = []
            for term in index {
                guard let value = given[term.name] else { return nil }
                switch value {
                case .integer, .text: if term.isReal { return nil }
                default: break
                }
                parameters.append(value)
            }
            // NULL is different from every other value.
            if parameters.contains(where: { if case .null = $0 { true } else { false } }) { continue }
            for rival in try rows(index, parameters)
            where !found.contains(where: { RowKey($0.value).isSame(as: RowKey(rival.value)) }) {
                found.append(rival)
            }
        }
        return found.filter { !RowKey($0.value).isSame(as: key) }
    }

    private func rows(_ index: [Term], _ parameters: [WireValue]) throws -> [OwnedValue] {
        let conditions = index.enumerated().map { "\($1.sql) = ?\($0 + 1)" }.joined(separator: " AND ")
        let statement = try db.cachedStatement(
            sql:
                "SELECT \(table.key.quotedDatabaseIdentifier) FROM \(table.qualifiedName) WHERE \(conditions)"
        )
        defer { statement.reset() }
        statement.reset()
        for (position, value) in parameters.enumerated() {
            try value.bind(to: statement, CInt(position + 1))
        }
        var found: [OwnedValue] = []
        while try statement.step() {
            found.append(OwnedValue(copying: WireValue(statement.sqliteStatement, 0)))
        }
        return found
    }
}
