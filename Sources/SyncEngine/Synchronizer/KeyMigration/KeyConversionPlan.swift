import CipherStore
import SyncWire

/// What a conversion does, in detail.
struct KeyConversionPlan {
    /// A table that changes.
    struct ConvertedTable {
        let table: ConversionSchema.Table
        let origin: UUIDKeyPlan.Origin
        /// The tables whose keys columns hold, both by the keys of their names.
        let domains: [String: String]
        /// The column that is added for the new key.
        let newKey: String?
        /// The column that is added for the old key, and its type.
        let oldKey: (name: String, type: String)?
        let rowCount: Int64

        /// The columns whose values change, as they are called, in order.
        var convertedColumns: [String] {
            table.columns.map(\.name).filter { domains[$0.identifierKey] != nil }
        }
    }

    let schema: ConversionSchema
    /// In the order of their creation.
    let tables: [ConvertedTable]
    /// What derives the keys, by the key of the table's name.
    let derivations: [String: KeyDerivationRule]
    let summary: UUIDKeyPlan

    /// How many keys are derived.
    var keyCount: Int64 {
        tables.reduce(0) { sum, table in
            sum + table.rowCount * Int64(table.convertedColumns.count + (table.newKey == nil ? 0 : 1))
        }
    }
}

/// Plans a conversion, and finds what stands against it.
struct KeyConversionPlanner {
    let db: Database
    let migration: UUIDKeyMigration

    func plan() throws -> KeyConversionPlan {
        let metadata = try StoreMetadata.load(db)
        guard let namespace = migration.namespace ?? metadata?.store else {
            throw SyncError(
                .keysNotConvertible,
                """
                the database is no store yet, so nothing says what its copies have in common: give a namespace that all \
                copies of it get, and no other database
                """)
        }
        let schema = try ConversionSchema(db)
        let selection = try KeySelection(db: db, schema: schema, migration: migration)
        let domains = KeyDomains(schema: schema, selection: selection, migration: migration)
        var refusals = selection.refusals + domains.refusals
        let salt = try migration.salt ?? metadata.map { try $0.replicaID().bytes } ?? []
        if !migration.rowsOfThisDevice.isEmpty && salt.isEmpty {
            refusals.append("the rows of this device need a salt that no other device has")
        }
        refusals += unknownOwnRows(selection) + unknownReferences(schema, selection)
        var tables: [KeyConversionPlan.ConvertedTable] = []
        for table in try ordered(schema) {
            guard let converted = try converted(table, selection, domains, &refusals) else { continue }
            tables.append(converted)
        }
        refusals += try EqualKeys(db: db, tables: tables).refusals()
        refusals += try VirtualTableContents(schema: schema).refusals(tables.map(\.table))
        if metadata != nil { refusals += try ParkedReferences(db: db, tables: tables).refusals() }
        guard refusals.isEmpty else {
            throw SyncError(
                .keysNotConvertible,
                (["the keys can't be converted; nothing was changed:"] + refusals).joined(separator: "\n"))
        }
        let derivations = try derivations(selection, namespace, salt)
        let dependents = try KeyDependents(db: db, schema: schema, tables: tables).all()
        let summary = UUIDKeyPlan(
            namespace: namespace, tables: try tables.map(summary), unchangedTables: selection.unchanged,
            dangling: try dangling(tables), dependents: dependents)
        return KeyConversionPlan(schema: schema, tables: tables, derivations: derivations, summary: summary)
    }

    private func ordered(_ schema: ConversionSchema) throws -> [ConversionSchema.Table] {
        try String.fetchAll(
            db, sql: "SELECT name FROM main.sqlite_master WHERE type = 'table' ORDER BY rowid"
        )
        .compactMap(schema.table)
    }

    private func unknownOwnRows(_ selection: KeySelection) -> [String] {
        migration.rowsOfThisDevice.keys.sorted().compactMap { name in
            switch selection.kinds[name.identifierKey] {
            case .column: nil
            case nil: "rows of this device are given for table \(name), whose key is not converted"
            case .columns, .rowid:
                "rows of this device are given for table \(name), whose key is no integer column"
            }
        }
    }

    private func unknownReferences(_ schema: ConversionSchema, _ selection: KeySelection) -> [String] {
        migration.references.compactMap { reference in
            let name = "\(reference.table).\(reference.column)"
            guard schema.table(reference.table)?.column(reference.column) != nil else {
                return "there is no column \(name), which is said to refer to \(reference.parent)"
            }
            guard case .column? = selection.kinds[reference.parent.identifierKey] else {
                return
                    "column \(name) is said to refer to \(reference.parent), which is no table whose one key column is converted"
            }
            return nil
        }
    }

    private func converted(
        _ table: ConversionSchema.Table, _ selection: KeySelection, _ domains: KeyDomains,
        _ refusals: inout [String]
    ) throws -> KeyConversionPlan.ConvertedTable? {
        let kind = selection.kinds[table.name.identifierKey]
        let own = domains.columns(of: table)
        let refersToFormerKey = table.references.contains {
            $0.isImplicit && selection.kinds[$0.parent.identifierKey] == .columns
        }
        guard kind != nil || !own.isEmpty || refersToFormerKey else { return nil }
        for column in table.columns where column.isGenerated && own[column.name.identifierKey] != nil {
            refusals.append("column \(table.name).\(column.name) is generated, and a foreign key")
        }
        if TableText(table.sql) == nil {
            refusals.append("the definition of table \(table.name) can't be read")
        }
        let origin: UUIDKeyPlan.Origin =
            switch kind {
            case .column(let name):
                own[name.identifierKey] == table.name.identifierKey ? .column : .shared
            case .columns: .columns
            case .rowid: .rowid
            case nil: .kept
            }
        var newKey: String?
        if origin == .columns || origin == .rowid {
            newKey = [migration.newKeyColumn, "uuid"].first { table.column($0) == nil }
            if newKey == nil {
                refusals.append(
                    "table \(table.name) has columns \(migration.newKeyColumn) and uuid already; name another one for its key"
                )
            }
        }
        let oldKey = try oldKey(table, origin, &refusals)
        let count = try Int64.fetchOne(
            db, sql: "SELECT count(*) FROM main.\(table.name.quotedDatabaseIdentifier)")
        return .init(
            table: table, origin: origin, domains: own, newKey: newKey, oldKey: oldKey, rowCount: count ?? 0)
    }

    private func oldKey(
        _ table: ConversionSchema.Table, _ origin: UUIDKeyPlan.Origin, _ refusals: inout [String]
    ) throws -> (name: String, type: String)? {
        guard try migration.keepsOldKeys || isKeyData(table, origin) else { return nil }
        let key: (name: String, type: String)
        switch origin {
        case .column, .shared:
            guard let column = table.key.first.flatMap(table.column) else { return nil }
            key = ("old_" + column.name, column.type)
        case .rowid: key = ("old_rowid", "INTEGER")
        case .columns, .kept: return nil
        }
        if table.column(key.name) != nil {
            refusals.append(
                "table \(table.name) has a column \(key.name) already, so its old key can't be kept there")
        }
        return key
    }

    /// Whether the old key may mean something. A number means nothing but the row; a text may mean something.
    private func isKeyData(_ table: ConversionSchema.Table, _ origin: UUIDKeyPlan.Origin) throws -> Bool {
        guard origin == .column, let column = table.key.first.flatMap(table.column) else { return false }
        guard ColumnAffinity(type: column.type) == .integer else { return true }
        // Only the rowid by another name refuses what is no integer. Any other column keeps it as it is.
        guard !table.isRowIDKey else { return false }
        return try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS(SELECT 1 FROM main.\(table.name.quotedDatabaseIdentifier)
                    WHERE typeof(\(column.name.quotedDatabaseIdentifier)) NOT IN ('integer', 'null'))
                """) == true
    }

    private func derivations(
        _ selection: KeySelection, _ namespace: StoreID, _ salt: [UInt8]
    ) throws -> [String: KeyDerivationRule] {
        var rules: [String: KeyDerivationRule] = [:]
        let ownRows = Dictionary(
            migration.rowsOfThisDevice.map { ($0.key.identifierKey, $0.value) }, uniquingKeysWith: min)
        for (key, kind) in selection.kinds {
            guard let table = selection.schema.tables[key] else { continue }
            var affinity = ColumnAffinity.blob
            if case .column(let name) = kind {
                affinity = ColumnAffinity(type: table.column(name)?.type ?? "")
            }
            rules[key] = KeyDerivationRule(
                derived: DerivedKey(namespace: namespace, table: table.name), affinity: affinity,
                collations: selection.collations[key] ?? [],
                form: migration.keyForm, lastShared: ownRows[key], salt: salt)
        }
        return rules
    }

    private func summary(_ table: KeyConversionPlan.ConvertedTable) throws -> UUIDKeyPlan.Table {
        let key = table.origin == .kept ? nil : table.newKey ?? table.table.key.first
        var last: Int64?
        if table.origin == .column, let key = table.table.key.first {
            let quoted = key.quotedDatabaseIdentifier
            last = try Int64.fetchOne(
                db,
                sql: """
                    SELECT max(\(quoted)) FROM main.\(table.table.name.quotedDatabaseIdentifier)
                    WHERE typeof(\(quoted)) = 'integer'
                    """)
        }
        return UUIDKeyPlan.Table(
            name: table.table.name, origin: table.origin, keyColumn: key, oldKeyColumn: table.oldKey?.name,
            references: table.convertedColumns.filter {
                table.domains[$0.identifierKey] != table.table.name.identifierKey
                    || !(table.origin == .column && table.table.key.first?.isSameIdentifier(as: $0) == true)
            }, rowCount: table.rowCount, lastOldKey: last)
    }

    /// Counts the rows that refer to nothing, by table and parent.
    private func dangling(_ tables: [KeyConversionPlan.ConvertedTable]) throws -> [UUIDKeyPlan.Dangling] {
        try ForeignKeyViolations(db: db, tables: tables.map(\.table.name)).counts
    }
}

/// The rows that violate foreign keys.
struct ForeignKeyViolations {
    let counts: [UUIDKeyPlan.Dangling]

    init(db: Database, tables: [String]) throws {
        var counts: [UUIDKeyPlan.Dangling] = []
        for table in tables {
            var parents: [String: (name: String, count: Int64)] = [:]
            do {
                let sql = "PRAGMA main.foreign_key_check(\(table.quotedDatabaseIdentifier))"
                let rows = try Row.fetchCursor(db, sql: sql)
                while let row = try rows.next() {
                    let name = try row.decode(String.self, atIndex: 2)
                    parents[name.identifierKey, default: (name.foldedIdentifier, 0)].count += 1
                }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                throw SyncError(
                    .keysNotConvertible,
                    """
                    the foreign keys of table \(table) can't be checked: \(error.message ?? "they match no key"); the \
                    columns they refer to must be a primary key or have a UNIQUE index
                    """)
            }
            counts += parents.sorted { $0.key < $1.key }.map {
                UUIDKeyPlan.Dangling(table: table, parent: $0.value.name, rowCount: $0.value.count)
            }
        }
        self.counts = counts
    }
}

/// The full-text tables that are indexes of ordinary tables, by rowid.
struct VirtualTableContents {
    let schema: ConversionSchema

    func refusals(_ tables: [ConversionSchema.Table]) throws -> [String] {
        schema.virtualTables.sorted { $0.key < $1.key }.compactMap { _, made in
            let tokens = SQLTokens(made.sql).tokens
            guard
                let index = tokens.indices.dropLast(2).first(where: {
                    tokens[$0].isName("content") && tokens[$0 + 1].isSymbol("=")
                }), let table = tables.first(where: { $0.name.isSameIdentifier(as: tokens[index + 2].text) })
            else { return nil }
            return """
                full-text table \(made.name) is an index of table \(table.name) by its integer rowid, which a UUID key does \
                not keep; drop it, convert, and make it anew with a column for the key
                """
        }
    }
}
