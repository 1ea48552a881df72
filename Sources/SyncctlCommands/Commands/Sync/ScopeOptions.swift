import ArgumentParser
import SyncEngine

/// A list of tables, separated by commas. Names that have a comma, or begin or end with a space, can't be said so.
package struct TableList: ExpressibleByArgument {
    package let names: [String]

    package init?(argument: String) {
        var names: [String] = []
        for name in argument.split(separator: ",", omittingEmptySubsequences: false) {
            var name = name
            while name.first == " " { name.removeFirst() }
            while name.last == " " { name.removeLast() }
            guard !name.isEmpty else { return nil }
            let isTwice = names.contains { $0.isSameIdentifier(as: String(name)) }
            if !isTwice { names.append(String(name)) }
        }
        self.names = names
    }
}

/// The options that choose what is exchanged with a remote.
struct ScopeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Exchange these tables only with the remote, from now on.", valueName: "table,…"))
    var tables: TableList?

    @Flag(help: "Exchange all tables with the remote again, from now on.")
    var allTables = false

    @Option(
        help: ArgumentHelp(
            "Hold these rows of a table only, from now on: those with one of some values in a column. Values are text; others are int:5, hex:00ff, uuid:…, null:. Can be repeated.",
            valueName: "table.column=value,…"))
    var rows: [RowList] = []

    @Flag(help: "Hold all rows again, from now on.")
    var allRows = false

    func validate() throws {
        if !rows.isEmpty && allRows { throw ValidationError("--rows and --all-rows exclude each other") }
        let tables = rows.map { $0.table.identifierKey }
        if Set(tables).count < tables.count {
            throw ValidationError("--rows is given twice for one table: give all values at once")
        }
        try validateTables()
    }

    private func validateTables() throws {
        if tables != nil && allTables {
            throw ValidationError("--tables and --all-tables exclude each other")
        }
    }

    /// Whether anything was chosen.
    var isGiven: Bool { tables != nil || allTables || !rows.isEmpty || allRows }

    /// What is exchanged from now on: tables and rows are chosen apart from each other.
    ///
    /// - parameter present: What was exchanged until now.
    func scope(after present: SyncScope) -> SyncScope {
        var scope = SyncScope.everything
        if let names = allTables ? nil : tables?.names ?? present.tableNames { scope = .tables(names) }
        let chosen = Set((scope.tableNames ?? []).map { $0.identifierKey })
        for kept in allRows ? [] : present.rows
        where scope.tableNames == nil || chosen.contains(kept.table.identifierKey) {
            scope = scope.rows(of: kept.table, where: kept.column, in: kept.values)
        }
        for list in rows { scope = scope.rows(of: list.table, where: list.column, in: list.values) }
        return scope
    }
}
