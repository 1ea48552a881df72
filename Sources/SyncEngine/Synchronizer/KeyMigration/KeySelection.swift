import CipherStore

/// The tables that get new keys, and what their keys are so far.
struct KeySelection {
    /// What a key is.
    enum Kind: Equatable {
        case column(String)
        case columns
        case rowid
    }

    let schema: ConversionSchema
    /// By the key of the table's name.
    private(set) var kinds: [String: Kind] = [:]
    /// The collations of the key's columns, by the key of the table's name.
    private(set) var collations: [String: [String]] = [:]
    /// Tables that have UUIDs already.
    private(set) var unchanged: [String] = []
    private(set) var refusals: [String] = []

    init(db: Database, schema: ConversionSchema, migration: UUIDKeyMigration) throws {
        self.schema = schema
        guard let names = migration.tables else {
            for table in schema.tables.values.sorted(by: { $0.name < $1.name }) { try add(db, table) }
            return
        }
        for name in names {
            if let table = schema.table(name) {
                try add(db, table)
            } else if schema.virtualTables[name.identifierKey] != nil {
                refusals.append("\(name) is a virtual table")
            } else if try db.viewExists(name) {
                refusals.append("\(name) is a view")
            } else if try db.tableExists(name) {
                refusals.append("table \(name) belongs to the library, or to a virtual table")
            } else {
                throw SyncError(.noSuchTable, "there is no table \(name)")
            }
        }
    }

    private mutating func add(_ db: Database, _ table: ConversionSchema.Table) throws {
        let key = table.name.identifierKey
        guard kinds[key] == nil, !unchanged.contains(where: table.name.isSameIdentifier) else { return }
        if try hasUUIDs(db, table) {
            unchanged.append(table.name)
            return
        }
        switch table.key.count {
        case 0: kinds[key] = .rowid
        case 1: kinds[key] = .column(table.key[0])
        default: kinds[key] = .columns
        }
        let names = try collations(db, table)
        collations[key] = names
        for name in names where !["BINARY", "NOCASE", "RTRIM"].contains(name.uppercased()) {
            refusals.append(
                """
                the key of table \(table.name) has the collation \(name) of an app, which nobody else knows: two devices \
                would not agree which keys are equal
                """)
        }
        if kinds[key] == .rowid && table.rowIDName == nil {
            refusals.append(
                "the rowids of table \(table.name), which has no key, can't be read: columns have all their names"
            )
        }
    }

    /// Whether the key is one column with UUIDs in all rows.
    ///
    /// A table without rows has one if its type is none of numbers.
    private func hasUUIDs(_ db: Database, _ table: ConversionSchema.Table) throws -> Bool {
        guard table.key.count == 1, !table.isRowIDKey, let column = table.column(table.key[0]),
            [.text, .blob].contains(ColumnAffinity(type: column.type))
        else { return false }
        let isUUID = TableDefinition.isUUID(column.name.quotedDatabaseIdentifier)
        return try Bool.fetchOne(
            db,
            sql: """
                SELECT NOT EXISTS(SELECT 1 FROM main.\(table.name.quotedDatabaseIdentifier) WHERE NOT coalesce(\(isUUID), 0))
                """) == true
    }

    private func collations(_ db: Database, _ table: ConversionSchema.Table) throws -> [String] {
        guard !table.isRowIDKey, !table.key.isEmpty else { return [] }
        let list = try Row.fetchAll(
            db, sql: "PRAGMA main.index_list(\(table.name.quotedDatabaseIdentifier))")
        guard let index = try list.first(where: { try $0.decode(String.self, forColumn: "origin") == "pk" })
        else { return [] }
        let name: String = try index.decode(forColumn: "name")
        return try Row.fetchAll(db, sql: "PRAGMA main.index_xinfo(\(name.quotedDatabaseIdentifier))")
            .prefix(table.key.count).map { try $0.decode(String?.self, forColumn: "coll") ?? "BINARY" }
    }
}

/// Which columns hold keys of which tables.
///
/// A column holds the keys of a table if it is its key, or refers, by however many
/// steps, to a column that does.
struct KeyDomains {
    /// The tables of a column's values, by table and column, all by the keys of their names.
    private var domains: [String: [String: Set<String>]] = [:]
    private(set) var refusals: [String] = []

    private struct Edge {
        let child: String
        let from: String
        let parent: String
        let to: String
    }

    init(schema: ConversionSchema, selection: KeySelection, migration: UUIDKeyMigration) {
        let edges = edges(schema, migration)
        var pending: [(table: String, column: String)] = []
        for (table, kind) in selection.kinds {
            guard case .column(let name) = kind else { continue }
            let column = name.identifierKey
            let refersElsewhere = edges.contains {
                $0.child == table && $0.from == column && $0.parent != table
                    && schema.tables[$0.parent] != nil
            }
            if refersElsewhere {
                pending.append((table, column))
            } else {
                domains[table, default: [:]][column] = [table]
            }
        }
        var isComplete = false
        while !isComplete {
            isComplete = true
            for edge in edges {
                guard let values = domains[edge.parent]?[edge.to] else { continue }
                let known = domains[edge.child]?[edge.from] ?? []
                guard !values.isSubset(of: known) else { continue }
                domains[edge.child, default: [:]][edge.from] = known.union(values)
                isComplete = false
            }
        }
        check(pending, schema, edges)
    }

    private func edges(_ schema: ConversionSchema, _ migration: UUIDKeyMigration) -> [Edge] {
        let declared = schema.tables.values.flatMap { table in
            table.references.flatMap { reference in
                reference.columns.map {
                    Edge(
                        child: table.name.identifierKey, from: $0.from.identifierKey,
                        parent: reference.parent.identifierKey, to: $0.to.identifierKey)
                }
            }
        }
        let others = migration.references.compactMap { reference -> Edge? in
            guard let key = schema.table(reference.parent)?.key, key.count == 1 else { return nil }
            return Edge(
                child: reference.table.identifierKey, from: reference.column.identifierKey,
                parent: reference.parent.identifierKey, to: key[0].identifierKey)
        }
        return declared + others
    }

    private mutating func check(
        _ pending: [(table: String, column: String)], _ schema: ConversionSchema, _ edges: [Edge]
    ) {
        for (table, columns) in domains.sorted(by: { $0.key < $1.key }) {
            for (column, values) in columns.sorted(by: { $0.key < $1.key }) where values.count > 1 {
                let list = values.sorted().map { schema.tables[$0]?.name ?? $0 }.joined(separator: " and ")
                let name = schema.tables[table]?.columns.map(\.name).first { $0.identifierKey == column }
                refusals.append(
                    "column \(schema.tables[table]?.name ?? table).\(name ?? column) holds keys of \(list), which differ from now on"
                )
            }
        }
        for (table, column) in pending.sorted(by: { $0.table < $1.table })
        where domains[table]?[column] == nil {
            let parents = Set(edges.filter { $0.child == table && $0.from == column }.map(\.parent)).sorted()
            refusals.append(
                """
                the key of table \(schema.tables[table]?.name ?? table) refers to \
                \(parents.map { schema.tables[$0]?.name ?? $0 }.joined(separator: " and ")): convert that, too
                """)
        }
    }

    /// The tables whose keys the columns of a table hold, both by the keys of their names.
    func columns(of table: ConversionSchema.Table) -> [String: String] {
        (domains[table.name.identifierKey] ?? [:]).compactMapValues { $0.min() }
    }
}
