import CipherStore
import Foundation
import SyncEngine

/// What the three commands do.
struct Exchange {
    let direction: SyncDirection
    let options: StoreOptions
    let remote: RemoteOptions
    let global: GlobalOptions
    var placeOptions: PlaceOptions?
    /// Whether tables that are missing here are made.
    var makesTables = false
    /// How often, and with whom; nil for one exchange with the remote that is named.
    let repetition: RunOptions?

    func run() throws {
        try CommandContext.run(global) { context in
            var context = context
            if let seconds = repetition?.wait { context.busySeconds = seconds }
            try StoreFileCheck.requireStore(options.store)
            let store = ExchangedStore(options, context)
            let remotes = try chosenRemotes(store)
            var prepared: [Int: PreparedExchange] = [:]
            let runAll = {
                try forEach(remotes, context) { index, remote in
                    let ready = try prepared[index] ?? prepare(remote, store)
                    prepared[index] = ready
                    return try run(ready, context)
                }
            }
            guard let pause = repetition?.every else { return try runAll() }
            return try Repetition(seconds: pause.seconds, context: context).run(runAll)
        }
    }

    /// Whether all remotes are meant, so that lines say which one they are of.
    private var isOfAll: Bool { repetition?.all ?? false }

    private func chosenRemotes(_ store: ExchangedStore) throws -> [ChosenRemote] {
        if let given = remote.given { return [try ChosenRemote(given: given, remote.bucket, store)] }
        return try store.synchronizer().knownRemotes(
            all: isOfAll, store: options.store, remote, takesAll: repetition != nil)
    }

    /// Does something with each remote. Of several, one that fails keeps nobody from the others.
    ///
    /// - returns: The first code that is no success.
    private func forEach(
        _ remotes: [ChosenRemote], _ context: CommandContext,
        _ body: (Int, ChosenRemote) throws -> ExitStatus
    ) throws -> ExitStatus {
        guard remotes.count > 1 || isOfAll else { return try body(0, remotes[0]) }
        var status = ExitStatus.success
        for (index, remote) in remotes.enumerated() {
            let own: ExitStatus
            do {
                own = try body(index, remote)
            } catch {
                let failure = Failure(explaining: error, store: options.store)
                if failure.status == .cancelled { throw failure }
                let isNamed = failure.message.hasPrefix("\(remote.name):")
                FailureReporter(terminal: context.terminal, isJSON: global.isJSON).report(
                    Failure(
                        isNamed ? failure.message : "\(remote.name): \(failure.message)",
                        hints: failure.hints, status: failure.status))
                own = failure.status
            }
            if status == .success || (status == .attention && own != .success) { status = own }
        }
        return status
    }

    private func run(_ ready: PreparedExchange, _ context: CommandContext) throws -> ExitStatus {
        if repetition?.dryRun == true {
            try PreviewOutput(
                store: options.store, remote: ready.name, direction: direction, preview: ready.preview()
            ).print(context)
            return .success
        }
        if makesTables { try ready.makeTables(context) }
        return try ready.run(repetition?.every == nil ? .once : .repeated, context)
    }

    // MARK: Preparation

    /// Reads the passphrases of a remote, and opens the store.
    func prepare(_ chosen: ChosenRemote, _ store: ExchangedStore) throws -> PreparedExchange {
        switch chosen.argument {
        case .folder, .bucket, .relay:
            guard let place = SharedPlace(chosen.argument) else {
                throw Failure.usage("\(chosen.name) names no folder, bucket or relay")
            }
            guard !remote.scope.isGiven else {
                throw Failure.usage(
                    "a \(place.noun) holds all tables and rows: what is chosen goes with another store")
            }
            return try FolderExchange(
                direction: direction, options: options, remote: remote, chosen: chosen, place: place,
                placeOptions: placeOptions, isLabelled: isOfAll
            ).prepare(store)
        case .file(let path): return try prepare(file: path, chosen, store)
        case .ssh, .server: return try prepare(network: chosen, store)
        }
    }

    private func prepare(
        file path: String, _ chosen: ChosenRemote, _ store: ExchangedStore
    ) throws -> PreparedExchange {
        let context = store.context
        try placeOptions?.refuse()
        try StoreFileCheck.requireReplica(path, of: options.store)
        let other = try context.secondSecret(
            remote, for: path, own: store.secret(), isOwnAsked: context.asks(options))
        let configuration = context.configuration(other)
        let transport = StoreTransport(path: path, configuration: configuration, name: chosen.name)
        var ready = try prepared(chosen, store, transport, context)
        ready.file = (path, configuration)
        return ready
    }

    private func prepare(network chosen: ChosenRemote, _ store: ExchangedStore) throws -> PreparedExchange {
        let context = store.context
        try placeOptions?.refuse()
        var request = RemoteRequest(
            store: options, isNamed: chosen.isNamed, command: remote.remoteCommand,
            hasPassphrase: remote.isPassphraseGiven && !isOfAll,
            compression: remote.compression.compression)
        let network = try NetworkSupport.required()
        // Only a store that had to be asked for its remotes is open by now.
        request.opened = store.opened
        let opened = try network.open(chosen.argument, request, context)
        return try prepared(chosen, store, opened.transport, context, synchronizer: opened.synchronizer) {
            // The server has said by now whether it takes changes.
            guard try direction == .both && opened.isReadOnly() else { return direction }
            context.note("\(opened.transport.name) takes no changes from this device: pulled only")
            return .pull
        }
    }

    private func prepared(
        _ chosen: ChosenRemote, _ store: ExchangedStore, _ transport: any Transport,
        _ context: CommandContext, synchronizer: Synchronizer? = nil,
        way: (() throws -> SyncDirection)? = nil
    ) throws -> PreparedExchange {
        let synchronizer = try synchronizer ?? store.synchronizer()
        return PreparedExchange(
            name: chosen.name, synchronizer: synchronizer, remembered: chosen.remembered
        ) { output in
            try chosen.namedIfRetired { try run(chosen, synchronizer, transport, output, context, way: way) }
        } preview: {
            try chosen.namedIfRetired { try synchronizer.preview(direction, with: transport) }
        } createTables: {
            try chosen.namedIfRetired { try synchronizer.makeTables(from: transport) }
        }
    }

    // MARK: An exchange

    private func run(
        _ chosen: ChosenRemote, _ synchronizer: Synchronizer, _ transport: any Transport,
        _ output: PreparedExchange.Output, _ context: CommandContext, way: (() throws -> SyncDirection)?
    ) throws -> ExitStatus {
        try choose(synchronizer, transport.name, context)
        let start = ContinuousClock.now
        let report = try exchange(direction, synchronizer, transport, context)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let scope = try synchronizer.scope(ofRemote: transport.name)
        let shown = if let way { try way() } else { direction }
        // Whoever asked for a pull only knows that nothing is sent.
        let unsent = shown == direction ? 0 : try synchronizer.pendingCount(ofRemote: transport.name)
        let document = Document(
            messageType: output.messageType, time: output.time, store: options.store, remote: chosen.name,
            pulled: report.pulled?.rowCount ?? 0,
            pushed: report.pushed?.rowCount ?? 0, conflicts: report.conflictCount,
            parked: report.parkedCount, divergence: report.divergence.map(DivergenceDocument.init),
            bytesPulled: report.pulled?.byteCount ?? 0, bytesPushed: report.pushed?.byteCount ?? 0,
            tables: scope.tableNames, rows: scope.rows.isEmpty ? nil : scope.rows.map(RowList.text),
            waiting: report.waitingTables.isEmpty
                ? nil : report.waitingTables.map { .init(table: $0.name, reason: $0.reason) },
            refused: report.refusal?.message, unsent: unsent == 0 ? nil : unsent,
            seconds: (seconds * 1000).rounded() / 1000)
        if try output.tells(report.pulled, report.pushed) {
            let label = isOfAll ? "\(PrintableText.escaped(chosen.name)): " : ""
            try context.print(document, text: output.line(label + text(shown, report)))
        }
        for column in try synchronizer.convertedColumns() {
            context.note(
                "table \(PrintableText.escaped(column.table)): \(PrintableText.escaped(column.text))")
        }
        if output.isOnce { try context.untrackedRemark(synchronizer, options.store) }
        if unsent > 0 { context.note(ExchangeText.unsent(unsent)) }
        let status = try remarks(report, chosen, context)
        return status == .success && unsent > 0 ? .attention : status
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
        _ direction: SyncDirection, _ synchronizer: Synchronizer, _ transport: any Transport,
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

    private func remarks(
        _ report: SyncReport, _ chosen: ChosenRemote, _ context: CommandContext
    ) throws -> ExitStatus {
        for replica in report.renewedReplicas {
            context.note(
                "replica \(replica.shortDescription) is new: its file is a copy of another one, or was restored from an older one"
            )
        }
        if let reason = report.unrecordedReason {
            context.note("the changes were exchanged, but the contact could not be noted: \(reason)")
        }
        if let refusal = report.refusal {
            context.note(ExchangeText.remark(refusal))
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
            report.pushed?.parkedCount ?? 0, chosen.name, isHere: !chosen.argument.isNetwork)
        let status = context.divergenceRemark(report.divergence, options.store, chosen.name)
        guard status == .success else { return status }
        let waits =
            report.parkedCount > 0 || !report.waitingTables.isEmpty || report.refusal != nil
        return waits || report.unrecordedReason != nil ? .attention : .success
    }
}
