import ArgumentParser
import CipherStore
import Foundation
import SyncEngine

/// Shows how a store stands.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show tracked tables, other replicas, conflicts and parked rows.",
        usage: "syncctl status <store> [<options>]",
        discussion: """
            Exits with 3 when rows wait for their place, or have a key that is no UUID, or when a \
            table differs from what is tracked; then it says what to do. Tables that are not tracked are \
            named, and stay on this device.

            With --watch it is shown again after each change, whoever makes it, until Ctrl-C: in a terminal \
            in place of what was shown before, else below it. With --json each is one line.

            EXAMPLES:
              syncctl status notes.db --json
              syncctl status notes.db --watch
            """)

    @OptionGroup var options: StoreOptions

    @Flag(help: "Show it again after each change, until Ctrl-C.")
    var watch = false

    @OptionGroup var global: GlobalOptions

    private struct Document: Encodable {
        struct Table: Encodable {
            let name: String
            let rows: Int64
            let unsuitableKeys: Int64
        }
        struct Peer: Encodable {
            let replica: String
            let name: String
            let lastContact: String
            let pending: Int64
        }
        struct Waiting: Encodable {
            let table: String
            let reason: String
            let rows: Int64
        }
        struct Remark: Encodable {
            let table: String
            let text: String
        }
        let store: String
        let replica: String
        let database: String
        let cipher: String
        let schema: [Remark]
        let waiting: [Waiting]
        let tables: [Table]
        let peers: [Peer]
        struct Remote: Encodable {
            let name: String
            let lastAttempt: String
            let lastSuccess: String?
            let failures: Int64
            let error: String?
            let clockAheadMs: Int64
            let tables: [String]?
            let rows: [String]?
        }
        let remotes: [Remote]
        let conflicts: Int64
        let parked: Int64
        let untracked: [String]
        /// The number of the last change that was made here, and how many came of others.
        let written: Int64
        let received: Int64
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let queue = try context.openForReading(options)
            guard watch else {
                let standing = try StoreStanding(queue)
                try context.print(document(standing), text: text(standing, context))
                return standing.needsAttention ? .attention : .success
            }
            Interruption.listen()
            return try StatusWatch(context: context, queue: queue).run(
                document: { document($0) }, text: { text($0, context) })
        }
    }

    private func document(_ standing: StoreStanding) -> Document {
        let status = standing.status
        return Document(
            store: options.store, replica: status.replica.description, database: status.store.description,
            cipher: EngineFeatures.current.cipherVersion ?? "",
            schema: status.schemaRemarks.map { .init(table: $0.table, text: $0.text) },
            waiting: status.parked.map { .init(table: $0.table, reason: $0.reason, rows: $0.rowCount) },
            tables: status.tables.map {
                .init(name: $0.name, rows: $0.rowCount, unsuitableKeys: $0.unsuitableKeyCount)
            },
            peers: status.peers.map {
                .init(
                    replica: $0.replica.description, name: $0.name,
                    lastContact: HumanFormat.timestamp($0.lastContactMilliseconds), pending: $0.pendingCount)
            },
            remotes: status.remotes.map {
                .init(
                    name: $0.name, lastAttempt: HumanFormat.timestamp($0.lastAttemptMilliseconds),
                    lastSuccess: $0.lastSuccessMilliseconds.map { HumanFormat.timestamp($0) },
                    failures: $0.failureCount, error: $0.lastError, clockAheadMs: $0.clockAheadMilliseconds,
                    tables: $0.scope.tableNames,
                    rows: $0.scope.rows.isEmpty ? nil : $0.scope.rows.map(RowList.text))
            },
            conflicts: status.conflictCount, parked: status.parkedCount, untracked: standing.untracked,
            written: standing.writtenCount, received: standing.receivedCount)
    }

    private func text(_ standing: StoreStanding, _ context: CommandContext) -> String {
        let status = standing.status
        let style = context.terminal.outputStyle
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        var lines = ["\(style.bold(options.store))  replica \(status.replica.shortDescription)"]
        if status.tables.isEmpty {
            lines.append(
                "no table is tracked; start with: syncctl track \(CommandWords.path(options.store)) <table>"
            )
        } else {
            var table = Table([.text("TABLE"), .number("ROWS"), .text("")], indent: 2)
            for item in status.tables {
                let remark =
                    item.unsuitableKeyCount == 0
                    ? ""
                    : "\(HumanFormat.count(Int(item.unsuitableKeyCount), "key is", plural: "keys are")) no UUID: not synchronized"
                table.addRow([
                    .init(item.name), .init(HumanFormat.count(Int(item.rowCount))), .init(remark, .yellow),
                ])
            }
            lines += table.lines(style: style)
        }
        if !standing.untracked.isEmpty {
            let names = standing.untracked.map(PrintableText.escaped).joined(separator: ", ")
            lines.append(style.dim("  not tracked: \(names); see: syncctl help track"))
        }
        if !status.peers.isEmpty {
            var table = Table(
                [.text("REPLICA"), .text("LAST SYNC"), .number("TO PUSH"), .text("REMOTE")], indent: 2)
            for peer in status.peers {
                table.addRow([
                    .init(peer.replica.shortDescription),
                    .init(HumanFormat.age(of: peer.lastContactMilliseconds, now: now)),
                    .init(HumanFormat.count(Int(peer.pendingCount))), .init(peer.name),
                ])
            }
            lines += table.lines(style: style)
        }
        lines += remoteLines(status, style, now)
        if !status.parked.isEmpty {
            var table = Table([.text("WAITING"), .number("ROWS"), .text("REASON")], indent: 2)
            for item in status.parked {
                table.addRow([
                    .init(item.table), .init(HumanFormat.count(Int(item.rowCount))),
                    .init(item.reason, .yellow),
                ])
            }
            lines += table.lines(style: style)
        }
        for remark in status.schemaRemarks {
            lines.append(
                "  \(style.yellow("schema"))  \(PrintableText.escaped(remark.table)): \(PrintableText.escaped(remark.text))"
            )
        }
        lines.append(
            "open conflicts \(HumanFormat.count(Int(status.conflictCount)))   parked rows "
                + HumanFormat.count(Int(status.parkedCount)))
        return lines.joined(separator: "\n")
    }

    /// What there is to say of remotes: why one failed, and what is exchanged with it.
    private func remoteLines(_ status: SyncStatus, _ style: Style, _ now: Int64) -> [String] {
        var lines: [String] = []
        for remote in status.remotes {
            // The hints of a command are for the moment of its failure.
            if var error = remote.lastError?.components(separatedBy: "\nhint: ").first {
                // The name of the remote stands before it.
                if error.hasPrefix("\(remote.name): ") { error.removeFirst(remote.name.count + 2) }
                let age = HumanFormat.age(of: remote.lastAttemptMilliseconds, now: now)
                lines.append(
                    "  \(style.yellow(remote.failureCount == 0 ? "refused" : "failed"))  \(PrintableText.escaped(remote.name)) (\(age)): \(PrintableText.escaped(error))"
                )
                // A mistyped name stays until somebody says so. A program without servers has no such command.
                if remote.lastSuccessMilliseconds == nil, remote.failureCount > 0,
                    NetworkSupport.access != nil
                {
                    let name = CommandWords.operand(PrintableText.escaped(remote.name))
                    lines.append(
                        "          it never succeeded, and is forgotten by: syncctl remote remove \(CommandWords.path(options.store)) \(name)"
                    )
                }
            }
            if let tables = remote.scope.tableNames {
                let names = tables.map(PrintableText.escaped).joined(separator: ", ")
                lines.append("  tables  with \(PrintableText.escaped(remote.name)): only \(names)")
            }
            for rows in remote.scope.rows {
                lines.append(
                    "  rows    with \(PrintableText.escaped(remote.name)): only \(PrintableText.escaped(RowList.text(rows)))"
                )
            }
            if remote.clockAheadMilliseconds > 0 {
                lines.append(
                    "  \(style.yellow("clock"))   what came of \(PrintableText.escaped(remote.name)) is \(HumanFormat.span(remote.clockAheadMilliseconds)) ahead of the clock here"
                )
            }
        }
        return lines
    }
}
