import CipherStore

/// The types of the values in the metadata, which any program may write: SQLite's columns prefer a type, and take any.
struct MetadataTypes {
    let db: Database

    /// The columns whose values are of another type than they are declared with.
    ///
    /// - parameter tables: The tables, which have to be there.
    func problems(_ tables: [String]) throws -> [StoreProblem] {
        try tables.compactMap { table in
            let conditions = try columns(of: table).compactMap(Self.condition)
            guard !conditions.isEmpty else { return nil }
            // One look at each row, however many columns there are.
            let sums = conditions.map { "total(\($0.sql))" }.joined(separator: ", ")
            // Somebody else may have chosen the name.
            let sql = "SELECT \(sums) FROM main.\(table.quotedDatabaseIdentifier)"
            guard let row = try Row.fetchOne(db, sql: sql) else { return nil }
            for (index, condition) in conditions.enumerated() {
                let count = try row.decode(Double.self, atIndex: index)
                guard count > 0 else { continue }
                return StoreProblem(
                    .metadata,
                    "\(Int(count)) of \(table)'s entries have a \(condition.name) that is no \(condition.type)",
                    table: table)
            }
            return nil
        }
    }

    private typealias Column = (name: String, type: String, isRequired: Bool)

    private func columns(of table: String) throws -> [Column] {
        try Row.fetchAll(db, sql: "PRAGMA main.table_info(\(table.quotedDatabaseIdentifier))").map {
            (
                try $0.decode(forColumn: "name"), try $0.decode(forColumn: "type"),
                try $0.decode(Int.self, forColumn: "notnull") != 0
            )
        }
    }

    private static func condition(_ column: Column) -> (name: String, type: String, sql: String)? {
        let types = ["INTEGER": "integer", "TEXT": "text", "BLOB": "blob"]
        guard let type = types[column.type] else { return nil }
        let name = column.name.quotedDatabaseIdentifier
        let sql = "typeof(\(name)) <> '\(type)'" + (column.isRequired ? "" : " AND \(name) IS NOT NULL")
        return (column.name, type == "integer" ? "number" : type, sql)
    }
}
