import CipherStore

/// Compares the schema with the sync metadata, and changes neither.
struct SchemaInspection {
    let db: Database

    /// The tables that are tracked, as they are called now.
    func tables() throws -> [SyncedTable] {
        let schemas = try CapturedSchema.loadAll(db)
        return try SyncedTable.loadAll(db).filter(\.isTracked).compactMap {
            try asItIs($0, schemas[$0.number])
        }
    }

    /// The tables whose rows are in this file, with the names of now.
    ///
    /// A fold needs them: it runs before the metadata follow what another program has renamed, and to SQLite the name of
    /// a column that is not there can be a text.
    func storedTables() throws -> [SyncedTable] {
        let tables = try SyncedTable.loadAll(db).filter { table in
            try table.isTracked || table.hasRows && db.tableExists(table.storageName, in: "main")
        }
        // Nearly always nobody has changed anything, and no trigger has to be read.
        guard try !SchemaMark(db: db).isCurrent() else { return tables }
        let schemas = try CapturedSchema.loadAll(db)
        return try tables.compactMap { $0.isTracked ? try asItIs($0, schemas[$0.number]) : $0 }
    }

    /// A table that is tracked, with the names of now. Columns that are gone count as dropped.
    ///
    /// - returns: nil when the table or its key is gone.
    private func asItIs(_ table: SyncedTable, _ captured: CapturedSchema?) throws -> SyncedTable? {
        let name = captured?.table ?? table.name
        guard try db.tableExists(name, in: "main") else { return nil }
        let present = try db.columns(in: name, in: "main")
        let names = Set(present.map { $0.name.identifierKey })
        // Without triggers, nobody but the table says what became of its key.
        let primary = captured == nil ? present.filter { $0.primaryKeyIndex > 0 }.map(\.name) : []
        let keys = [captured?.key ?? table.key, table.key] + (primary.count == 1 ? primary : [])
        guard let key = keys.first(where: { names.contains($0.identifierKey) }) else { return nil }
        let columns = table.columns.map { column -> SyncedTable.Column in
            guard column.isPresent else { return column }
            let name = captured?.columns[column.number] ?? column.name
            return SyncedTable.Column(
                number: column.number, name: name,
                place: names.contains(name.identifierKey) ? .table : .dropped)
        }
        return SyncedTable(
            number: table.number, name: name, key: key, place: .tracked, columns: columns)
    }

    /// What differs, and what to do about it.
    func remarks() throws -> [SyncStatus.SchemaRemark] {
        let schemas = try CapturedSchema.loadAll(db)
        var remarks = try SyncedTable.loadAll(db).flatMap { table in
            try self.texts(about: table, schemas[table.number]).map {
                SyncStatus.SchemaRemark(table: table.name, text: $0)
            }
        }
        remarks += try lostColumns().map { table, column in
            SyncStatus.SchemaRemark(
                table: table,
                text:
                    "another program made the table without column \(column), and its values are gone here; they come with the next synchronization with a replica that has all rows, and before that none is handed on"
            )
        }
        remarks += try waiting()
        remarks += try triggersThatFireThemselves()
        return remarks
    }

    /// A table with such a trigger can't be tracked, but it may have got it later.
    private func triggersThatFireThemselves() throws -> [SyncStatus.SchemaRemark] {
        let triggers = try SelfFiringTriggers(db)
        return try tables().flatMap { table in
            triggers.names(of: table.name).map {
                SyncStatus.SchemaRemark(
                    table: table.name, text: SelfFiringTriggers.complaint($0, table: table.name))
            }
        }
    }

    /// The columns whose values are gone here, and that no replica has brought again, with their tables.
    func lostColumns() throws -> [(table: String, column: String)] {
        guard let metadata = try StoreMetadata.load(db) else { return [] }
        let partials = try PartialTable.loadAll(db, metadata)
        guard !partials.isEmpty else { return [] }
        return try SyncedTable.loadAll(db).filter { partials[$0.number] != nil }.flatMap { table in
            let numbers = try LostColumns.numbers(db, of: table.number)
            return table.columns.filter { numbers.contains($0.number) }
                .map { (table: table.name, column: $0.name) }
        }
    }

    /// Whether each tracked table is what the metadata and the triggers say.
    func isUpToDate() throws -> Bool {
        let schemas = try CapturedSchema.loadAll(db)
        return try SyncedTable.loadAll(db).allSatisfy { table in
            let captured = schemas[table.number]
            return try table.place != .tracked
                || texts(about: table, captured).isEmpty && isCaptured(table, captured)
        }
    }

    /// Whether the triggers and the table have the columns that the metadata names.
    private func isCaptured(_ table: SyncedTable, _ captured: CapturedSchema?) throws -> Bool {
        guard let captured else { return false }
        return captured.isOf(table, try TableDefinition.load(db, table.name))
    }

    private func texts(about table: SyncedTable, _ captured: CapturedSchema?) throws -> [String] {
        let isThere = try db.tableExists(table.name, in: "main")
        switch table.place {
        case .elsewhere: return []
        case .dropped:
            // Somebody wanted it so.
            if try db.tableExists(table.baseName, in: "main") { return [] }
            return isThere
                ? ["the table was dropped and made anew, and is not tracked; track it to get its rows again"]
                : []
        case .tracked: break
        }
        guard let name = captured?.table ?? (isThere ? table.name : nil) else {
            return [
                "another program dropped the table; the next synchronization ends its tracking, and peers keep theirs"
            ]
        }
        let definition: TableDefinition
        do {
            definition = try TableDefinition.load(db, name)
        } catch let error as SyncError {
            return ["\(error.message); no synchronization is possible until it has, or until it is dropped"]
        }
        guard let captured else {
            return [
                "another program made the table anew; the next synchronization compares its keys, and sees no update until then: track it again before more is written"
            ]
        }
        var remarks: [String] = []
        if !name.hasSameBytes(as: table.name) {
            remarks.append("the table was renamed to \(name); the next synchronization follows")
        }
        let tracked = Set(captured.columns.values.map { $0.identifierKey })
        for column in definition.columns where !tracked.contains(column.identifierKey) {
            remarks.append(
                "column \(column) was added by another program; its values are sent from the next synchronization on"
            )
        }
        return remarks
    }

    /// What peers have, and this store lacks.
    private func waiting() throws -> [SyncStatus.SchemaRemark] {
        let tables = try String.fetchAll(
            db,
            sql: """
                SELECT DISTINCT t.name FROM _sync_shadow AS s JOIN _sync_table AS t ON t.tbl = s.tbl
                WHERE t.tracked = 0 ORDER BY t.name
                """
        ).map {
            SyncStatus.SchemaRemark(
                table: $0,
                text: "other replicas have this table; its rows wait until it is made and tracked here")
        }
        let columns = try Row.fetchAll(
            db,
            sql: """
                SELECT DISTINCT t.name, c.name FROM _sync_shadow AS s
                JOIN _sync_table AS t ON t.tbl = s.tbl JOIN _sync_column AS c ON c.tbl = s.tbl AND c.col = s.col
                WHERE t.tracked = 1 AND c.present = 0 ORDER BY t.name, c.name
                """
        ).map { row in
            SyncStatus.SchemaRemark(
                table: try row.decode(atIndex: 0),
                text:
                    "other replicas have a column \(try row.decode(String.self, atIndex: 1)); its values wait until it is added here"
            )
        }
        return tables + columns
    }
}
