import SyncWire

/// What a server can check that lets a device read and write a part of the database only.
extension SyncScope {
    /// Whether a bundle names no other tables.
    public func permits(_ header: BundleHeader) -> Bool {
        guard let tableNames else { return true }
        let names = Set(tableNames.map { $0.lowercased() })
        return header.tables.allSatisfy {
            MetadataSchema.isReserved($0.name) || names.contains($0.name.lowercased())
        }
    }

    /// Whether a row of a bundle is among the rows of the scope, as far as the bundle says it.
    ///
    /// A bundle has the changes of a row, and so the value of the scope column only of rows that are new
    /// or moved. Of others, and of deletions, whoever lets a device write has to look at the row that is here.
    ///
    /// - returns: nil when the bundle does not say it.
    public func permits(_ record: borrowing RowRecord, of header: BundleHeader) -> Bool? {
        guard record.table < header.tables.count else { return false }
        let table = header.tables[record.table]
        guard let rows = rows.first(where: { $0.table.lowercased() == table.name.lowercased() }) else {
            return true
        }
        let index = table.columns.firstIndex { $0.lowercased() == rows.column.lowercased() }
        guard let index, record.isAlive, !record.isLeave else { return nil }
        for position in 0..<record.cells.count where record.cells[position].column == index {
            return ScopeValue(record.cells[position].value).map(rows.values.contains) ?? false
        }
        for position in 0..<record.baseValues.count where record.baseValues[position].column == index {
            return ScopeValue(record.baseValues[position].value).map(rows.values.contains) ?? false
        }
        // A write of the whole row that says nothing of the column leaves it at its default.
        return record.base == nil ? nil : rows.values.contains(.null)
    }

    /// What a request may get.
    ///
    /// - throws: ``SyncError`` of code `scopeUnsupported` when it asks for all rows of a table, or by
    ///   another column: the replica has to choose rows first.
    public func restricting(_ request: TransferRequest) throws -> TransferRequest {
        var result = request
        if let tableNames {
            let names = Set(tableNames.map { $0.lowercased() })
            func isPermitted(_ table: [String]) -> Bool { table.contains { names.contains($0.lowercased()) } }
            result.tables = (request.tables ?? tableNames.map { [$0] }).filter(isPermitted)
            result.rows.removeAll { !isPermitted($0.partial.names) }
        }
        for rows in rows {
            func isTable(_ names: [String]) -> Bool {
                names.contains { $0.lowercased() == rows.table.lowercased() }
            }
            let isExchanged =
                result.tables.map { $0.contains(where: isTable) } != false
                && !result.leftOut.contains(where: isTable)
            guard isExchanged else { continue }
            guard let index = result.rows.firstIndex(where: { isTable($0.partial.names) }),
                let values = result.rows[index].values,
                result.rows[index].columns.contains(where: { $0.lowercased() == rows.column.lowercased() })
            else {
                throw SyncError(
                    .scopeUnsupported,
                    "of table \(rows.table), rows by column \(rows.column) only may be read here: choose some of them"
                )
            }
            let others = values.filter { !rows.values.contains($0) }
            guard others.isEmpty else {
                throw SyncError(
                    .scopeUnsupported,
                    "rows of table \(rows.table) were chosen by a value of \(rows.column) that may not be read here"
                )
            }
        }
        return result
    }
}
