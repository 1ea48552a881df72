import CipherStore

/// A column that holds values otherwise than other replicas do, because it is declared with another type here.
public struct ConvertedColumn: Equatable, Sendable {
    /// The table.
    public let table: String
    /// The column.
    public let column: String
    /// The type that it is declared with here; empty for none.
    public let declaredType: String
    /// The type of the values elsewhere: `text`, `integer` or `real`.
    public let valueType: String
    /// How many values that is.
    public let count: Int64

    /// What differs, in words.
    public var text: String {
        """
        column \(column) is \(declaredType.isEmpty ? "of no type" : declaredType) here; \(count) \
        \(count == 1 ? "value" : "values") of others \(count == 1 ? "is" : "are") \(valueType) there. They are kept and \
        sent on as they were written; give the column the same type everywhere
        """
    }
}

extension ConvertedColumn {
    static func loadAll(_ db: Database) throws -> [ConvertedColumn] {
        let counts = try OriginalValues.counts(db)
        guard !counts.isEmpty else { return [] }
        let tables = try SyncedTable.loadAll(db)
        let separate = try SeparateColumns.loadAll(db)
        return try counts.compactMap { entry in
            guard let table = tables.first(where: { $0.number == entry.table }), table.isTracked,
                let column = table.presentColumns.first(where: { $0.number == entry.column }),
                // What a policy keeps is what is sent.
                separate[entry.table]?.shown(for: entry.column) == nil
            else { return nil }
            let type = try Row.fetchAll(
                db, sql: "PRAGMA main.table_info(\(table.name.quotedDatabaseIdentifier))"
            ).first { try $0.decode(String.self, forColumn: "name").isSameIdentifier(as: column.name) }
            return ConvertedColumn(
                table: table.name, column: column.name,
                declaredType: try type?.decode(forColumn: "type") ?? "", valueType: entry.type,
                count: entry.count)
        }
    }
}
