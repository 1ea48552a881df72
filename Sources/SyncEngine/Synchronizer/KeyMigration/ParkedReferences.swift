import CipherStore

/// Old keys in rows of tracked tables that are not shown.
///
/// A conversion gives new values to what is in the tables. A parked value would keep the old key: the row would come
/// back later, and refer to nothing, here and at all peers.
struct ParkedReferences {
    let db: Database
    let tables: [KeyConversionPlan.ConvertedTable]

    /// What stands against the conversion.
    func refusals() throws -> [String] {
        try SyncedTable.loadAll(db).filter(\.isTracked).compactMap { table in
            guard let converted = tables.first(where: { $0.table.name.isSameIdentifier(as: table.name) })
            else { return nil }
            let columns = table.presentColumns.filter { converted.domains[$0.name.identifierKey] != nil }
            guard !columns.isEmpty else { return nil }
            let numbers = columns.map { String($0.number) }.joined(separator: ", ")
            let count =
                try Int64.fetchOne(
                    db,
                    sql: """
                        SELECT count(DISTINCT pk) FROM _sync_shadow
                        WHERE tbl = ? AND val IS NOT NULL AND col IN (\(numbers))
                        """, arguments: [table.number]) ?? 0
            guard count > 0 else { return nil }
            return """
                table \(table.name) has \(count) parked \(count == 1 ? "row" : "rows") with old keys in \
                \(columns.map(\.name).joined(separator: ", ")); resolve them first: syncctl parked
                """
        }
    }
}
