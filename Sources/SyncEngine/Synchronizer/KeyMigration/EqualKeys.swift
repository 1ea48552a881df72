import CipherStore

/// Keys that a table tells apart, and that are one UUID: text in another case, or a text and a blob.
///
/// A UUID that is a key already stays what it is, so that both rows would get the same key.
struct EqualKeys {
    let db: Database
    let tables: [KeyConversionPlan.ConvertedTable]

    /// What stands against the conversion.
    func refusals() throws -> [String] {
        try tables.compactMap { converted in
            let table = converted.table
            guard converted.origin == .column || converted.origin == .shared, !table.isRowIDKey,
                let key = table.key.first?.quotedDatabaseIdentifier
            else { return nil }
            let sql = """
                SELECT quote(min(\(key))), quote(max(\(key))) FROM main.\(table.name.quotedDatabaseIdentifier)
                WHERE \(TableDefinition.isUUID(key))
                GROUP BY CASE typeof(\(key)) WHEN 'blob' THEN hex(\(key)) ELSE upper(replace(\(key), '-', '')) END
                HAVING count(*) > 1 LIMIT 1
                """
            guard let row = try Row.fetchOne(db, sql: sql) else { return nil }
            let first: String = try row.decode(atIndex: 0)
            let second: String = try row.decode(atIndex: 1)
            return """
                the keys \(first) and \(second) of table \(table.name) are the same UUID, and their rows would become \
                one; change the key of one of them
                """
        }
    }
}
