import CipherStore
import SyncWire

/// The tables and columns that are known here, found by their names and other names.
///
/// A bundle can name many, so each is found, and added, at once.
struct KnownNames {
    private struct Columns {
        var all: [SyncedTable.Column] = []
        var byName: [String: Int] = [:]
        var byNumber: [Int: Int] = [:]
        /// The column's number by its other names.
        var aliases: [String: Int] = [:]

        mutating func append(_ column: SyncedTable.Column) {
            byName[column.name.identifierKey] = all.count
            byNumber[column.number] = all.count
            aliases[column.name.identifierKey] = nil
            all.append(column)
        }
    }

    private var tablesByNumber: [Int64: SyncedTable] = [:]
    private var columns: [Int64: Columns] = [:]
    private var numbers: [String: Int64] = [:]
    /// The table's number by its other names.
    private var aliases: [String: Int64] = [:]

    /// Reads what is known.
    init(_ db: Database) throws {
        for table in try SyncedTable.loadAll(db) { add(table) }
        for (table, column, name) in try NameAliases(db).all {
            if let column {
                columns[table]?.aliases[name.identifierKey] = column
            } else {
                aliases[name.identifierKey] = table
            }
        }
    }

    // MARK: Finding

    /// The tables, with the columns that they have by now.
    var tables: [SyncedTable] { tablesByNumber.keys.sorted().compactMap(table) }

    /// The table of a number, with the columns that it has by now.
    func table(_ number: Int64) -> SyncedTable? {
        tablesByNumber[number].map {
            SyncedTable(
                number: $0.number, name: $0.name, key: $0.key, place: $0.place,
                columns: columns[number]?.all ?? [])
        }
    }

    /// The number of the table that a name means: its own name, or another one.
    func number(ofTable name: String) -> Int64? {
        let key = name.identifierKey
        return numbers[key] ?? aliases[key]
    }

    /// The column of a table that a name means.
    func column(_ name: String, of table: Int64) -> SyncedTable.Column? {
        guard let columns = columns[table] else { return nil }
        let key = name.identifierKey
        let index = columns.byName[key] ?? columns.aliases[key].flatMap { columns.byNumber[$0] }
        return index.map { columns.all[$0] }
    }

    // MARK: Reused names

    /// The tables of a header that are new ones under a former name of a table here.
    ///
    /// They come behind the renamed table, as headers name tables in the order in which the sender got to know them. Before
    /// it comes the former name of a table that the sender takes for two, as nobody told it that they are one.
    ///
    /// - parameter names: The names of the header's tables, in its order.
    func reused(ofTables names: [String]) -> [String] {
        var seen: Set<Int64> = []
        return names.filter { name in
            if let own = numbers[name.identifierKey] {
                seen.insert(own)
                return false
            }
            return number(ofTable: name).map(seen.contains) ?? false
        }
    }

    /// The columns of a table of a header that are new ones under a former name of a column here, as with tables.
    ///
    /// - parameter names: The names of the header's columns, in its order.
    func reused(_ names: [String], of table: Int64) -> [String] {
        var seen: Set<Int> = []
        return names.filter { name in
            guard let column = column(name, of: table) else { return false }
            guard column.name.isSameIdentifier(as: name) else { return seen.contains(column.number) }
            seen.insert(column.number)
            return false
        }
    }

    /// Forgets another name of a table.
    mutating func remove(alias: String) { aliases[alias.identifierKey] = nil }

    /// Forgets another name of a column.
    mutating func remove(alias: String, of table: Int64) {
        columns[table]?.aliases[alias.identifierKey] = nil
    }

    // MARK: Adding

    /// Adds what other names mean in a bundle that is being read, also those for which there is no room to keep them.
    mutating func addOtherNames(of other: KnownNames) {
        for (key, table) in other.aliases
        where numbers[key] == nil && aliases[key] == nil && tablesByNumber[table] != nil {
            aliases[key] = table
        }
        for (table, former) in other.columns {
            guard var present = columns[table] else { continue }
            for (key, column) in former.aliases
            where present.byName[key] == nil && present.aliases[key] == nil
                && present.byNumber[column] != nil
            {
                present.aliases[key] = column
            }
            columns[table] = present
        }
    }

    /// Adds a table.
    mutating func add(_ table: SyncedTable) {
        tablesByNumber[table.number] = table
        numbers[table.name.identifierKey] = table.number
        aliases[table.name.identifierKey] = nil
        var columns = Columns()
        for column in table.columns { columns.append(column) }
        self.columns[table.number] = columns
    }

    /// Adds columns to a table.
    mutating func add(_ added: some Sequence<SyncedTable.Column>, to table: Int64) {
        for column in added { columns[table, default: Columns()].append(column) }
    }

    /// Makes one column of two.
    mutating func unite(_ absent: SyncedTable.Column, into kept: SyncedTable.Column, of table: Int64) {
        guard let before = columns[table] else { return }
        var after = Columns()
        for column in before.all where column.number != absent.number { after.append(column) }
        after.aliases = before.aliases.mapValues { $0 == absent.number ? kept.number : $0 }
        if !absent.name.isSameIdentifier(as: kept.name) {
            after.aliases[absent.name.identifierKey] = kept.number
        }
        columns[table] = after
    }

    /// Adds another name of a table.
    mutating func add(alias: String, ofTable table: Int64) { aliases[alias.identifierKey] = table }

    /// Adds another name of a column.
    mutating func add(alias: String, ofColumn column: Int, in table: Int64) {
        columns[table, default: Columns()].aliases[alias.identifierKey] = column
    }
}
