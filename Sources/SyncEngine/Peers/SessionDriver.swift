import SyncWire

/// Carries out the actions of a ``SyncSession``.
struct SessionDriver {
    let local: any SyncPeer
    let remote: any SyncPeer
    let remoteName: String
    /// The tables that are exchanged, each by its names; nil for all.
    var tables: [[String]]?
    let progress: ((SyncProgress) throws -> Void)?
    /// What it looks at between its steps, and before each frame.
    var cancellation: SyncCancellation?

    func run(_ direction: SyncDirection) throws -> SyncReport {
        var session = SyncSession(direction, tables: tables)
        var action = session.start
        var greetings: (local: Greeting, remote: Greeting)?
        var pulled: SyncReport.Transfer?
        var pushed: SyncReport.Transfer?
        var renewed: [SyncSession.Side] = []
        var divergence: Divergence?
        var refusal: SyncError?
        while true {
            // After the last exchange, what is committed is reported.
            if action != .finish { try cancellation?.check() }
            switch action {
            case .greet:
                let met = (local: try local.greet(), remote: try remote.greet())
                greetings = met
                let forks = try local.meet(met.remote) + remote.meet(met.local)
                action = session.handle(.greeted(local: met.local, remote: met.remote, forks: forks))
            case .renew(let side, let forks):
                let isRenewed = try renew(side, forks, greetings)
                if isRenewed { renewed.append(side) }
                action = session.handle(isRenewed ? .renewed(side) : .stayed(side))
            case .pull(let vector):
                assert(direction != .push && session.rows != nil)
                var request = request(since: vector, greetings?.local)
                request.ask(session.rows, try local.rowRequests())
                pulled = try transfer(.pull, from: remote, to: local, request).report
                action = session.handle(.pulled)
            case .push(let vector):
                assert(direction != .pull && greetings != nil, "nobody knows what the remote knows")
                var request = request(since: vector, greetings?.remote)
                request.leftOut = session.rows?.remoteTables ?? []
                let push = try self.push(request, direction, greetings?.local)
                (pushed, refusal) = (push.transfer, push.refusal)
                action = refusal == nil ? session.handle(.pushed) : .finish
            case .compare:
                action = session.handle(
                    .compared(local: try local.state(.kept), remote: try remote.state(.kept)))
            case .repair(let differing):
                let repair = DivergenceRepair(
                    local: local, remote: remote, tables: differing, cancellation: cancellation)
                divergence = try repair.run(direction)
                action = session.handle(.repaired)
            case .refuse(let error):
                if !error.forks.isEmpty { try local.note(error.forks) }
                throw error
            case .finish:
                guard let greetings else { throw SyncError(.invalidBundle, "the remote did not greet") }
                var report = SyncReport(
                    local: greetings.local.replica, remote: greetings.remote.replica, pulled: pulled,
                    pushed: pushed)
                report.divergence = divergence
                report.refusal = refusal
                report.renewedReplicas = newReplicas(renewed, greetings)
                return try finish(report, session.rows, greetings)
            }
        }
    }

    /// Takes out rows that the remote has now, and has each side note what the other knows.
    private func finish(
        _ result: SyncReport, _ rows: RowExchange?, _ greetings: (local: Greeting, remote: Greeting)
    ) throws -> SyncReport {
        var report = result
        // Where rows were held back, the remote does not know all that was here.
        let isSent = report.pushed != nil && report.refusal == nil
        report.waitingTables = try takeOutRows(rows, greetings, pushed: isSent)
        do {
            try remember(
                greetings, pulled: report.pulled != nil, pushed: isSent,
                hasWaitingTables: !report.waitingTables.isEmpty)
        } catch {
            // The changes are committed on both sides: that must not read as a failure.
            report.unrecordedReason =
                error is CancellationError ? SyncCancellation.reason : "\(error)"
        }
        return report
    }

    /// Gives a side a new identity, unless what it said of itself was out of date.
    private func renew(
        _ side: SyncSession.Side, _ forks: [Fork], _ greetings: (local: Greeting, remote: Greeting)?
    ) throws -> Bool {
        guard let greetings else { throw SyncError(.invalidBundle, "the remote did not greet") }
        return switch side {
        case .local:
            try local.renewIdentity(forks, shownBy: greetings.remote, to: greetings.local.replica)
        case .remote:
            try remote.renewIdentity(forks, shownBy: greetings.local, to: greetings.remote.replica)
        }
    }

    private func request(since vector: VersionVector, _ greeting: Greeting?) -> TransferRequest {
        TransferRequest(base: vector, parts: greeting?.facts.parts ?? [], tables: tables)
    }

    /// The ids of the sides that got a new one, now or because their file turned out to be a copy.
    private func newReplicas(
        _ renewed: [SyncSession.Side], _ greetings: (local: Greeting, remote: Greeting)
    ) -> [ReplicaID] {
        let sides = [
            (peer: local, side: SyncSession.Side.local, replica: greetings.local.replica),
            (peer: remote, side: .remote, replica: greetings.remote.replica),
        ]
        return sides.filter { renewed.contains($0.side) || ($0.peer as? StorePeer)?.formerReplica != nil }
            .map(\.replica)
    }

    /// Moves a bundle from one side to the other.
    ///
    /// - parameter rowCount: The rows that went before it, for progress.
    func transfer(
        _ direction: SyncDirection, from source: any SyncPeer, to target: any SyncPeer,
        _ request: TransferRequest, after rowCount: Int64 = 0
    ) throws -> Passage {
        var request = request
        for _ in 0..<Self.askingCountMax {
            do {
                return try attempt(direction, from: source, to: target, request, after: rowCount)
            } catch let error as SyncError where error.code == .rowsMissing {
                // It may name more than it did before.
                let wanted = Set(request.wholeRows).union(error.rows)
                guard wanted.count > request.wholeRows.count else { throw error }
                request.wholeRows = Array(wanted)
            }
        }
        throw SyncError(.invalidBundle, "the receiver lacks other rows each time that it is asked")
    }

    /// How often a receiver may name rows that it lacks.
    private static let askingCountMax = 100

    private func attempt(
        _ direction: SyncDirection, from source: any SyncPeer, to target: any SyncPeer,
        _ request: TransferRequest, after rowCount: Int64
    ) throws -> Passage {
        let report = progress.map { progress in
            { (completed: Int64, total: Int64) in
                try progress(
                    SyncProgress(
                        direction: direction, completedRowCount: rowCount.addingSaturated(completed),
                        totalRowCount: rowCount.addingSaturated(total)))
            }
        }
        var sent = TransferSummary(rowCount: 0, byteCount: 0)
        func apply() throws -> ApplySummary {
            try source.prepareToSend(request, progress: report)
            return try target.receive { sink in
                // The sink is used only until `send` returns.
                try withoutActuallyEscaping(sink) { sink in
                    sent = try source.send(request, progress: report, to: cancellation.checking(sink))
                }
                // The last moment at which nothing of it stays.
                try cancellation?.check()
            }
        }
        let applied: ApplySummary
        do {
            applied = try apply()
        } catch is SourceStalled {
            // Nothing was applied. Now the source waits until it has everything.
            applied = try apply()
        }
        return Passage(direction: direction, sent: sent, applied: applied)
    }

    /// Takes out rows of tables that are held in part, and says which of these wait.
    private func takeOutRows(
        _ rows: RowExchange?, _ greetings: (local: Greeting, remote: Greeting), pushed: Bool
    ) throws -> [SyncReport.WaitingTable] {
        guard let rows, !rows.tables.isEmpty else { return [] }
        try local.takeOutRows(
            acknowledged: rows.tables.filter { $0.obstacle == nil }.map { table in
                var known = greetings.remote.known(of: table.names)
                if pushed, let partial = greetings.local.facts.partials.find(table.names) {
                    known.join(partial.own)
                }
                return (names: table.names, known: known)
            })
        return rows.tables.compactMap { table in
            table.obstacle.map { SyncReport.WaitingTable(name: table.names.first ?? "", reason: $0) }
        }
    }

    /// Each side notes what the other knows now.
    private func remember(
        _ greetings: (local: Greeting, remote: Greeting), pulled: Bool, pushed: Bool, hasWaitingTables: Bool
    ) throws {
        var remoteKnows = greetings.remote.vector
        var localKnows = greetings.local.vector
        // Of some tables only, nobody knows more of all tables.
        let isWhole =
            tables == nil && greetings.local.facts.partials.isEmpty && greetings.remote.facts.partials.isEmpty
        if pushed && isWhole { remoteKnows.join(greetings.local.vector) }
        if pulled && isWhole { localKnows.join(greetings.remote.vector) }
        try local.remember(greetings.remote.replica, name: remoteName, knowing: remoteKnows)
        try remote.remember(greetings.local.replica, name: "", knowing: localKnows)
        guard let peer = local as? StorePeer else { return }
        let own = greetings.local.replica
        guard let tables else {
            // Of tables that are held in part, all changes of this replica were sent that the remote is to have.
            guard pushed, !isWhole, !hasWaitingTables else { return }
            return try peer.noteAcknowledged(greetings.local.vector[own], by: greetings.remote.replica)
        }
        let known = tables.map { greetings.remote.known(of: $0)[own] }.min() ?? 0
        try peer.noteAcknowledged(
            pushed ? greetings.local.vector[own] : known, by: greetings.remote.replica)
    }
}

/// What went one way.
struct Passage {
    let direction: SyncDirection
    var sent: TransferSummary
    var applied: ApplySummary

    /// Adds what went after it.
    mutating func add(_ other: Passage) {
        assert(direction == other.direction)
        sent = TransferSummary(
            rowCount: sent.rowCount.addingSaturated(other.sent.rowCount),
            byteCount: sent.byteCount.addingSaturated(other.sent.byteCount))
        applied.add(other.applied)
    }

    var report: SyncReport.Transfer {
        // What comes may not have been counted when it began to. What goes may be there already.
        let rowCount = direction == .pull ? applied.rowCount : sent.rowCount
        return SyncReport.Transfer(rowCount: rowCount, byteCount: sent.byteCount, applied: applied)
    }
}
