import CipherStore

/// What is kept of a table or a column that the app drops.
///
/// Peers may still have it, and know from this replica's vector that it has their
/// changes. So its values stay in the file, under the versions that they have: no
/// peer gets a NULL or a delete for them, and a new peer gets them all.
extension TableTracking {
    /// Moves the rows of a table that is about to be dropped into a table of the library.
    ///
    /// - parameter name: What the table is called now, when it has another name already.
    func keepRows(of table: SyncedTable, in name: String? = nil) throws {
        let source = name ?? table.name
        try table.setPlace(db, .dropped)
        let kept = try SyncedTable.load(db, number: table.number)
        let key = table.key.quotedDatabaseIdentifier
        let columns = table.presentColumns.map(\.name.quotedDatabaseIdentifier)
        let list = ([key] + columns).joined(separator: ", ")
        // Without types, each value stays what it is. The key has its type, so that it is
        // compared with that of another table by its index.
        let type =
            try db.columns(in: source, in: "main")
            .first { $0.name.isSameIdentifier(as: table.key) }?.type ?? ""
        let declarations =
            ["\(key) \(type.isEmpty ? "" : type.quotedDatabaseIdentifier) PRIMARY KEY"] + columns
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS \(kept.qualifiedName);
                CREATE TABLE \(kept.qualifiedName) (\(declarations.joined(separator: ", ")));
                INSERT INTO \(kept.qualifiedName) (\(list))
                SELECT \(list) FROM main.\(source.quotedDatabaseIdentifier) WHERE \(TableDefinition.isUUID(key));
                """)
        try noteKnownChanges(of: kept)
    }

    /// Parks the values of a column that is about to be dropped, and takes the
    /// column out of the triggers.
    func keepValues(of column: SyncedTable.Column, in table: SyncedTable) throws {
        try park(column, of: table)
        try db.removeFromCaptureTriggers(column: column.name, table: table.name)
    }

    /// The SQL of a column's default; nil for NULL.
    private func defaultText(of column: SyncedTable.Column, in table: SyncedTable) throws -> String? {
        let name = column.name.identifierKey
        let columns = try db.columns(in: table.storageName, in: "main")
        let text = columns.first { $0.name.identifierKey == name }?.defaultValueSQL
        return text?.uppercased() == "NULL" ? nil : text
    }

    /// Parks the values of a column, except a NULL that a row has had from its
    /// beginning, when that is the default. What is parked already is newer than the table.
    private func park(_ column: SyncedTable.Column, of table: SyncedTable) throws {
        // A value that is missing is the default, to whoever has the column.
        let hasDefault = try defaultText(of: column, in: table) != nil
        try Parking.keepDropped(
            db, column, of: table,
            unless: hasDefault ? "0" : "t.\(column.name.quotedDatabaseIdentifier) IS NULL")
    }

    // MARK: A table that is there again

    /// What it means that a table lacks rows which the dropped one had.
    enum MissingRows {
        /// They were deleted: the table is a copy, made in the same transaction.
        case deleted
        /// They come back: peers have them still.
        case restored
    }

    /// Goes on with a table that was rebuilt: another one got its rows and its name.
    ///
    /// - returns: False when there is none, or it has none of the rows and is
    ///   another table of the same name.
    func attachIfRebuilt(_ table: SyncedTable) throws -> Bool {
        let names = [table.name] + (try NameAliases(db).names(ofTable: table.number))
        let known = Set(
            try SyncedTable.loadAll(db).filter { $0.number != table.number }.map { $0.name.identifierKey })
        let name = try names.first { name in
            guard !known.contains(name.identifierKey) else { return false }
            return try db.tableExists(name, in: "main")
        }
        guard let name else { return false }
        let definition = try TableDefinition.load(db, name)
        let key = definition.key.quotedDatabaseIdentifier
        let oldKey = table.key.quotedDatabaseIdentifier
        let new = "main.\(definition.name.quotedDatabaseIdentifier)"
        let isShared = try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS(
                    SELECT 1 FROM \(table.qualifiedName) AS k
                    CROSS JOIN \(new) AS t ON t.\(key) = +k.\(oldKey) AND t.\(key) = +k.\(oldKey) COLLATE BINARY)
                    OR NOT EXISTS(SELECT 1 FROM \(table.qualifiedName))
                """)
        if isShared == true {
            try attach(table, definition, missingRows: .deleted)
            return true
        }
        let isConverted = try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS(SELECT 1 FROM \(table.qualifiedName) AS k WHERE \(Self.digits("k.\(oldKey)")) IN
                    (SELECT \(Self.digits("t.\(key)")) FROM \(new) AS t))
                """)
        guard isConverted != true else {
            throw SyncError(
                .unsuitableKey,
                """
                the keys of table \(name) have another type or case now; peers would take each row for another one. \
                Copy the keys as they are
                """)
        }
        return false
    }

    /// The digits of a UUID, whatever it is stored as.
    private static func digits(_ key: String) -> String {
        "CASE typeof(\(key)) WHEN 'blob' THEN lower(hex(\(key))) ELSE lower(replace(\(key), '-', '')) END"
    }

    /// Tracks a table again that was dropped.
    ///
    /// Only what differs from the rows that were kept counts as written.
    func attach(_ kept: SyncedTable, _ definition: TableDefinition, missingRows: MissingRows) throws {
        try FoldedStore.fold(db, environment)
        if missingRows == .deleted { try checkKey(of: kept, definition, nil) }
        let (table, added) = try replace(kept, definition)
        try logNewRows(of: table, kept)
        try parkMissingRows(of: table, kept, missingRows)
        switch missingRows {
        case .deleted: try logDifferences(of: table, kept, columnsAdded: added)
        case .restored: try mergeRemade(table, kept, columnsAdded: added)
        }
        try logValues(of: table, inColumns: added, definition)
        try removeKept(kept)
    }

    /// Puts a table of the user's in the place of the rows that were kept, with triggers. The kept rows stay for now.
    ///
    /// - returns: The table, and the names of the columns that the dropped one did not have.
    func replace(
        _ kept: SyncedTable, _ definition: TableDefinition
    ) throws -> (table: SyncedTable, columnsAdded: Set<String>) {
        let columns = Set(definition.columns.map { $0.identifierKey })
        for column in kept.presentColumns where !columns.contains(column.name.identifierKey) {
            try park(column, of: kept)
        }
        try kept.setTracked(db, key: definition.key)
        try kept.rename(db, to: definition.name)
        let added = try updateColumns(of: kept, definition)
        let table = try SyncedTable.load(db, number: kept.number)
        try createTriggers(table)
        return (table, added)
    }

    /// Forgets the rows that were kept, and what they were held against.
    func removeKept(_ kept: SyncedTable) throws {
        try db.execute(
            sql: """
                DROP TABLE \(kept.qualifiedName);
                DROP TABLE IF EXISTS \(kept.qualifiedBaseName);
                DROP TABLE IF EXISTS \(kept.qualifiedKnownName);
                """)
    }

    /// Logs rows of the table that the dropped one did not have.
    func logNewRows(of table: SyncedTable, _ kept: SyncedTable) throws {
        let oldKey = kept.key.quotedDatabaseIdentifier
        try log(
            table, ChangeLog.Operation.insert, mask: 0,
            where: "\(table.keyAsBytes) NOT IN (SELECT \(oldKey) FROM \(kept.qualifiedName))")
    }

    /// Parks rows that the dropped table had and the table lacks, or logs that they were deleted.
    func parkMissingRows(
        of table: SyncedTable, _ kept: SyncedTable, _ missingRows: MissingRows = .restored
    ) throws {
        let key = table.key.quotedDatabaseIdentifier
        // The rows that were kept have keys without a collation.
        let missing = """
            \(kept.key.quotedDatabaseIdentifier) NOT IN (
                SELECT \(key) FROM \(table.qualifiedName) WHERE \(key) IS NOT NULL)
            """
        switch missingRows {
        case .deleted:
            try log(kept, ChangeLog.Operation.delete, mask: 0, where: missing)
        case .restored:
            try Parking.add(db, rowsOf: kept, where: "k.\(missing)")
        }
    }

    /// Logs the values that a copy changed, as written by a migration.
    private func logDifferences(
        of table: SyncedTable, _ kept: SyncedTable, columnsAdded added: Set<String>
    ) throws {
        for column in table.presentColumns where !added.contains(column.name.identifierKey) {
            guard let old = kept.presentColumns.first(where: { $0.number == column.number }) else { continue }
            let name = "\(table.qualifiedName).\(column.name.quotedDatabaseIdentifier)"
            try log(
                table, ChangeLog.Operation.rewrite, of: column,
                where: """
                    EXISTS (
                        SELECT 1 FROM \(kept.qualifiedName) AS k
                        WHERE k.\(kept.key.quotedDatabaseIdentifier) = \(table.untypedKey())
                          AND \(ValueComparison.differs(name, "k.\(old.name.quotedDatabaseIdentifier)")))
                    """)
        }
    }
}
