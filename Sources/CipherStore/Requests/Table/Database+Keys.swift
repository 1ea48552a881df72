// What requests ask about tables.

extension Database {
    /// The columns that find a row fastest: the rowid by its name, or the primary
    /// key of a table that has none.
    func fastPrimaryKeyColumns(of table: String) throws -> [String] {
        let key = try primaryKey(table)
        guard key.tableHasRowID, key.rowIDColumn == nil else { return key.columns }
        return try key.rowColumns(of: table, columns: columnNames(of: table))
    }

    /// The primary key of a table, or of a view that has one.
    func existingPrimaryKey(of name: String) throws -> PrimaryKeyInfo? {
        if try !tableExists(name), try viewExists(name), schemaSource == nil { return nil }
        do {
            return try primaryKey(name)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return nil
        }
    }

    /// Whether a table or view is known, and has no column of a name.
    func isUnknownColumn(_ name: String, of table: String) throws -> Bool {
        for schemaID in try schemaIDs() {
            guard let columns = try columns(in: table, schemaID) else { continue }
            if columns.contains(where: { $0.name.isSameIdentifier(as: name) }) { return false }
            guard ["rowid", "oid", "_rowid_"].contains(name.foldedIdentifier) else { return true }
            return try primaryKey(table, schemaID)?.tableHasRowID != true
        }
        return false
    }

    /// Whether a table is one of a module, which may have columns that it does not declare.
    func isVirtualTable(_ name: String) throws -> Bool {
        try schemaIDs().contains { try objects(of: $0).virtualTables.contains(name.foldedIdentifier) }
    }

    /// The names of the columns of a table or view, in order.
    func columnNames(of table: String) throws -> [String] {
        try columns(in: table).map(\.name)
    }
}

extension Database {
    /// The column of a primary key that one value can be.
    fileprivate func singleColumn(of key: PrimaryKeyInfo, _ table: String) throws -> String {
        guard key.columns.count == 1 else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "table \(table) has a primary key of several columns; give a dictionary for the key")
        }
        return key.columns[0]
    }

    func singlePrimaryKeyColumn(of table: String) throws -> String {
        try singleColumn(of: primaryKey(table), table)
    }

    /// The column by which one value finds a row.
    func columnFindingRow(of table: String) throws -> String {
        let key = try primaryKey(table)
        guard try !isKeyHidden(key, of: table) else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: """
                    table \(table) has no unique key: it has no primary key, and a column called rowid that is not unique; \
                    filter by its columns, or give it a primary key
                    """)
        }
        return try singleColumn(of: key, table)
    }

    /// Whether the key of a table is the number of a row, and a column that is not unique has its name.
    ///
    /// SQL that compares the name with a value finds any number of rows.
    func isKeyHidden(_ key: PrimaryKeyInfo, of table: String) throws -> Bool {
        try key.isHiddenRowID && columns(forUniqueKey: key.columns, in: table) == nil
    }

    /// The condition that columns have the values of a key.
    func condition(onKey key: [String: DatabaseValue], in table: String) throws -> SQLExpression {
        guard let unique = try columns(forUniqueKey: key.keys, in: table) else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: """
                    table \(table) has no unique key on column(s) \(key.keys.sorted().joined(separator: ", "))
                    """)
        }
        // The columns of the index first, then the others as the table has them.
        let names = unique + (try columnNames(of: table))
        let values = Dictionary(
            key.map { ($0.key.foldedIdentifier, $0.value) }, uniquingKeysWith: { first, _ in first })
        var rest = values
        let conditions = names.compactMap { name in
            rest.removeValue(forKey: name.foldedIdentifier).map {
                SQLExpression.equality(.equal, .column(name), .value($0))
            }
        }
        guard rest.isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_ERROR,
                message: "no such column: \(rest.keys.sorted().joined(separator: ", "))")
        }
        return .joined(.and, conditions)
    }
}
