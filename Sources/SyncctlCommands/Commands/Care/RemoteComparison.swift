import SyncEngine
import SyncWire

/// Compares a store with another one, for `verify --remote`.
struct RemoteComparison {
    let options: StoreOptions
    let remote: String
    let passphrase: RemotePassphraseOptions
    let repairs: Bool

    /// So many keys of a table are shown.
    private static let keyCountMax = 20

    private struct Document: Encodable {
        struct Table: Encodable {
            let table: String
            let rows: Int
            let keys: [String]
        }
        let store: String
        let remote: String
        let equal: Bool
        let repaired: Bool
        let differingRows: Int
        let conflicts: Int64
        let tables: [Table]
        /// The tables of the store that are not compared, because they are not tracked.
        let untracked: [String]
        let reason: String?
    }

    func run(_ context: CommandContext) throws -> ExitStatus {
        let pair = try RemotePair.open(options, remote, passphrase, context)
        let line = ElapsedLine(repairs ? "repairing" : "comparing", terminal: context.terminal)
        defer { line.finish() }
        let divergence = try pair.synchronizer.compare(with: pair.transport, repairing: repairs)
        line.finish()
        let (tracked, untracked) = try tables(of: pair.synchronizer)
        let isRepaired = divergence?.isRepaired ?? false
        let document = Document(
            store: options.store, remote: remote, equal: divergence == nil, repaired: isRepaired,
            differingRows: divergence?.rowCount ?? 0, conflicts: divergence?.conflictCount ?? 0,
            tables: (divergence?.tables ?? []).map {
                .init(
                    table: $0.name, rows: $0.keys.count,
                    keys: $0.keys.prefix(Self.keyCountMax).map(\.description))
            }, untracked: untracked, reason: divergence?.failure?.message)
        let tables = try pair.tableNames()
        try context.print(
            document,
            text: tracked.isEmpty
                ? "nothing to compare: no table of \(options.store) is tracked"
                : text(divergence, tables, context))
        if tracked.isEmpty {
            try context.untrackedRemark(pair.synchronizer, options.store)
        } else if !untracked.isEmpty && tables == nil {
            let names = untracked.map(PrintableText.escaped).joined(separator: ", ")
            context.note("not compared, because not tracked here: \(names)")
        }
        guard let divergence, !isRepaired else { return .success }
        if let failure = divergence.failure {
            context.note("the rows could not be made equal: \(failure.message)")
        } else {
            context.note(
                "hint: make them equal with: syncctl verify \(CommandWords.path(options.store)) --remote \(CommandWords.path(remote)) --repair"
            )
        }
        return .integrityFailed
    }

    /// The tables of the store that are tracked, and the others, which nobody exchanges.
    private func tables(of synchronizer: Synchronizer) throws -> (tracked: [String], others: [String]) {
        try synchronizer.writer.read { db in
            let tracked = try ServedState.tableNames(db)
            let keys = Set(tracked.map(\.identifierKey))
            return (tracked, try TextExport.contentTables(db).filter { !keys.contains($0.identifierKey) })
        }
    }

    private func text(_ divergence: Divergence?, _ tables: [String]?, _ context: CommandContext) -> String {
        guard let divergence else {
            let names = tables?.map(PrintableText.escaped).joined(separator: ", ")
            let scope = names.map { " in \($0), which they exchange" } ?? ""
            return "\(options.store) and \(remote) hold the same\(scope)"
        }
        var table = Table([.text("TABLE"), .text("ROW")], indent: 2)
        for found in divergence.tables {
            for key in found.keys.prefix(Self.keyCountMax) {
                table.addRow([Table.Cell(found.name), Table.Cell(key.description)])
            }
            let rest = found.keys.count - Self.keyCountMax
            if rest > 0 {
                table.addRow([
                    Table.Cell(found.name), Table.Cell("and \(HumanFormat.count(rest, "more row"))"),
                ])
            }
        }
        let conflicts =
            divergence.isRepaired ? ", now equal, \(ExchangeText.conflicts(divergence.conflictCount))" : ""
        return
            "\(HumanFormat.count(divergence.rowCount, "row")) of \(options.store) and \(remote) differed\(conflicts)\n"
            + table.text(style: context.terminal.outputStyle)
    }
}

extension CommandContext {
    /// Says that two stores which knew the same did not hold the same.
    func divergenceRemark(_ divergence: Divergence?, _ store: String, _ remote: String) -> ExitStatus {
        guard let divergence else { return .success }
        let rows = HumanFormat.count(divergence.rowCount, "row")
        guard divergence.isRepaired else {
            note(
                """
                both stores know the same changes and do not hold the same: \(rows) \(divergence.rowCount == 1 ? "differs" : "differ"); \
                \(divergence.failure?.message ?? "")
                """)
            note(
                "hint: see syncctl verify \(CommandWords.path(store)) --remote \(CommandWords.path(remote)) --repair"
            )
            return .integrityFailed
        }
        note(
            """
            both stores knew the same changes and did not hold the same: \(rows) differed and were made equal; \
            values that lost are conflicts. Damage, or a program that changed the file's _sync_ tables, causes that
            """)
        return .attention
    }
}
