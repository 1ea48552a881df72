import CipherStore
import SyncWire

/// Matches the tables and columns of a bundle with those that are known here.
///
/// A name that is known means what has it. Otherwise the other names decide, those
/// of the bundle and those of this store; what none of them says is new, and goes
/// into the metadata. Something else that the sender has under the former name of what
/// it names as well is new, too.
final class NameMatching {
    private let db: Database
    private let environment: SyncEnvironment
    private let declarations: NameDeclarations
    private var names: KnownNames
    /// Each looks through the rows of its table, so one bundle may not ask for any number of them.
    private static let unionCountMax = 256
    private var unionCount = 0
    /// The columns of which rows that are gone have values, of the tables of which columns were united.
    private var lastColumns: [Int64: Set<Int>] = [:]
    /// The other names of all tables and columns that are kept.
    private var otherNameCount: Int
    /// Whether anything was new.
    private var hasLearnt = false

    /// Reads what is known.
    init(_ db: Database, _ environment: SyncEnvironment, _ declarations: NameDeclarations) throws {
        self.db = db
        self.environment = environment
        self.declarations = declarations
        names = try KnownNames(db)
        otherNameCount = try NameAliases.count(db)
    }

    /// Adds what is new in the tables of a bundle to the metadata.
    ///
    /// - returns: The tables that have names here; the others have facts of the format's own.
    /// - throws: ``SyncError``: `invalidBundle`; `capacityExceeded` when there would be more names than a store keeps.
    func learn(_ header: BundleHeader) throws -> ArraySlice<BundleHeader.Table> {
        let named = header.tables.prefix { !MetadataSchema.isReserved($0.name) }
        guard header.tables.dropFirst(named.count).allSatisfy({ MetadataSchema.isReserved($0.name) }) else {
            throw SyncError(.invalidBundle, "the bundle names its tables in another order than it may")
        }
        for name in names.reused(ofTables: named.map(\.name)) {
            try NameAliases.release(db, table: name)
            names.remove(alias: name)
        }
        for table in named {
            guard Set(table.columns.map(\.identifierKey)).count == table.columns.count else {
                throw SyncError(
                    .invalidBundle, "table \(table.name.debugDescription) names a column twice")
            }
            // The key may have another name here, which can be that of a column there.
            guard !table.columns.contains(where: table.key.isSameIdentifier) else {
                throw SyncError(
                    .invalidBundle,
                    "table \(table.name.debugDescription) names its key as another column")
            }
            try learn(table)
        }
        try learnPolicies(PolicyDeclarations(header), named)
        if hasLearnt { try Capacity(db).requireRoomForNames(db) }
        // Names for which there is no room mean the same as long as the bundle is read, and are not passed on: were it
        // refused, two replicas that heard other names first would never exchange anything again.
        let meant = names
        // Policies add columns of their own.
        names = try KnownNames(db)
        names.addOtherNames(of: meant)
        return named
    }

    private func learnPolicies(
        _ declared: PolicyDeclarations, _ named: ArraySlice<BundleHeader.Table>
    ) throws {
        guard declared.concerns(named) else { return }
        let before = try Capacity(db)
        try declared.learn(PolicyStore(db: db, environment: environment), named, match: match)
        let after = try Capacity(db)
        // What was known before is no reason to refuse a bundle.
        if after.nameCount > before.nameCount || after.nameByteCount > before.nameByteCount {
            hasLearnt = true
        }
    }

    /// The columns that are known, of all tables.
    func columns() -> Set<String> {
        Set(names.tables.flatMap { table in table.columns.map { "\(table.number) \($0.number)" } })
    }

    /// Finds a table that was learnt.
    ///
    /// - returns: The table, and its column for each column of the bundle.
    func match(_ header: BundleHeader.Table) throws -> (table: SyncedTable, columns: [SyncedTable.Column]) {
        let table = number(header).flatMap(names.table)
        let columns = header.columns.compactMap { name in
            table.flatMap { names.column(name, of: $0.number) }
        }
        guard let table, columns.count == header.columns.count else {
            throw SyncError(
                .invalidBundle, "table \(header.name.debugDescription) of the bundle can't be matched")
        }
        return (table, columns)
    }

    // MARK: Tables

    /// Adds what is new in a table to the metadata: the table, columns, names.
    private func learn(_ header: BundleHeader.Table) throws {
        let number = try number(header) ?? register(header)
        var isFull = !hasRoom
        for name in [header.name] + declarations.names(ofTable: header.name)
        where names.number(ofTable: name) == nil {
            let isKept = try !isFull && NameAliases.add(db, name, ofTable: number, from: .peers)
            isFull = !isKept
            if isKept { noteOtherName() }
            names.add(alias: name, ofTable: number)
        }
        for name in names.reused(header.columns, of: number) {
            try NameAliases.release(db, column: name, of: number)
            names.remove(alias: name, of: number)
        }
        var plain: [String] = []
        var renamed: [(name: String, others: [String])] = []
        for name in header.columns {
            let others = declarations.names(ofColumn: name, in: header.name)
            if !others.isEmpty {
                renamed.append((name, others))
            } else if names.column(name, of: number) == nil {
                plain.append(name)
            }
        }
        try add(plain, to: number)
        for column in renamed { try learn(column.name, column.others, of: number) }
    }

    private func number(_ header: BundleHeader.Table) -> Int64? {
        if let number = names.number(ofTable: header.name) { return number }
        return declarations.names(ofTable: header.name).lazy.compactMap(names.number).first
    }

    private func register(_ header: BundleHeader.Table) throws -> Int64 {
        let table = try SyncedTable.register(
            db, name: header.name, key: header.key, columns: [], isTracked: false)
        names.add(table)
        hasLearnt = true
        return table.number
    }

    // MARK: Columns

    private func add(_ columns: [String], to number: Int64) throws {
        guard !columns.isEmpty, let table = names.table(number) else { return }
        let added = try table.addingColumns(db, columns, place: .elsewhere).columns
        names.add(added.dropFirst(table.columns.count), to: number)
        hasLearnt = true
    }

    /// Sees to it that the table has a column that a name means, under all its names.
    private func learn(_ name: String, _ others: [String], of table: Int64) throws {
        let same = others.compactMap { names.column($0, of: table) }
        var number: Int?
        if let known = names.column(name, of: table) {
            number = known.number
            // Both names were known, as two columns.
            if let other = same.first(where: { $0.number != known.number }) {
                number = try unite(known, other, of: table)
            }
        } else if let first = same.first {
            number = first.number
        } else {
            try add([name], to: table)
            number = names.column(name, of: table)?.number
        }
        guard let number else { return }
        var isFull = !hasRoom
        for name in [name] + others where names.column(name, of: table) == nil {
            let isKept =
                try !isFull && NameAliases.add(db, name, ofColumn: number, in: table, from: .peers)
            isFull = !isKept
            if isKept { noteOtherName() }
            names.add(alias: name, ofColumn: number, in: table)
        }
    }

    private var hasRoom: Bool { otherNameCount < AdmissionLimits.otherNameTotalMax }

    private func noteOtherName() {
        otherNameCount += 1
        hasLearnt = true
    }

    /// Makes one column of two, unless the table here has both.
    ///
    /// - returns: The number of the one that stays.
    private func unite(
        _ first: SyncedTable.Column, _ second: SyncedTable.Column, of number: Int64
    ) throws -> Int? {
        assert(first.number != second.number, "one column would be taken for two, and be gone")
        guard !first.isPresent || !second.isPresent, let table = names.table(number) else { return nil }
        let (absent, kept) = first.isPresent ? (second, first) : (first, second)
        unionCount += 1
        guard unionCount <= Self.unionCountMax else {
            throw SyncError(
                .capacityExceeded,
                "the bundle says of over \(Self.unionCountMax) columns that they are others, which are known here as well"
            )
        }
        var lastColumns = try lastColumns[number] ?? LastRows.columns(db, ofTable: number)
        try ColumnUnion(db: db, environment: environment)
            .unite(absent, into: kept, of: table, lastColumns: lastColumns)
        if lastColumns.remove(absent.number) != nil { lastColumns.insert(kept.number) }
        self.lastColumns[number] = lastColumns
        names.unite(absent, into: kept, of: number)
        hasLearnt = true
        return kept.number
    }
}
