import CipherStore
import SyncWire

/// Matches the tables and columns of a bundle with those that are known here.
///
/// A name that is known means what has it. Otherwise the other names decide, those
/// of the bundle and those of this store; what none of them says is new, and goes
/// into the metadata.
struct NameMatching {
    let db: Database
    let environment: SyncEnvironment
    let declarations: NameDeclarations

    /// Matches a table.
    ///
    /// - returns: The table, and its column for each column of the bundle.
    func match(
        _ header: BundleHeader.Table
    ) throws -> (table: SyncedTable, columns: [SyncedTable.Column]) {
        var table = try find(header)
        for name in declarations.names(ofTable: header.name) + [header.name] {
            try NameAliases.add(db, name, ofTable: table.number)
        }
        for name in header.columns { table = try learn(name, header, table) }
        let aliases = try NameAliases(db)
        let columns = try header.columns.map { name in
            let number = aliases.column(named: name, in: table.number)
            let column =
                table.columns.first { $0.name.lowercased() == name.lowercased() }
                ?? table.columns.first { $0.number == number }
            guard let column else {
                throw SyncError(.damagedMetadata, "column \(name) of table \(header.name) can't be matched")
            }
            return column
        }
        return (table, columns)
    }

    private func find(_ header: BundleHeader.Table) throws -> SyncedTable {
        let known = try SyncedTable.loadAll(db)
        let aliases = try NameAliases(db)
        for name in [header.name] + declarations.names(ofTable: header.name) {
            if let table = known.first(where: { $0.name.lowercased() == name.lowercased() }) { return table }
            if let number = aliases.table(named: name), let table = known.first(where: { $0.number == number }) {
                return table
            }
        }
        return try SyncedTable.register(
            db, name: header.name, key: header.key, columns: [], isTracked: false)
    }

    /// Sees to it that the table has a column that a name means.
    private func learn(
        _ name: String, _ header: BundleHeader.Table, _ table: SyncedTable
    ) throws -> SyncedTable {
        let others = declarations.names(ofColumn: name, in: header.name)
        let aliases = try NameAliases(db)
        let named = { (name: String) -> SyncedTable.Column? in
            table.columns.first { $0.name.lowercased() == name.lowercased() }
                ?? aliases.column(named: name, in: table.number).flatMap { number in
                    table.columns.first { $0.number == number }
                }
        }
        var table = table
        var column = named(name)
        let same = others.compactMap(named)
        if let known = column {
            for other in same where other.number != known.number {
                guard let kept = try unite(known, other, table) else { continue }
                column = kept
                table = try SyncedTable.load(db, number: table.number)
                break
            }
        } else if let first = same.first {
            column = first
        } else {
            table = try table.addingColumns(db, [name], place: .elsewhere)
            column = table.columns.last
        }
        guard let column else { return table }
        for name in [name] + others {
            try NameAliases.add(db, name, ofColumn: column.number, in: table.number)
        }
        return table
    }

    /// Makes one column of two, unless the table here has both.
    ///
    /// - returns: The one that stays.
    private func unite(
        _ first: SyncedTable.Column, _ second: SyncedTable.Column, _ table: SyncedTable
    ) throws -> SyncedTable.Column? {
        guard !first.isPresent || !second.isPresent else { return nil }
        let (absent, kept) = first.isPresent ? (second, first) : (first, second)
        try ColumnUnion(db: db, environment: environment).unite(absent, into: kept, of: table)
        return kept
    }
}
