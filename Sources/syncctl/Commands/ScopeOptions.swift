import ArgumentParser
import SyncEngine

/// A list of tables, separated by commas. Names that have a comma, or begin or end with a space, can't be said so.
struct TableList: ExpressibleByArgument {
    let names: [String]

    init?(argument: String) {
        var names: [String] = []
        for name in argument.split(separator: ",", omittingEmptySubsequences: false) {
            var name = name
            while name.first == " " { name.removeFirst() }
            while name.last == " " { name.removeLast() }
            guard !name.isEmpty else { return nil }
            let isTwice = names.contains { $0.lowercased() == name.lowercased() }
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

    func validate() throws {
        if tables != nil && allTables {
            throw ValidationError("--tables and --all-tables exclude each other")
        }
    }

    /// What was chosen; nil when the choice stays.
    var scope: SyncScope? { allTables ? .everything : tables.map { .tables($0.names) } }
}
