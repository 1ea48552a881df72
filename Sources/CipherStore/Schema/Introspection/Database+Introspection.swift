extension Database {
    // MARK: Names

    /// Returns whether a table belongs to SQLite.
    public static func isSQLiteInternalTable(_ name: String) -> Bool {
        let name = name.foldedIdentifier
        return name.hasPrefix("sqlite_") || name.hasPrefix("pragma_")
    }

    /// Returns whether a table belongs to the library: the names of applied
    /// migrations, or the change log of synchronization.
    public static func isGRDBInternalTable(_ name: String) -> Bool {
        name.foldedIdentifier.hasPrefix("grdb_") || SyncNames.contains(name)
    }

    /// The version of the main schema, which each change of it increments.
    ///
    /// Related SQLite documentation: <https://www.sqlite.org/pragma.html#pragma_schema_version>
    ///
    /// - throws: A ``DatabaseError``.
    public func schemaVersion() throws -> Int32 {
        Int32(truncatingIfNeeded: try version(of: .main))
    }

    func version(of schemaID: DatabaseSchemaID) throws -> Int64 {
        try withoutTracing {
            // It runs at each access, so it is worth its place in the cache.
            if schemaID == .main { return try readStatements.version.firstNumber(on: self) }
            let statement = try cachedStatement(
                sql: "PRAGMA \(schemaID.name.quotedDatabaseIdentifier).schema_version")
            try statement.prepareToRun(nil)
            defer { statement.reset() }
            return try statement.step() ? RawColumn.int64(statement.sqliteStatement, 0) : 0
        }
    }

    // MARK: Existence

    /// Returns whether a table exists. Names have no case.
    ///
    /// - parameters:
    ///     - name: The name of the table.
    ///     - schemaName: The name of an attached database, `main` or `temp`; when
    ///       it is nil, all of them are searched.
    /// - throws: A ``DatabaseError``, also when there is no such schema.
    public func tableExists(_ name: String, in schemaName: String? = nil) throws -> Bool {
        try find(.table, name, in: schemaName) != nil
    }

    /// Returns whether a view exists. Names have no case.
    ///
    /// - parameters:
    ///     - name: The name of the view.
    ///     - schemaName: As in ``tableExists(_:in:)``.
    /// - throws: A ``DatabaseError``, also when there is no such schema.
    public func viewExists(_ name: String, in schemaName: String? = nil) throws -> Bool {
        try find(.view, name, in: schemaName) != nil
    }

    /// Returns whether a trigger exists. Names have no case.
    ///
    /// - parameters:
    ///     - name: The name of the trigger.
    ///     - schemaName: As in ``tableExists(_:in:)``.
    /// - throws: A ``DatabaseError``, also when there is no such schema.
    public func triggerExists(_ name: String, in schemaName: String? = nil) throws -> Bool {
        try find(.trigger, name, in: schemaName) != nil
    }

    // MARK: Details

    /// Returns the primary key of a table, or of a view that the
    /// ``schemaSource`` knows.
    ///
    /// - parameters:
    ///     - name: The name of the table or view.
    ///     - schemaName: As in ``tableExists(_:in:)``.
    /// - throws: A ``DatabaseError`` when there is no such table, or the view has no key.
    public func primaryKey(_ name: String, in schemaName: String? = nil) throws -> PrimaryKeyInfo {
        if let key = cached(name, in: schemaName, { $0.primaryKey(name) }) { return key }
        for schemaID in try schemaIDs(named: schemaName) {
            if let key = try primaryKey(name, schemaID) { return key }
            if let view = try objects(of: schemaID).name(.view, name) {
                return try primaryKey(ofView: DatabaseObjectID(schemaID: schemaID, name: view))
            }
        }
        throw DatabaseError.noSuchTable(name)
    }

    /// Returns the columns of a table or a view, hidden ones of virtual tables left out.
    ///
    /// - parameters:
    ///     - name: The name of the table or view.
    ///     - schemaName: As in ``tableExists(_:in:)``.
    /// - throws: A ``DatabaseError``, also when there is no such table.
    public func columns(in name: String, in schemaName: String? = nil) throws -> [ColumnInfo] {
        if let columns = cached(name, in: schemaName, { $0.columns(in: name) }) { return columns }
        for schemaID in try schemaIDs(named: schemaName) {
            if let columns = try columns(in: name, schemaID) { return columns }
        }
        throw DatabaseError.noSuchTable(name)
    }

    /// Returns the indexes on a table. An index on an expression is left out.
    ///
    /// - parameters:
    ///     - name: The name of the table.
    ///     - schemaName: As in ``tableExists(_:in:)``.
    /// - throws: A ``DatabaseError``, also when there is no such table.
    public func indexes(on name: String, in schemaName: String? = nil) throws -> [IndexInfo] {
        if let indexes = cached(name, in: schemaName, { $0.indexes(on: name) }) { return indexes }
        for schemaID in try schemaIDs(named: schemaName) {
            if let indexes = try indexes(on: name, schemaID) { return indexes }
        }
        throw DatabaseError.noSuchTable(name)
    }

    /// Returns the foreign keys of a table.
    ///
    /// - parameters:
    ///     - name: The name of the table.
    ///     - schemaName: As in ``tableExists(_:in:)``.
    /// - throws: A ``DatabaseError``, also when there is no such table.
    public func foreignKeys(on name: String, in schemaName: String? = nil) throws -> [ForeignKeyInfo] {
        if let keys = cached(name, in: schemaName, { $0.foreignKeys(on: name) }) { return keys }
        for schemaID in try schemaIDs(named: schemaName) {
            if let keys = try foreignKeys(on: name, schemaID) { return keys }
        }
        throw DatabaseError.noSuchTable(name)
    }

    /// Returns whether the values of some columns are found in one row at most.
    ///
    /// The columns must hold those of the primary key or of a unique index on
    /// the whole table. `rowid` counts as a column of a table that has it, unless another column is called so.
    ///
    /// - parameters:
    ///     - name: The name of the table or view.
    ///     - columns: The names of columns.
    /// - throws: A ``DatabaseError``, also when there is no such table.
    public func table(_ name: String, hasUniqueKey columns: some Sequence<String>) throws -> Bool {
        try self.columns(forUniqueKey: columns, in: name) != nil
    }

    /// The primary key or unique index that some columns hold, as it is declared.
    func columns(forUniqueKey columns: some Sequence<String>, in name: String) throws -> [String]? {
        let given = Set(columns.map(\.foldedIdentifier))
        // Most ask for the row that the key of a table finds.
        if let key = cached(name, in: nil, { $0.primaryKey(name) }), !given.contains("rowid"),
            !key.columns.isEmpty, key.columns.allSatisfy({ given.contains($0.foldedIdentifier) }),
            try tableExists(name)
        {
            return key.columns
        }
        let isView = try !tableExists(name) && viewExists(name)
        if isView && schemaSource == nil { return nil }
        let key: PrimaryKeyInfo
        do {
            key = try primaryKey(name)
        } catch  where isView {
            return nil
        }
        // A column that is called so hides the number of a row.
        let isHidden = try given.contains("rowid") && !RowIDName.isFree("rowid", of: columnNames(of: name))
        if key.tableHasRowID, given.contains("rowid"), !isHidden { return ["rowid"] }
        let unique = try isView ? [] : indexes(on: name).filter { $0.isUnique && !$0.isPartial }
        let primary = isHidden && key.isHiddenRowID ? [] : key.columns
        return ([primary] + unique.map(\.columns)).first { key in
            !key.isEmpty && key.allSatisfy { given.contains($0.foldedIdentifier) }
        }
    }
}

extension DatabaseError {
    static func noSuchTable(_ name: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_ERROR, message: "no such table: \(name)")
    }

    static func noSuchSchema(_ name: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_ERROR, message: "no such schema: \(name)")
    }
}
