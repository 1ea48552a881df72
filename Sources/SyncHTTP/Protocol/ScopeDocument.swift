import SyncEngine
import SyncWire

extension Message {
    /// What a device may exchange, with all names that the server knows of tables and columns; absent for everything.
    struct Scope: Codable, Equatable {
        /// The rows of a table.
        struct Rows: Codable, Equatable {
            let table: [String]
            let column: [String]
            let values: [Value]
        }

        let tables: [[String]]?
        let rows: [Rows]?

        init(_ names: AccessNames) {
            tables = names.tables
            rows =
                names.rows.isEmpty
                ? nil
                : names.rows.map {
                    Rows(table: $0.table, column: $0.column, values: $0.values.map(Value.init))
                }
        }

        var names: AccessNames {
            AccessNames(
                tables: tables,
                rows: (rows ?? []).map {
                    AccessNames.Rows(table: $0.table, column: $0.column, values: $0.values.map(\.value))
                })
        }
    }
}
