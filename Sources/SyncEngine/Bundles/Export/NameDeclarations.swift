import CipherStore
import SyncWire

/// What a bundle says about names that mean the same table or column.
///
/// In a header they are tables whose names are reserved and that have no rows: one
/// for each table, and for each column, that has several names.
struct NameDeclarations {
    /// Names of a table: its columns are the table's name and the others.
    static let tableNames = "_sync_table_names"
    /// Names of a column: the key is the table's name, the columns are the column's name and the others.
    static let columnNames = "_sync_column_names"

    /// The tables that the header of a bundle needs.
    static func tables(of tables: [SyncedTable], _ aliases: NameAliases) -> [BundleHeader.Table] {
        tables.flatMap { table in
            let names = aliases.names(ofTable: table.number)
            let own =
                names.isEmpty
                ? [] : [BundleHeader.Table(name: tableNames, key: table.name, columns: [table.name] + names)]
            return own
                + table.columns.compactMap { column in
                    let names = aliases.names(ofColumn: column.number, in: table.number)
                    guard !names.isEmpty else { return nil }
                    return BundleHeader.Table(
                        name: columnNames, key: table.name, columns: [column.name] + names)
                }
        }
    }

    private struct Subject: Hashable {
        let kind: String
        let table: String
        let name: String
    }

    private let others: [Subject: [String]]

    /// Reads the declarations of a header.
    init(_ header: BundleHeader) {
        var others: [Subject: [String]] = [:]
        for group in header.tables where [Self.tableNames, Self.columnNames].contains(group.name) {
            guard let first = group.columns.first else { continue }
            let subject = Subject(
                kind: group.name, table: group.key.identifierKey, name: first.identifierKey)
            others[subject, default: []] += group.columns.dropFirst()
        }
        self.others = others
    }

    /// The other names of a table.
    func names(ofTable name: String) -> [String] { names(Self.tableNames, table: name, name: name) }

    /// The other names of a column.
    func names(ofColumn name: String, in table: String) -> [String] {
        names(Self.columnNames, table: table, name: name)
    }

    private func names(_ kind: String, table: String, name: String) -> [String] {
        guard !others.isEmpty else { return [] }
        return others[
            Subject(kind: kind, table: table.identifierKey, name: name.identifierKey), default: []]
    }
}
