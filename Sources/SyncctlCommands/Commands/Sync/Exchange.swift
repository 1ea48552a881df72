import CipherStore
import Foundation
import SyncEngine

/// What the three commands do.
struct Exchange {
    let direction: SyncDirection
    let options: StoreOptions
    let remote: RemoteOptions
    let global: GlobalOptions
    var addsSnapshot = false

    private struct DivergenceDocument: Encodable {
        let rows: Int
        let tables: [String]
        let repaired: Bool
        let reason: String?

        init(_ divergence: Divergence) {
            rows = divergence.rowCount
            tables = divergence.tables.map(\.name)
            repaired = divergence.isRepaired
            reason = divergence.failure?.message
        }
    }

    private struct Document: Encodable {
        let store: String
        let remote: String
        let pulled: Int64
        let pushed: Int64
        let conflicts: Int64
        let parked: Int64
        let divergence: DivergenceDocument?
        let bytesPulled: Int64
        let bytesPushed: Int64
        let tables: [String]?
        let rows: [String]?
        let waiting: [Waiting]?
        let refused: String?
        let seconds: Double
    }

    /// A table that waits for another synchronization.
    private struct Waiting: Encodable {
        let table: String
        let reason: String
    }

    func run() throws {
        let named = RemoteArgument(remote.given)
        if case .folder(let folder) = named {
            return try FolderExchange(
                direction: direction, options: options, remote: remote, folder: folder,
                addsSnapshot: addsSnapshot
            ).run(global)
        }
        try CommandContext.run(global) { context in
            try StoreFileCheck.requireStore(options.store)
            guard !named.isNetwork else { return try runOverNetwork(named, context) }
            try StoreFileCheck.requireReplica(remote.remote, of: options.store)
            let own = try context.storeSecret(options)
            let other = try context.secondSecret(
                remote.passphrase, for: remote.remote, own: own, isOwnAsked: context.asks(options))
            Interruption.listen()
            let synchronizer = try Synchronizer(existing: context.open(options.store, own))
            let transport = StoreTransport(path: remote.remote, configuration: context.configuration(other))
            return try run(direction, synchronizer, transport, context)
        }
    }

    private func runOverNetwork(_ named: RemoteArgument, _ context: CommandContext) throws -> ExitStatus {
        let request = RemoteRequest(
            store: options, isNamed: remote.given != nil, command: remote.remoteCommand,
            hasPassphrase: remote.passphrase.isGiven, compression: remote.compression.compression)
        let opened = try NetworkSupport.required().open(named, request, context)
        return try run(direction, opened.synchronizer, opened.transport, context) {
            // The server has said by now whether it takes changes.
            guard try direction == .both && opened.isReadOnly() else { return direction }
            context.note("\(opened.transport.name) takes no changes from this device: pulled only")
            return .pull
        }
    }

    private func run(
        _ direction: SyncDirection, _ synchronizer: Synchronizer, _ transport: some Transport,
        _ context: CommandContext, way: (() throws -> SyncDirection)? = nil
    ) throws -> ExitStatus {
        try choose(synchronizer, transport.name, context)
        let start = ContinuousClock.now
        let report = try exchange(direction, synchronizer, transport, context)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let scope = try synchronizer.scope(ofRemote: transport.name)
        let document = Document(
            store: options.store, remote: remote.remote, pulled: report.pulled?.rowCount ?? 0,
            pushed: report.pushed?.rowCount ?? 0, conflicts: report.conflictCount,
            parked: report.parkedCount, divergence: report.divergence.map(DivergenceDocument.init),
            bytesPulled: report.pulled?.byteCount ?? 0, bytesPushed: report.pushed?.byteCount ?? 0,
            tables: scope.tableNames, rows: scope.rows.isEmpty ? nil : scope.rows.map(RowList.text),
            waiting: report.waitingTables.isEmpty
                ? nil : report.waitingTables.map { .init(table: $0.name, reason: $0.reason) },
            refused: report.refusal?.message, seconds: (seconds * 1000).rounded() / 1000)
        let shown = if let way { try way() } else { direction }
        try context.print(document, text: text(shown, report))
        return try remarks(report, context)
    }

    /// Keeps what was chosen with the remote.
    private func choose(_ synchronizer: Synchronizer, _ remote: String, _ context: CommandContext) throws {
        let options = self.remote.scope
        guard options.isGiven else { return }
        let scope = options.scope(after: try synchronizer.scope(ofRemote: remote))
        let missing = try synchronizer.setScope(scope, ofRemote: remote)
        if options.allRows, let rows = try synchronizer.scope(ofRemote: remote).rows.first {
            throw Failure(
                "rows of \(rows.table) were chosen for another remote",
                hints: [
                    "take that back there; see: syncctl status \(CommandWords.path(self.options.store))"
                ])
        }
        guard !missing.isEmpty else { return }
        context.note(
            "rows that refer to rows of \(missing.joined(separator: ", ")) stay hidden until these come: choose these tables too"
        )
    }

    private func exchange(
        _ direction: SyncDirection, _ synchronizer: Synchronizer, _ transport: some Transport,
        _ context: CommandContext
    ) throws -> SyncReport {
        let progress = ExchangeProgress(context)
        defer { progress.finish() }
        return try synchronizer.run(direction, transport, progress: progress.update)
    }

    private func text(_ direction: SyncDirection, _ report: SyncReport) -> String {
        ExchangeText(direction: direction, pulled: report.pulled, pushed: report.pushed)
            .parts.joined(separator: ", ")
    }

    private func remarks(_ report: SyncReport, _ context: CommandContext) throws -> ExitStatus {
        for replica in report.renewedReplicas {
            context.note(
                "replica \(replica.shortDescription) is new: its file is a copy of another one, or was restored from an older one"
            )
        }
        if let reason = report.unrecordedReason {
            context.note("the changes were exchanged, but the contact could not be noted: \(reason)")
        }
        if let refusal = report.refusal {
            context.note("what was changed here was not taken, and stays here to be sent: \(refusal.message)")
            context.note(
                "it goes when it was put back, or when this device may write that: syncctl device scope <store> <device>, there"
            )
        }
        if let replica = report.pulled?.skewedReplica {
            context.note(
                """
                a change of replica \(replica.shortDescription) is dated \(HumanFormat.span(report.skewMilliseconds)) ahead of \
                the clock here: it wins over edits that did not know it, and edits that do win over it; compare the clocks
                """)
        }
        for table in report.waitingTables {
            context.note(
                "table \(table.name) waits: \(table.reason); synchronize with a store that holds all of it, or let the remote do so first"
            )
        }
        _ = context.parkedRemark(report.pulled?.parkedCount ?? 0, options.store)
        _ = context.parkedRemark(
            report.pushed?.parkedCount ?? 0, remote.remote, isHere: !RemoteArgument(remote.given).isNetwork)
        let status = context.divergenceRemark(report.divergence, options.store, remote.remote)
        guard status == .success else { return status }
        let waits =
            report.parkedCount > 0 || !report.waitingTables.isEmpty || report.refusal != nil
        return waits || report.unrecordedReason != nil ? .attention : .success
    }
}
