import ArgumentParser
import SyncEngine
import SyncctlCommands

/// The options that say what a device may exchange.
struct DeviceScopeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Exchange these tables only with the device.", valueName: "table,…"))
    var tables: TableList?

    @Option(
        help: ArgumentHelp(
            "Exchange these rows of a table only with the device: those with one of some values in a column. Values are text; others are int:5, hex:00ff, uuid:…, null:. Can be repeated.",
            valueName: "table.column=value,…"))
    var rows: [RowList] = []

    func validate() throws {
        let tables = rows.map { $0.table.identifierKey }
        if Set(tables).count < tables.count {
            throw ValidationError("--rows is given twice for one table: give all values at once")
        }
    }

    /// Whether anything was chosen.
    var isGiven: Bool { tables != nil || !rows.isEmpty }

    /// What is exchanged.
    var scope: SyncScope {
        var scope = tables.map { SyncScope.tables($0.names) } ?? .everything
        for list in rows { scope = scope.rows(of: list.table, where: list.column, in: list.values) }
        return scope
    }
}
