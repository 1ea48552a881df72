/// How names are resolved, and facts read from SQLite into the cache.
extension Database {
    /// The rows of a query on the schema.
    ///
    /// All questions of the library go through here. They are not traced, because
    /// when they are asked depends on what is cached, and is nobody's concern.
    func schemaRows(_ sql: String) throws -> [Row] {
        try withoutTracing { try Row.fetchAll(self, sql: sql) }
    }

    /// The schemas of the connection, in the order in which SQLite looks a name up.
    func schemaIDs() throws -> [DatabaseSchemaID] {
        noticeSchemaChange()
        if let schemaIDs = schemaCache.schemaIDs { return schemaIDs }
        let names = try schemaRows("PRAGMA database_list").map {
            DatabaseSchemaID(try $0.decode(atIndex: 1))
        }
        // The temporary schema is listed once it is used.
        let ids = names.filter { $0 == .temp } + names.filter { $0 != .temp }
        schemaCache.schemaIDs = ids
        return ids
    }

    /// The schemas where an object can be.
    func schemaIDs(named name: String?) throws -> [DatabaseSchemaID] {
        guard let name else { return try schemaIDs() }
        return [try schemaID(name)]
    }

    /// The schema of a name.
    func schemaID(_ name: String) throws -> DatabaseSchemaID {
        let id = DatabaseSchemaID(name)
        if id == .temp { return id }
        guard let known = try schemaIDs().first(where: { $0 == id }) else {
            throw DatabaseError.noSuchSchema(name)
        }
        return known
    }

    /// Finds an object, first in the temporary schema, then in main, then in attached ones.
    func find(
        _ kind: SchemaObjects.Kind, _ name: String, in schemaName: String? = nil
    ) throws -> DatabaseObjectID? {
        for schemaID in try schemaIDs(named: schemaName) {
            if let name = try objects(of: schemaID).name(kind, name) {
                return DatabaseObjectID(schemaID: schemaID, name: name)
            }
        }
        // The table of the schema is not in itself.
        guard kind == .table, ["sqlite_master", "sqlite_schema"].contains(name.foldedIdentifier) else {
            return nil
        }
        return DatabaseObjectID(schemaID: try schemaName.map(schemaID) ?? .main, name: name)
    }

    /// Finds a table or a view.
    func findTableOrView(_ name: String, in schemaName: String? = nil) throws -> DatabaseObjectID {
        for schemaID in try schemaIDs(named: schemaName) {
            let objects = try objects(of: schemaID)
            if let name = objects.name(.table, name) ?? objects.name(.view, name) {
                return DatabaseObjectID(schemaID: schemaID, name: name)
            }
        }
        throw DatabaseError.noSuchTable(name)
    }

    /// The names of the objects of a schema.
    func objects(of schemaID: DatabaseSchemaID) throws -> SchemaObjects {
        if let objects = schemaCache[schemaID].objects { return objects }
        var objects = SchemaObjects()
        // The version comes first: a change that comes in between makes the names stale, not fresh.
        let version = schemaID == .temp ? nil : try version(of: schemaID)
        for row in try schemaRows("SELECT type, name, ifnull(rootpage, 0) FROM \(schemaID.masterTable)") {
            guard let kind = SchemaObjects.Kind(rawValue: try row.decode(atIndex: 0)) else { continue }
            // Only virtual tables have no page.
            let isVirtual = try kind == .table && row.decode(Int.self, atIndex: 2) == 0
            objects.insert(kind, try row.decode(atIndex: 1), isVirtual: isVirtual)
        }
        if let version { schemaCache.note(version: version, of: schemaID) }
        schemaCache[schemaID].objects = objects
        return objects
    }

    /// A fact that is known without a look at the schema.
    ///
    /// Without a schema name, a fact counts only when the schemas before it are
    /// known not to have such a table.
    func cached<Value>(
        _ name: String, in schemaName: String?, _ fact: (SchemaCache.Schema) -> SchemaCache.Fact<Value>?
    ) -> Value? {
        noticeSchemaChange()
        guard schemaName == nil, let ids = schemaCache.schemaIDs else { return nil }
        for id in ids {
            let schema = schemaCache[id]
            if let fact = fact(schema) {
                if let value = fact.value { return value }
            } else {
                guard let objects = schema.objects, objects.name(.table, name) == nil,
                    objects.name(.view, name) == nil
                else { return nil }
            }
        }
        return nil
    }

    func pragma(_ name: String, _ argument: String, _ schemaID: DatabaseSchemaID) -> String {
        "PRAGMA \(schemaID.name.quotedDatabaseIdentifier).\(name)(\(argument.quotedDatabaseIdentifier))"
    }

    // MARK: Columns

    func columns(in table: String, _ schemaID: DatabaseSchemaID) throws -> [ColumnInfo]? {
        if let fact = schemaCache[schemaID].columns(in: table) { return fact.value }
        let objects = try objects(of: schemaID)
        var columns: [ColumnInfo]?
        if objects.name(.table, table) != nil || objects.name(.view, table) != nil {
            columns = try readColumns(of: table, schemaID)
        }
        schemaCache[schemaID].set(columns: columns, of: table)
        return columns
    }

    private func readColumns(of table: String, _ schemaID: DatabaseSchemaID) throws -> [ColumnInfo] {
        let name = EngineFeatures.current.supportsTableXInfo ? "table_xinfo" : "table_info"
        let columns = try schemaRows(pragma(name, table, schemaID)).map(ColumnInfo.init(row:))
        // 1 is a hidden column of a virtual table; 2 and 3 are generated ones.
        return columns.filter { $0.hidden != 1 }
    }

    // MARK: Primary keys

    func primaryKey(_ table: String, _ schemaID: DatabaseSchemaID) throws -> PrimaryKeyInfo? {
        if let fact = schemaCache[schemaID].primaryKey(table) { return fact.value }
        // A view's key comes from the schema source, and is found elsewhere.
        guard try objects(of: schemaID).name(.view, table) == nil else { return nil }
        let key = try readPrimaryKey(of: table, schemaID)
        schemaCache[schemaID].set(primaryKey: key, of: table)
        return key
    }

    private func readPrimaryKey(of table: String, _ schemaID: DatabaseSchemaID) throws -> PrimaryKeyInfo? {
        guard let columns = try columns(in: table, schemaID) else { return nil }
        let key = columns.filter { $0.primaryKeyIndex > 0 }.sorted { $0.primaryKeyIndex < $1.primaryKeyIndex }
        guard let first = key.first else { return .hiddenRowID }
        let index = try schemaRows(pragma("index_list", table, schemaID))
            .first { $0["origin"] == "pk" }
        guard let index else {
            // Only an alias of the rowid, and a virtual table's key, need no index.
            return key.count == 1 && first.type.foldedIdentifier == "integer"
                ? .rowID(first) : .columns(key.map(\.name), infos: key, tableHasRowID: true)
        }
        // The key of a table without rowids is the table itself, so its index is not in the schema.
        let name: String = try index.decode(forColumn: "name")
        let hasRowID = try objects(of: schemaID).name(.index, name) != nil
        return .columns(key.map(\.name), infos: key, tableHasRowID: hasRowID)
    }

    func primaryKey(ofView view: DatabaseObjectID) throws -> PrimaryKeyInfo {
        let names = try schemaSource?.columnsForPrimaryKey(self, inView: view) ?? []
        guard !names.isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR, message: "database view \(view.name) has no primary key")
        }
        let columns = try columns(in: view.name, view.schemaID) ?? []
        let infos = names.compactMap { name in columns.first { $0.name.isSameIdentifier(as: name) } }
        let key = PrimaryKeyInfo.columns(
            names, infos: infos.count == names.count ? infos : nil, tableHasRowID: false)
        schemaCache[view.schemaID].set(primaryKey: key, of: view.name)
        return key
    }

    // MARK: Indexes

    func indexes(on table: String, _ schemaID: DatabaseSchemaID) throws -> [IndexInfo]? {
        if let fact = schemaCache[schemaID].indexes(on: table) { return fact.value }
        let objects = try objects(of: schemaID)
        var indexes: [IndexInfo]?
        if objects.name(.table, table) != nil {
            indexes = try schemaRows(pragma("index_list", table, schemaID))
                .compactMap { try index($0, schemaID) }
        } else if objects.name(.view, table) != nil {
            indexes = []
        }
        schemaCache[schemaID].set(indexes: indexes, of: table)
        return indexes
    }

    private func index(_ row: Row, _ schemaID: DatabaseSchemaID) throws -> IndexInfo? {
        let name: String = try row.decode(forColumn: "name")
        let columns = try schemaRows(pragma("index_info", name, schemaID))
            .map { try $0.decodeIfPresent(String.self, atIndex: 2) }
        // An expression has no name, and neither has the rowid.
        let names = columns.compactMap { $0 }
        guard names.count == columns.count else { return nil }
        return IndexInfo(
            name: name, columns: names, isUnique: try row.decode(forColumn: "unique"),
            origin: IndexInfo.Origin(rawValue: try row.decode(forColumn: "origin")),
            isPartial: try row.decode(forColumn: "partial"))
    }

    // MARK: Foreign keys

    func foreignKeys(on table: String, _ schemaID: DatabaseSchemaID) throws -> [ForeignKeyInfo]? {
        if let fact = schemaCache[schemaID].foreignKeys(on: table) { return fact.value }
        let objects = try objects(of: schemaID)
        var keys: [ForeignKeyInfo]?
        if objects.name(.table, table) != nil {
            keys = try readForeignKeys(of: table, schemaID)
        } else if objects.name(.view, table) != nil {
            keys = []
        }
        schemaCache[schemaID].set(foreignKeys: keys, of: table)
        return keys
    }

    private func readForeignKeys(of table: String, _ schemaID: DatabaseSchemaID) throws -> [ForeignKeyInfo] {
        typealias Part = (position: Int, origin: String, destination: String?)
        var keys: [(id: Int, table: String, parts: [Part])] = []
        for row in try schemaRows(pragma("foreign_key_list", table, schemaID)) {
            let id: Int = try row.decode(forColumn: "id")
            let part: Part = (
                try row.decode(forColumn: "seq"), try row.decode(forColumn: "from"), row["to"] as String?
            )
            if keys.last?.id == id {
                keys[keys.count - 1].parts.append(part)
            } else {
                keys.append((id, try row.decode(forColumn: "table"), [part]))
            }
        }
        return try keys.map { key in
            let parts = key.parts.sorted { $0.position < $1.position }
            return ForeignKeyInfo(
                id: key.id, destinationTable: key.table,
                mapping: try mapping(parts.map { ($0.origin, $0.destination) }, to: key.table, schemaID))
        }
    }

    /// Completes a foreign key that names no columns of the table it refers to.
    private func mapping(
        _ parts: [(origin: String, destination: String?)], to table: String, _ schemaID: DatabaseSchemaID
    ) throws -> [(origin: String, destination: String)] {
        let named = parts.compactMap { part in part.destination.map { (origin: part.origin, destination: $0) }
        }
        if named.count == parts.count { return named }
        // SQLite looks the other table up in the same schema only.
        guard let key = try primaryKey(table, schemaID) else { throw DatabaseError.noSuchTable(table) }
        return zip(parts, key.columns).map { ($0.origin, $1) }
    }
}
