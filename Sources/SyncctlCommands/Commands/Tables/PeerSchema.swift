import CipherStore
import SyncEngine

/// How the tables of another replica are made, for `schema --remote`.
struct PeerSchema {
    let store: String
    let remote: String
    /// The tables; none for all.
    let names: [String]

    /// Whether the store here has a table.
    private enum Presence: String, Encodable {
        case missing
        case same
        case different
    }

    /// A table of the remote, as it is there and as this store has it.
    private struct Table {
        let there: SharedTable
        let here: FoundTable
    }

    private struct Document: Encodable {
        struct Item: Encodable {
            let name: String
            let sql: [String]
            let here: Presence
            /// What the table is called here; absent for one that is not here.
            let nameHere: String?
        }
        let store: String
        let remote: String
        let tables: [Item]
    }

    /// Prints the definitions.
    func show(_ pair: RemotePair, _ context: CommandContext) throws -> ExitStatus {
        let all = try pair.synchronizer.definitions(from: pair.transport)
        let own = try pair.synchronizer.writer.read { try StoreSchema.load($0, tables: []) }
        let found = try zip(all, pair.synchronizer.find(all)).map { Table(there: $0, here: $1) }
        let items = try chosen(of: found).map { Self.item($0, own) }
        try context.print(
            Document(store: store, remote: remote, tables: items),
            text: items.map(Self.text).joined(separator: "\n"))
        if items.isEmpty { context.note("\(remote) exchanges no tables") }
        let missing = items.filter { $0.here == .missing }
        if !missing.isEmpty {
            context.note(
                "make what is missing here with: syncctl sync \(CommandWords.path(store)) --remote \(CommandWords.quoted(remote)) --create-tables"
            )
        }
        return items.contains { $0.here == .different } ? .attention : .success
    }

    private func chosen(of all: [Table]) throws -> [Table] {
        guard !names.isEmpty else { return all }
        return try names.map { name in
            let table =
                all.first { $0.there.name.isSameIdentifier(as: name) }
                ?? all.first { $0.here.name?.isSameIdentifier(as: name) == true }
            guard let table else {
                throw Failure(
                    "\(remote) exchanges no table \(name)",
                    hints: ["tables: \(all.map(\.there.name).joined(separator: ", "))"])
            }
            return table
        }
    }

    /// Names, case, spaces and quotation marks do not count.
    private static func item(_ table: Table, _ own: [StoreSchema]) -> Document.Item {
        let here = table.here.name.flatMap { name in own.first { $0.name.isSameIdentifier(as: name) } }
        let definition = table.here.definition.statements.first.map(words)
        var presence = Presence.missing
        if let here { presence = definition == words(here.sql) ? .same : .different }
        return Document.Item(
            name: table.there.name, sql: table.there.statements, here: presence, nameHere: here?.name)
    }

    private static func words(_ sql: String) -> String {
        sql.lowercased().filter { !$0.isWhitespace && $0 != "\"" && $0 != "`" }
    }

    private static func text(_ item: Document.Item) -> String {
        remarks(item).map { "-- \($0)\n" }.joined()
            + item.sql.map { statement in
                statement.split(separator: "\n", omittingEmptySubsequences: false)
                    .map { PrintableText.escaped(String($0)) }.joined(separator: "\n") + ";"
            }.joined(separator: "\n")
    }

    private static func remarks(_ item: Document.Item) -> [String] {
        let name = PrintableText.escaped(item.name)
        guard let nameHere = item.nameHere else { return ["this store has no table \(name)"] }
        var remarks: [String] = []
        if !nameHere.isSameIdentifier(as: item.name) {
            remarks.append("this store calls table \(name) \(PrintableText.escaped(nameHere))")
        }
        if item.here == .different { remarks.append("this store defines table \(name) otherwise") }
        return remarks
    }
}
