import CipherStore
import SyncWire

/// Matches the tables and columns of a bundle with those that are known here.
///
/// A name that is known means what has it. Otherwise the other names decide, those
/// of the bundle and those of this store; what none of them says is new, and goes
/// into the metadata.
final class NameMatching {
    private let db: Database
    private let environment: SyncEnvironment
    private let declarations: NameDeclarations
    private var known: [SyncedTable]
    private var aliases: NameAliases

    /// Reads what is known.
    init(_ db: Database, _ environment: SyncEnvironment, _ declarations: NameDeclarations) throws {
        self.db = db
        self.environment = environment
        self.declarations = declarations
        known = try SyncedTable.loadAll(db)
        aliases = try NameAliases(db)
    }

    /// Reads anew what is known.
    func reload() throws {
        known = try SyncedTable.loadAll(db)
        aliases = try NameAliases(db)
    }

    /// Adds what is new in the tables of a bundle to the metadata.
    ///
    /// - returns: The tables that have names here; the others have facts of the format's own.
    func learn(_ header: BundleHeader) throws -> ArraySlice<BundleHeader.Table> {
        let named = header.tables.prefix { !MetadataSchema.isReserved($0.name) }
        guard header.tables.dropFirst(named.count).allSatisfy({ MetadataSchema.isReserved($0.name) }) else {
            throw SyncError(.invalidBundle, "the bundle names its tables in another order than it may")
        }
        for table in named {
            let names = Set(table.columns.map { $0.lowercased() })
            guard names.count == table.columns.count else {
                throw SyncError(.invalidBundle, "table \(table.name) names a column twice")
            }
            try learn(table)
        }
        try PolicyDeclarations(header).learn(
            PolicyStore(db: db, environment: environment), named, match: match)
        try reload()
        return named
    }

    /// The columns that are known, of all tables.
    func columns() -> Set<String> {
        Set(known.flatMap { table in table.columns.map { "\(table.number) \($0.number)" } })
    }

    /// Adds what is new in a table to the metadata: the table, columns, names.
    private func learn(_ header: BundleHeader.Table) throws {
        let others = declarations.names(ofTable: header.name)
        let number = try table(header)?.number ?? register(header)
        for name in others + [header.name] where !isTable(name) {
            try NameAliases.add(db, name, ofTable: number)
        }
        if !others.isEmpty { try reload() }
        for name in header.columns {
            let others = declarations.names(ofColumn: name, in: header.name)
            guard let table = known.first(where: { $0.number == number }) else { continue }
            if others.isEmpty, column(name, of: table) != nil { continue }
            try learn(name, others, table)
            try reload()
        }
    }

    /// Finds a table that was learnt.
    ///
    /// - returns: The table, and its column for each column of the bundle.
    func match(_ header: BundleHeader.Table) throws -> (table: SyncedTable, columns: [SyncedTable.Column]) {
        let table = try table(header)
        let columns = header.columns.compactMap { name in table.flatMap { column(name, of: $0) } }
        guard let table, columns.count == header.columns.count else {
            throw SyncError(.damagedMetadata, "table \(header.name) of the bundle can't be matched")
        }
        return (table, columns)
    }

    // MARK: Tables

    private func isTable(_ name: String) -> Bool {
        known.contains { $0.name.lowercased() == name.lowercased() }
    }

    private func table(_ header: BundleHeader.Table) throws -> SyncedTable? {
        for name in [header.name] + declarations.names(ofTable: header.name) {
            let number = aliases.table(named: name)
            let found =
                known.first { $0.name.lowercased() == name.lowercased() }
                ?? known.first { $0.number == number }
            if let found { return found }
        }
        return nil
    }

    private func register(_ header: BundleHeader.Table) throws -> Int64 {
        let table = try SyncedTable.register(
            db, name: header.name, key: header.key, columns: header.columns, isTracked: false)
        try reload()
        return table.number
    }

    // MARK: Columns

    private func column(_ name: String, of table: SyncedTable) -> SyncedTable.Column? {
        if let column = table.columns.first(where: { $0.name.lowercased() == name.lowercased() }) {
            return column
        }
        let number = aliases.column(named: name, in: table.number)
        return table.columns.first { $0.number == number }
    }

    /// Sees to it that the table has a column that a name means.
    private func learn(_ name: String, _ others: [String], _ table: SyncedTable) throws {
        let same = others.compactMap { column($0, of: table) }
        var number: Int?
        if let known = column(name, of: table) {
            number = known.number
            // Both names were known, as two columns.
            if let other = same.first(where: { $0.number != known.number }) {
                number = try unite(known, other, table)
            }
        } else if let first = same.first {
            number = first.number
        } else {
            number = try table.addingColumns(db, [name], place: .elsewhere).columns.last?.number
        }
        guard let number else { return }
        for name in [name] + others { try NameAliases.add(db, name, ofColumn: number, in: table.number) }
    }

    /// Makes one column of two, unless the table here has both.
    ///
    /// - returns: The number of the one that stays.
    private func unite(
        _ first: SyncedTable.Column, _ second: SyncedTable.Column, _ table: SyncedTable
    ) throws -> Int? {
        guard !first.isPresent || !second.isPresent else { return nil }
        let (absent, kept) = first.isPresent ? (second, first) : (first, second)
        try ColumnUnion(db: db, environment: environment).unite(absent, into: kept, of: table)
        return kept.number
    }
}
