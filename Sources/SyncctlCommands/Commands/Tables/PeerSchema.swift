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

    private struct Document: Encodable {
        struct Item: Encodable {
            let name: String
            let sql: [String]
            let here: Presence
        }
        let store: String
        let remote: String
        let tables: [Item]
    }

    /// Prints the definitions.
    func show(_ pair: RemotePair, _ context: CommandContext) throws -> ExitStatus {
        let all = try pair.synchronizer.definitions(from: pair.transport)
        let own = try pair.synchronizer.writer.read { try StoreSchema.load($0, tables: []) }
        let items = try chosen(of: all).map { table in
            Document.Item(name: table.name, sql: table.statements, here: Self.presence(of: table, in: own))
        }
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

    private func chosen(of all: [SharedTable]) throws -> [SharedTable] {
        guard !names.isEmpty else { return all }
        return try names.map { name in
            guard let table = all.first(where: { $0.name.isSameIdentifier(as: name) }) else {
                throw Failure(
                    "\(remote) exchanges no table \(name)",
                    hints: ["tables: \(all.map(\.name).joined(separator: ", "))"])
            }
            return table
        }
    }

    /// Case, spaces and quotation marks do not count.
    private static func presence(of table: SharedTable, in own: [StoreSchema]) -> Presence {
        guard let here = own.first(where: { $0.name.isSameIdentifier(as: table.name) }) else {
            return .missing
        }
        return table.statements.first.map(words) == words(here.sql) ? .same : .different
    }

    private static func words(_ sql: String) -> String {
        sql.lowercased().filter { !$0.isWhitespace && $0 != "\"" && $0 != "`" }
    }

    private static func text(_ item: Document.Item) -> String {
        let remark =
            switch item.here {
            case .missing: "-- this store has no table \(PrintableText.escaped(item.name))\n"
            case .different: "-- this store defines table \(PrintableText.escaped(item.name)) otherwise\n"
            case .same: ""
            }
        return remark
            + item.sql.map { statement in
                statement.split(separator: "\n", omittingEmptySubsequences: false)
                    .map { PrintableText.escaped(String($0)) }.joined(separator: "\n") + ";"
            }.joined(separator: "\n")
    }
}
