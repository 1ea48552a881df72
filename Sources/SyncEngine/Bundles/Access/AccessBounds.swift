import CipherStore
import SyncWire

/// What a device may exchange with a store that serves it, in the numbers of that store: so it survives that tables
/// and columns are renamed.
package struct AccessBounds: Equatable, Sendable {
    /// The rows of a table that a device may exchange.
    package struct Rows: Equatable, Sendable {
        /// The table's number.
        package let table: Int64
        /// The scope column's number.
        package let column: Int
        /// The values of the column whose rows are exchanged.
        package let values: [ScopeValue]

        /// Makes the bounds of a table.
        package init(table: Int64, column: Int, values: [ScopeValue]) {
            (self.table, self.column, self.values) = (table, column, values)
        }
    }

    /// The tables; nil for all.
    package let tables: [Int64]?
    /// The tables of which some rows only are exchanged.
    package let rows: [Rows]

    /// Makes bounds.
    package init(tables: [Int64]?, rows: [Rows] = []) {
        (self.tables, self.rows) = (tables, rows)
    }
}

/// What a device may exchange, with all names that the server knows, for the device to find its own tables by.
package struct AccessNames: Equatable, Sendable {
    /// The rows of a table.
    package struct Rows: Equatable, Sendable {
        /// The table, by its name and its other names.
        package let table: [String]
        /// The scope column, by its name and its other names; none when it is gone.
        package let column: [String]
        /// The values of the column whose rows are exchanged.
        package let values: [ScopeValue]

        /// Makes the names of a table's bounds.
        package init(table: [String], column: [String], values: [ScopeValue]) {
            (self.table, self.column, self.values) = (table, column, values)
        }
    }

    /// The tables, each by its name and its other names; nil for all.
    package let tables: [[String]]?
    /// The tables of which some rows only are exchanged.
    package let rows: [Rows]

    /// Makes names.
    package init(tables: [[String]]?, rows: [Rows]) { (self.tables, self.rows) = (tables, rows) }

    /// Finds the names of what bounds speak of.
    package init(_ db: Database, _ bounds: AccessBounds) throws {
        let all = try SyncedTable.loadAll(db)
        let aliases = try NameAliases(db)
        func names(_ number: Int64) -> [String] {
            guard let table = all.first(where: { $0.number == number }) else { return [] }
            return [table.name] + aliases.names(ofTable: number)
        }
        tables = bounds.tables?.map(names).filter { !$0.isEmpty }.sorted { $0[0] < $1[0] }
        rows = bounds.rows.map { rows in
            let columns = all.first { $0.number == rows.table }?.columns ?? []
            let name = columns.first { $0.number == rows.column }?.name
            return Rows(
                table: names(rows.table),
                column: name.map { [$0] + aliases.names(ofColumn: rows.column, in: rows.table) } ?? [],
                values: rows.values)
        }
    }

    /// The same as a choice, with the names that the server uses.
    package var scope: SyncScope {
        var scope = SyncScope(tableNames: tables?.compactMap(\.first))
        for rows in rows {
            scope = scope.rows(
                of: rows.table.first ?? "", where: rows.column.first ?? "", in: rows.values)
        }
        return scope
    }
}
